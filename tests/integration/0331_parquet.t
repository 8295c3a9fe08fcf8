#!/bin/sh
# Parquet: the same bill as in CSV gives the same rows and money, whatever it is packed with; what is
# wrong with a file or the library is told, and costs no more than that. The library comes from npm
# (AUDIT_PARQUET_LIBRARY names one that is there), the files are made with it.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need_python ctypes
need pgrep sha256sum
library=${AUDIT_PARQUET_LIBRARY:-}
if [ -z "$library" ]; then
    need npm tar
    (cd "$work" && npm pack --silent @duckdb/node-bindings-linux-x64 && tar xzf duckdb-node-bindings-*.tgz) >"$work/npm.log" 2>&1 ||
        skip_all "npm does not get @duckdb/node-bindings-linux-x64: $(tail -n 1 "$work/npm.log")"
    library=$work/package/libduckdb.so
fi
ln -s "$library" "$work/mine.so" # by this name the readers of this test are known
library=$work/mine.so
pg_start

fixtures=$top/tests/fixtures/focus
ingest() {
    {
        printf '[audit]\nparquet-library = %s\n' "$library"
        printf '[billing %s]\nformat = focus\npath = %s\n' "${1##*/}" "$1"
    } >"$work/gpu-audit.conf"
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter "$2" ingest
}
of() {
    pg_query "with s as (select slice_id from audit.slice join audit.source using (source_id) where name = '$1'),
        c as (select * from audit.billing_charge join audit.billing_item using (slice_id, item_no) where slice_id in (select * from s)),
        t as (select * from audit.billing_total where slice_id in (select * from s)) $2"
}
make() {
    python3 "$top/tests/lib/parquet.py" "$library" "$@"
}

csv="read_csv('$fixtures/sample.csv', all_varchar = true, nullstr = 'NULL')"
typed="SELECT * REPLACE (CAST(BilledCost AS DECIMAL(38, 20)) AS BilledCost, CAST(EffectiveCost AS DOUBLE) AS EffectiveCost,
    CAST(BillingPeriodStart AS TIMESTAMP) AS BillingPeriodStart, CAST(ChargePeriodStart || '+00' AS TIMESTAMPTZ) AS ChargePeriodStart,
    CAST(ChargePeriodEnd AS TIMESTAMP_NS) AS ChargePeriodEnd, CAST(ConsumedQuantity AS DECIMAL(30, 15)) AS ConsumedQuantity,
    MAP {'team': 'a, \"b\"'} AS Tags) FROM $csv"
ok 'files are made' make "COPY (FROM $csv) TO '$work/snappy.parquet' (FORMAT parquet, COMPRESSION snappy)" \
    "COPY (FROM $csv) TO '$work/zstd.parquet' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048)" \
    "COPY ($typed) TO '$work/typed.parquet' (FORMAT parquet, COMPRESSION gzip)" \
    "COPY (FROM read_csv('$fixtures/kinds.csv', all_varchar = true)) TO '$work/kinds.parquet' (FORMAT parquet)" \
    "COPY (SELECT repeat('x', 300000000) AS BillingPeriodStart) TO '$work/wide.parquet' (FORMAT parquet)" \
    "COPY (SELECT *, repeat('x', 2000000) AS x_Unheard FROM $csv) TO '$work/unheard.parquet' (FORMAT parquet, COMPRESSION zstd)" \
    "COPY (SELECT s.* REPLACE (repeat('x', 8000) AS ChargeDescription) FROM (FROM $csv LIMIT 1) s, range(60000))
        TO '$work/grown.parquet' (FORMAT parquet, COMPRESSION zstd)" \
    "SET force_mbedtls_unsafe = 'true'" "PRAGMA add_parquet_key('key', '0123456789112345')" \
    "COPY (FROM $csv) TO '$work/secret.parquet' (FORMAT parquet, ENCRYPTION_CONFIG {footer_key: 'key'})"
# One has a column that no FOCUS file has, of 2 MB a row: it is not even read.
for file in snappy.parquet zstd.parquet typed.parquet unheard.parquet; do
    ok "$file loads" ingest "$work/$file" 2024Q3
    is "$file: GPU rows" "$(of $file "select instance_type, count(*), sum(quantity) + 0.000000, trim_scale(sum(billed_cost)) from c
        where role = 'gpu_use' group by 1 order by 1" | tr '\n' ' ')" \
        'g3.4xlarge|1|1.000000000000000|1.14 g5.4xlarge|2|1.296111000000000|2.104884264 '
    is "$file: kept + totalled is the bill" "$(of $file "select (select count(*) from c) + (select sum(row_count) from t),
        trim_scale((select sum(billed_cost) from c) + (select sum(billed_cost) from t)),
        trim_scale((select sum(effective_cost) from c) + (select sum(effective_cost) from t)),
        trim_scale((select sum(list_cost) from c) + (select sum(list_cost) from t))")" \
        '500|5.9883937432|2|6.1310727654'
    is "$file: its hash is that of the file" "$(pg_query "select sha256 from audit.load where object like '%/$file' limit 1")" \
        "$(sha256sum "$work/$file" | cut -d' ' -f1)"
