#!/bin/sh
# What the figures mean: small estates whose answers are worked out by hand, in
# tests/fixtures/definitions/README.md. Each goes through the whole program.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/estate.sh"
need gpu-audit python3
fixtures=$top/tests/fixtures/definitions
now=2027-02-01T00:00:00Z

# as_defined NAME CONFIG EXPECT WINDOW...: ingested and audited over that window, all of EXPECT is true.
as_defined() {
    defined_name=$1
    defined_conf=$2
    defined_expect=$3
    shift 3
    if gpu-audit --config "$defined_conf" --as-of "$now" "$@" ingest >"$work/log" 2>&1 &&
        gpu-audit --config "$defined_conf" --as-of "$now" "$@" figures --format json >"$work/figures.json" 2>>"$work/log" &&
        python3 "$top/tests/lib/definitions.py" "$work/figures.json" "$defined_expect" gpu-audit sql >>"$work/log" 2>&1; then
        pass "$defined_name"
    else
        fail "$defined_name"
        diag "$(tail -n 20 "$work/log")"
    fi
}

# window_of EXPECT: its options, from the name: expect, expect-2026Q2, expect-days-10-until-2026-07-12
window_of() {
    case ${1##*/} in
    expect) echo --quarter 2026Q3 ;;
    expect-days-*) echo "${1##*/}" | sed 's/expect-days-\([0-9]*\)-until-/--days \1 --until /' ;;
    *) echo --quarter "${1##*/expect-}" ;;
    esac
}

fresh_home definitions
for expect in "$fixtures"/*/expect*; do
    folder=${expect%/*}
    window=$(window_of "$expect")
    # shellcheck disable=SC2086
    as_defined "${folder##*/}, $window" "$folder/audit.conf" "$expect" $window
done

# The same files elsewhere, to change them.
cp -R "$fixtures/15-windows" "$work/windows"
chmod -R u+w "$work/windows"
conf=$work/windows/audit.conf
expect=$work/windows/expect

# A fiscal year that begins in February has the name of the year it ends in: 2027Q2 is May to July.
sed -i 's/^currency = USD/&\nfiscal-year-start = 2/' "$conf"
printf '%s\n' 'quarter = "2027Q2"' 'from = "2026-05-01T00:00:00Z"' 'to = "2026-08-01T00:00:00Z"' 'total/running_gpu_hours = 50' >"$expect"
as_defined 'a fiscal quarter' "$conf" "$expect" --quarter 2027Q2
sed -i '/^fiscal-year-start/d' "$conf"

# Two bills that name the same machine: hours and money add up, the GPU is one.
sed 's/^\[tags\]/[billing second]\nformat = focus\npath = second\n\n&/' "$conf" >"$work/windows/two.conf"
printf '%s\n' 'revision = 1' 'total/running_gpu_hours = 52' 'total/effective_cost = 110' 'total/gpus = 3' 'total/instances = 3' \
    'total/peak_running_gpus = 2' \
    "sql SELECT items FROM audit.audit_quality WHERE audit_id = \$AUDIT AND check_name = 'in two bills' = 1" >"$expect"
as_defined 'two bills, one machine in both' "$work/windows/two.conf" "$expect" --quarter 2026Q3

# Taken out of the configuration, the second bill is in no figure.
printf '%s\n' 'revision = 1' 'total/running_gpu_hours = 50' 'total/gpus = 2' 'total/instances = 2' >"$expect"
as_defined 'one of two bills taken out' "$conf" "$expect" --quarter 2026Q3

# Delivered again with fewer rows: the slice is replaced whole, and the audit restated.
grep -v 'i-cpu\|T2[0-9]:00:00Z.*i-1,' "$work/windows/bill/bill.csv" >"$work/short.csv"
removed=$(($(wc -l <"$work/windows/bill/bill.csv") - $(wc -l <"$work/short.csv") - 1))
cp "$work/short.csv" "$work/windows/bill/bill.csv"
printf '%s\n' 'revision = 2' "total/running_gpu_hours = $((50 - removed))" "total/effective_cost = $((108 - removed))" \
    'total/unused_commitment_cost = 20' "invoices/aws/2026-07/billed_cost = $((48 - removed))" >"$expect"
as_defined 'a smaller delivery restates' "$conf" "$expect" --quarter 2026Q3
is 'the revision before keeps its figures' "$(gpu-audit sql "
    SELECT string_agg(f.running_gpu_hours::text, ' ' ORDER BY a.revision) FROM audit.audit a
    JOIN audit.audit_figure f ON f.audit_id = a.audit_id AND f.dimension = 'total'
    WHERE a.estate = (SELECT estate FROM audit.audit ORDER BY audit_id DESC LIMIT 1) AND a.quarter = '2026Q3'" --format csv | tail -n 1)" "50 $((50 - removed))"

# Telemetry alone is no audit: capacity comes from bills and inventory.
mkdir "$work/bare"
cp -R "$fixtures/16-two-intervals/telemetry" "$work/bare/telemetry"
printf '[telemetry saved]\nformat = prometheus\npath = telemetry\n' >"$work/bare/audit.conf"
ok 'telemetry without a bill is taken in' gpu-audit --config "$work/bare/audit.conf" --as-of "$now" --quarter 2026Q3 ingest
exits 'telemetry without a bill is not audited' 4 gpu-audit --config "$work/bare/audit.conf" --as-of "$now" --quarter 2026Q3 figures
like 'and it says why' "$(cat "$work/err")" 'no bill and no inventory'

done_testing
