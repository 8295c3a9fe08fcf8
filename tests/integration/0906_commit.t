#!/bin/sh
# The commitment that the rule recommends costs least of every level there is, tried one by one.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/estate.sh"
need gpu-audit python3
fresh_home one

# The discount that the configuration's cost model assumes for everything.
assume() {
    printf 'metric,scope,value\ncommitment_discount_pct,all,%s\n' "$2" >"$1"
}
# best_of_all NAME CONFIG DISCOUNT LEAST: and at least so many recommendations.
best_of_all() {
    audit "$2" 2026Q3 figures --format json >"$work/figures.json" 2>"$work/err" || diag "$(cat "$work/err")"
    number=$(gpu-audit sql 'SELECT max(audit_id) FROM audit.audit' --format csv | tail -1)
    gpu-audit sql "SELECT provider, pool, hour, demand, cost FROM audit.commitment_demand WHERE audit_id = $number" \
        --format csv >"$work/demand.csv"
    gpu-audit sql "SELECT pool, proposed, saving FROM audit.recommendation WHERE audit_id = $number AND rule = 'commit'" \
        --format csv >"$work/recommended.csv"
    if python3 "$top/tests/cases/commitment.py" "$work/demand.csv" "$work/recommended.csv" "$3" >"$work/out" &&
        [ "$(wc -l <"$work/recommended.csv")" -gt "$4" ]; then
        pass "$1 at $3 %: $(cat "$work/out")"
    else
        fail "$1 at $3 %"
        diag "$(cat "$work/out" "$work/recommended.csv")"
    fi
    is "$1 at $3 %: demand is what is billed on demand, without what the rule before ends" "$(gpu-audit sql "
        SELECT (SELECT sum(demand) FROM audit.commitment_demand WHERE audit_id = $number) =
               (SELECT sum(h.running_gpu_hours) FROM audit.audit_hour h JOIN audit.audit_subject s USING (audit_id, subject_no)
                WHERE h.audit_id = $number AND s.pricing = 'on-demand') -
               (SELECT coalesce(sum(gpu_hours), 0) FROM audit.audit_idle_stretch
                WHERE audit_id = $number AND pricing = 'on-demand')" --format csv | tail -1)" t
}

ok 'the bundled quarter' audit "$bundled/gpu-audit.conf" 2026Q3 ingest
best_of_all 'the bundled quarter' "$bundled/gpu-audit.conf" 35 3

bundled_piece "$work/piece"
for discount in 12.5 64; do
    assume "$work/piece/cost-model.csv" "$discount"
    ok 'a piece of it' audit "$work/piece/gpu-audit.conf" 2026Q3 ingest
    best_of_all 'a piece of it' "$work/piece/gpu-audit.conf" "$discount" 1
done

need_shared=${AUDIT_SHARED:-$top/../shared}/cases/estate-a
if [ -e "$need_shared" ]; then
    estate_config "$need_shared" "$work/a.conf"
    printf '\n[model plan]\npath = a.csv\n' >>"$work/a.conf"
    for discount in 28 50; do
        assume "$work/a.csv" "$discount"
        ok 'estate-a' audit "$work/a.conf" 2026Q3 ingest
        best_of_all 'estate-a' "$work/a.conf" "$discount" 1
    done
else
    pass 'estate-a # SKIP no shared cases beside the source tree'
fi
done_testing
