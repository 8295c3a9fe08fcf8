#!/bin/sh
# Who held GPUs, how long jobs waited for them, and which were held back or held for nothing: small estates whose
# answers are worked out by hand, in tests/fixtures/held/README.md. Each goes through the whole program.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/estate.sh"
need gpu-audit python3 psql unzip
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


# The sheet about queues is there where a scheduler is, and the funnel has steps of its own where it knows all.
sheets_of() {
    (cd "$1" && gpu-audit --config "$1/audit.conf" --as-of "$now" --quarter 2026Q3 report) >"$work/log" 2>&1
    python3 -c 'import re, sys, zipfile
print(" ".join(re.findall(r"<sheet name=\"(Queue|Idle stretches)\"", zipfile.ZipFile(sys.argv[1]).read("xl/workbook.xml").decode())))' "$1/out/gpu-audit-2026Q3.xlsx"
}
is 'with a scheduler there is a sheet Queue' "$(sheets_of "$work/held/01-ledger")" 'Queue Idle stretches'
is 'without one there is none' "$(sheets_of "$work/held/03-efficiency")" 'Idle stretches'

sed -i 's/^covers = .*/covers = */' "$work/held/02-covers/audit.conf"
sheets_of "$work/held/02-covers" >"$work/log"
is 'where all is known, the funnel has steps of what was held' "$(unzip -p "$work/held/02-covers/out/gpu-audit-2026Q3.xlsx" xl/sharedStrings.xml |
    grep -o '<t>[a-z]* and allocated</t>' | tr '\n' ' ')" '<t>covered and allocated</t> <t>busy and allocated</t> '
is 'where not, none' "$(unzip -p "$work/held/01-ledger/out/gpu-audit-2026Q3.xlsx" xl/sharedStrings.xml | grep -c '<t>[a-z]* and allocated</t>')" 0

# held QUERY: of the newest audit
held() {
    gpu-audit --format csv sql "$1" 2>&1 | tail -n +2 | tr '\n' ';'
}

# again FOLDER THRESHOLD: the same inputs, and a setting that makes another audit of them
again() {
    sed -i "/^idle-threshold/d; s/^currency = USD/&\nidle-threshold = $2/" "$1/audit.conf"
    gpu-audit --config "$1/audit.conf" --as-of "$now" --quarter 2026Q3 analyze >"$work/log" 2>&1
}

newest='audit_id = (SELECT max(audit_id) FROM audit.audit)'
socket=$(find "$XDG_DATA_HOME" -name '.s.PGSQL.*' ! -name '*.lock')
change() {
    psql -XAtq -h "${socket%/*}" -U gpu_audit -d gpu_audit -c "$1" >>"$work/log" 2>&1
}

# A month that is not whole says nothing of what was not held.
change "UPDATE audit.load SET is_complete = false WHERE slice_id IN (SELECT slice_id FROM audit.slice JOIN audit.source USING (source_id) WHERE location LIKE '%02-covers%' AND kind = 'scheduler')"
ok 'a month that is not whole' again "$work/held/02-covers" 5.0
is 'leaves allocation unknown' "$(held "SELECT allocated_gpu_hours, allocation_known_gpu_hours, idle_unallocated_gpu_hours FROM audit.audit_figure WHERE $newest AND dimension = 'total'")" ',,;'

# A GPU that the scheduler names: job 2 has one of the idle ones of n1 in h2 and half of h3, and no busy one.
ok 'job 2 holds a GPU by its name' change "UPDATE audit.allocation SET gpus = 1, gpu_uuid = 'GPU-n1-3' WHERE job_id = '2' AND host = 'n1'"
ok 'analyzed again' again "$work/held/01-ledger" 5.0
is 'the idle one is held, the busy one is not' \
    "$(held "SELECT busy_allocated_gpu_hours, idle_allocated_gpu_hours, idle_unallocated_gpu_hours FROM audit.audit_figure WHERE $newest AND dimension = 'pool' AND key = 'train'")" \
    '10,7.5,12.5;'

# Four pods on that GPU, each with a quarter or each with all of it: one GPU.
for part in 0.25 1; do
    change "DELETE FROM audit.allocation WHERE job_key LIKE 'pod%'"
    change "UPDATE audit.allocation SET gpus = $part WHERE job_id = '2' AND host = 'n1'"
    change "INSERT INTO audit.allocation (slice_id, job_id, job_key, host, gpu_uuid, from_time, to_time, job_from, gpus, gpu_source, placement, confidence,
                                          is_job_start, account, user_name)
            SELECT slice_id, 'pod' || n, 'pod' || n, host, gpu_uuid, from_time, to_time, job_from, $part, gpu_source, placement, confidence, false, 'cv', 'pod' || n
            FROM audit.allocation, generate_series(1, 3) n WHERE job_id = '2' AND host = 'n1'"
    ok "four pods with $part of a GPU each" again "$work/held/01-ledger" "5.00${#part}"
    is 'hold one GPU' "$(held "SELECT idle_allocated_gpu_hours, allocated_gpu_hours FROM audit.audit_figure WHERE $newest AND dimension = 'pool' AND key = 'train'")" '7.5,18;'
    is 'a quarter each' "$(held "SELECT gpu_hours FROM audit.held_by WHERE $newest AND user_name = 'pod3'")" '0.375;'
done

done_testing
