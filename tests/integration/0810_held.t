#!/bin/sh
# Who held GPUs, how long jobs waited for them, and which were held back or held for nothing: small estates whose
# answers are worked out by hand, in tests/fixtures/held/README.md. Each goes through the whole program.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/estate.sh"
need gpu-audit python3
now=2027-02-01T00:00:00Z

# as_worked_out NAME FOLDER: ingested and audited, all of its expect is true, and the laws hold.
as_worked_out() {
    if gpu-audit --config "$2/audit.conf" --as-of "$now" --quarter 2026Q3 ingest >"$work/log" 2>&1 &&
        gpu-audit --config "$2/audit.conf" --as-of "$now" --quarter 2026Q3 figures --format json >"$work/figures.json" 2>>"$work/log" &&
        python3 "$top/tests/lib/definitions.py" "$work/figures.json" "$2/expect" gpu-audit sql >>"$work/log" 2>&1; then
        pass "$1"
    else
        fail "$1"
        diag "$(tail -n 20 "$work/log")"
    fi
}

fresh_home held
cp -R "$top/tests/fixtures/held" "$work/held"
chmod -R u+w "$work/held"
for folder in "$work/held"/*/; do
    folder=${folder%/}
    as_worked_out "${folder##*/}" "$folder"
done

done_testing