done
is 'a map becomes tags' "$(of typed.parquet "select distinct tags from c")" '{"team": "a, \"b\""}'
is 'times are UTC' "$(of snappy.parquet "select min(charge_from), max(charge_to) from c")" \
    "$(of typed.parquet "select min(charge_from), max(charge_to) from c")"
ok 'a row of each kind loads' ingest "$work/kinds.parquet" 2026Q3
of kinds.parquet "select resource_name, role, provider, resource_key, instance_type, gpu_count, counts_gpus, unit_seconds,
    quantity, pricing, commitment_id, billed_cost, effective_cost, list_cost, tags from c order by line" >"$work/kinds.out"
same 'and is the same' "$work/kinds.out" "$fixtures/kinds.out"
is 'nothing is rejected' "$(pg_query "select coalesce(sum(rows_rejected), 0) from audit.load")" 0

# Files that are no good concern themselves alone.
head -c 60000 "$work/snappy.parquet" >"$work/cut.parquet"
exits 'a file that is cut short fails' 4 ingest "$work/cut.parquet" 2024Q3
like 'and says so' "$(cat "$work/err")" 'Parquet file ".*/cut.parquet" is damaged'
python3 -c 'import sys; data = bytearray(sys.stdin.buffer.read()); data[-200:-150] = b"\xff" * 50; sys.stdout.buffer.write(data)' \
    <"$work/snappy.parquet" >"$work/bad.parquet"
exits 'a footer of rubbish fails' 4 ingest "$work/bad.parquet" 2024Q3
exits 'a row of 300 MB fails' 4 ingest "$work/wide.parquet" 2024Q3
like 'for want of memory, or as no bill' "$(cat "$work/err")" 'wide.parquet'
exits 'a file that becomes 480 MB of CSV, 2000 times what it is and more, fails' 4 ingest "$work/grown.parquet" 2024Q3
like 'as no bill' "$(cat "$work/err")" 'Parquet file ".*/grown.parquet" grows to more than 2000 times its size'
exits 'an encrypted file fails' 4 ingest "$work/secret.parquet" 2024Q3
like 'and says so' "$(cat "$work/err")" 'Parquet file ".*/secret.parquet" is encrypted'
gzip -c "$work/snappy.parquet" >"$work/packed.parquet"
exits 'Parquet in gzip fails' 4 ingest "$work/packed.parquet" 2024Q3
like 'and says so' "$(cat "$work/err")" 'gzip file ".*/packed.parquet" is a Parquet file'
like 'and what to do' "$(cat "$work/err")" 'hint: Unpack it'
(cd "$work" && python3 -m zipfile -c packed.zip snappy.parquet)
exits 'Parquet in a zip file fails' 4 ingest "$work/packed.zip" 2024Q3
like 'and what to do is said' "$(cat "$work/err")" 'hint: Unpack the zip file'
cp "$work/snappy.parquet" "$work/named.csv"
(cd "$work" && python3 -m zipfile -c named.zip named.csv)
exits 'whatever it is called' 8 ingest "$work/named.zip" 2024Q3
like 'and says so' "$(cat "$work/err")" 'zip member ".*named.csv" is a Parquet file'
is 'no reader is left behind' "$(pgrep -f -c "read-parquet $library")" 0

# The library that is not there, and one that is another.
cp "$work/snappy.parquet" "$work/new.parquet"
library=$work/none.so
ok 'a file that is known needs no library' ingest "$work/snappy.parquet" 2024Q3
exits 'without the library a new one cannot be read' 3 ingest "$work/new.parquet" 2024Q3
like 'and it is said how to get it' "$(cat "$work/err")" 'hint: Install DuckDB.s libduckdb.so .* parquet-library in \[audit\]'
printf 'int nothing;\n' >"$work/other.c"
if command -v "${CC:-cc}" >/dev/null 2>&1; then
    "${CC:-cc}" -shared -o "$work/other.so" "$work/other.c"
    library=$work/other.so
    exits 'another library is not taken' 3 ingest "$work/new.parquet" 2024Q3
    like 'and is named' "$(cat "$work/err")" 'other.so has no duckdb_'
else
    skip 'another library is not taken' 'a C compiler'
fi
done_testing
