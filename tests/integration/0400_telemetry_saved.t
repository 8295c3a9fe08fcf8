#!/bin/sh
# Saved answers of Prometheus: exact sums, slices, what is refused, and that nothing else is lost.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need python3
pg_start
cd "$work" || exit 99

audit() {
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter 2026Q3 "$@"
}
# config FOLDER
config() {
    printf '[audit]\ncurrency = USD\n[telemetry saved]\nformat = prometheus\npath = %s\nsample-interval = 60\n' "$1" >gpu-audit.conf
}
# rows SQL-LIST: of gpu_hour with its series and slice
rows() {
    pg_query "select $1 from audit.gpu_hour join audit.gpu_series using (slice_id, series_no) join audit.slice using (slice_id) $2"
}

# write FOLDER: two GPUs of July and August, one under two exporters, a MIG slice, a ratio
write() {
    mkdir -p "$1"
    python3 - "$1" <<'END'
import gzip, json, sys
folder = sys.argv[1]
JULY, HOUR = 1782864000, 3600

def answer(name, *series, pack=open, **more):
    result = [{"metric": labels, "values": [[t, v] for t, v in values]} for labels, values in series]
    text = json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}, **more})
    with pack(f"{folder}/{name}", "wt") as out:
        out.write(text)

a = {"UUID": "GPU-a", "gpu": "0", "Hostname": "n1", "modelName": "NVIDIA H100", "pod": "p", "namespace": "x"}
one, two = a | {"instance": "i1"}, a | {"instance": "i2"}
mig = {"UUID": "GPU-b", "gpu": "0", "Hostname": "n2", "GPU_I_ID": "1", "GPU_I_PROFILE": "3g.40gb"}
august = JULY + 31 * 86400
answer("sm_count-a.json", (one, [(JULY + HOUR, "10"), (august, "60"), (august + HOUR, "60")]), (two, [(JULY + HOUR, "50")]),
       (mig, [(JULY + HOUR, "60")]))
answer("util_avg-a.json.gz", (one, [(JULY + HOUR, "10"), (august, "12.483333333333333"), (august + HOUR, "99.5")]),
       (two, [(JULY + HOUR, "90.02")]), pack=gzip.open)
answer("sm_avg-a.json", (one, [(JULY + HOUR, "0.5")]), (mig, [(JULY + HOUR, "0.7493333333333333")]))
answer("util_max-a.json", (one, [(JULY + HOUR, "20")]), (two, [(JULY + HOUR, "95")]))
answer("power_avg-a.json", (mig, [(JULY + HOUR, "250.5")]))
answer("power_max-a.json", (mig, [(JULY + HOUR, "400")]))
END
}

write plain
config plain
ok 'saved answers' audit ingest
is 'products are taken per series, then added' \
    "$(rows "util_samples, util_sum, util_max_pct, sm_samples, sm_sum, samples" "where gpu_uuid = 'GPU-a' and period = '2026-07' and hour = '2026-07-01'")" \
    '60|4601000000|95|10|500000000|60'
is 'a value at T is the hour before T, also over the end of a month' \
    "$(rows "period, hour at time zone 'UTC', util_sum" "where gpu_uuid = 'GPU-a' and util_samples = 60 and sm_sum is null order by 2")" \
    '2026-07|2026-07-31 23:00:00|749000000
2026-08|2026-08-01 00:00:00|5970000000'
is 'a MIG slice has no util, and that is no zero' \
    "$(rows 'mig_id, mig_profile, util_samples is null, util_sum is null, sm_samples, sm_sum, power_mean_w' "where gpu_uuid = 'GPU-b'")" \
    '1|3g.40gb|t|t|60|4496000000|250.5'
is 'one identity under two exporters' "$(pg_query "select count(*) from audit.gpu_series join audit.slice using (slice_id) where period = '2026-07'")" 2
is 'loads add up' "$(pg_query "select bool_and(rows_read = rows_kept + rows_rejected), sum(rows_read), count(distinct sha256) from audit.load where slice_id in (select slice_id from audit.gpu_hour)")" 't|14|5'
is 'partitions of the slices' "$(pg_query "select count(*) from pg_inherits where inhparent = 'audit.gpu_hour'::regclass")" 2

before=$(pg_query "select max(load_id) from audit.load")
ok 'again' audit ingest
is 'nothing is loaded twice' "$(pg_query "select max(load_id) from audit.load")" "$before"

# One file of August changes: July stays as it is.
july=$(pg_query "select sum(util_sum) from audit.gpu_hour h join audit.slice using (slice_id) where period = '2026-07'")
python3 - <<'END'
import json
labels = {"UUID": "GPU-c", "Hostname": "n3"}
for name, value in (("util_count", "60"), ("util_avg", "50")):
    with open(f"plain/{name}-aug.json", "w") as out:
        json.dump({"data": {"result": [{"metric": labels, "values": [[1785549600 + 3600, value]]}], "resultType": "matrix"},
                   "status": "success", "infos": ["x"]}, out, indent=2)
END
ok 'a new file' audit ingest
is 'is in' "$(rows 'sum(util_sum)' "where gpu_uuid = 'GPU-c'")" 3000000000
is 'what was loaded before is replaced' "$(pg_query "select period, count(*) filter (where status = 'done'), count(*) filter (where status = 'replaced') from audit.load join audit.slice using (slice_id) where period <> 'all' group by 1 order by 1")" \
    '2026-07|5|0
2026-08|4|2'
is 'July is untouched' "$(pg_query "select sum(util_sum) from audit.gpu_hour h join audit.slice using (slice_id) where period = '2026-07'")" "$july"

# Rejected values: the rest stands.
mkdir bad
cat >bad/util_count.json <<'END'
{"status":"success","data":{"resultType":"matrix","result":[
 {"metric":{"UUID":"GPU-a"},"values":[[1782867600,"60"],[1782871200,"60"],[1782874800,"60"],[1782878400,"60"]]},
 {"metric":{"gpu":"7"},"values":[[1782867600,"60"]]}]}}
END
cat >bad/util_avg.json <<'END'
{"status":"success","data":{"resultType":"matrix","result":[
 {"metric":{"UUID":"GPU-a"},"values":[[1782867600,"50"],[1782871200,"NaN"],[1782874800,"2147483632"],[1782878400,"100.2"],[1782882000,"3"],[1782882001,"3"]]}]}}
END
config bad
ok 'values that cannot be' audit ingest
is 'are kept out, counted and shown' "$(pg_query "select object, rows_read, rows_kept, rows_rejected from audit.load join audit.slice using (slice_id) join audit.source using (source_id) where location like '%/bad' order by 1")" \
    'util_avg.json|6|2|4
util_count.json|5|4|1'
is 'with reason and record' "$(pg_query "select line, reason, record from audit.reject where reason like '%range%' order by record limit 1")" \
    '0|util: not a number, or outside the physical range|2026-07-01T02:00:00Z nan {UUID="GPU-a"}'
is 'an hour without a usable value still tells presence' "$(rows 'count(*), count(util_sum), sum(samples)' "join audit.source using (source_id) where location like '%/bad'")" '4|2|240'

# A file cut short, an error, a page: named, with the byte; the slice stays as it was.
for broken in cut error page; do
    write "$broken"
    config "$broken"
    ok "before $broken" audit ingest
    want=$(rows 'count(*), sum(util_sum)' "join audit.source using (source_id) where location like '%/$broken'")
    case $broken in
    cut) head -c 300 plain/sm_count-a.json >cut/sm_count-a.json; message='sm_count-a.json: byte 300: ends too early' ;;
    error) printf '{"status":"error","errorType":"timeout","error":"query timed out"}' >error/sm_avg-a.json; message='sm_avg-a.json: the server answered with an error' ;;
    page) printf '<html>' >page/util_max-a.json; message="util_max-a.json: byte 0: expected '\{'" ;;
    esac
    audit ingest >out 2>err </dev/null
    is "$broken: not done" "$([ $? -ne 0 ] && echo yes)" yes
    like "$broken: which file and where" "$(cat err)" "$message"
    is "$broken: the slice stays" "$(rows 'count(*), sum(util_sum)' "join audit.source using (source_id) where location like '%/$broken'")" "$want"
    is "$broken: noted" "$(pg_query "select count(*) from audit.load join audit.slice using (slice_id) join audit.source using (source_id) where location like '%/$broken' and status = 'failed'")" 1
done

# Percent where a ratio is usual: told by the day's highest value.
mkdir scale
cat >scale/sm_count.json <<'END'
{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"UUID":"GPU-a"},"values":[[1782867600,"10"],[1782954000,"10"]]},
 {"metric":{"UUID":"GPU-b"},"values":[[1782867600,"10"],[1782954000,"10"]]}]}}
END
cat >scale/sm_max.json <<'END'
{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"UUID":"GPU-a"},"values":[[1782867600,"1.2"],[1782954000,"0.9"]]},
 {"metric":{"UUID":"GPU-b"},"values":[[1782867600,"80"],[1782954000,"1.04"]]}]}}
END
sed 's/1\.04/1.01/' scale/sm_max.json >scale/sm_avg.json
config scale
ok 'percent and ratio' audit ingest
is 'a day of percents, a day of ratios' "$(rows "gpu_uuid, hour::date, sm_sum" "join audit.source using (source_id) where location like '%/scale' order by 2, 1")" \
    'GPU-a|2026-07-01|12000000
GPU-b|2026-07-01|800000000
GPU-a|2026-07-02|900000000
GPU-b|2026-07-02|1010000000'

# Every estate of the shared cases: sums as its raw integers say, taken by another program.
need_cases estate-b
config "$cases/prom_json"
ok 'estate-b' audit ingest
python3 - "$cases/prom_json" >want <<'END'
import glob, json, sys
from fractions import Fraction

def read(query):
    for name in sorted(glob.glob(f"{sys.argv[1]}/{query}-*.json")):
        for series in json.load(open(name))["data"]["result"]:
            key = tuple(sorted(series["metric"].items()))
            for t, v in series["values"]:
                yield (key, t), v

count = {key: int(v) for key, v in read("sm_count")}
for query, scale in (("util_avg", 10 ** 6), ("sm_avg", 10 ** 8)):
    total = sum(round(Fraction(float(v)) * count[key] * scale) for key, v in read(query))
    print(total)
print(sum(count.values()), len(count))
END
pg_query "select sum(util_sum) from audit.gpu_hour h join audit.slice using (slice_id) join audit.source using (source_id) where location like '%estate-b/prom_json'
union all select sum(sm_sum) from audit.gpu_hour h join audit.slice using (slice_id) join audit.source using (source_id) where location like '%estate-b/prom_json'" >got
pg_query "select sum(samples) || ' ' || count(*) from audit.gpu_hour h join audit.slice using (slice_id) join audit.source using (source_id) where location like '%estate-b/prom_json'" >>got
same 'estate-b: exact sums' got want

done_testing
