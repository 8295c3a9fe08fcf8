#!/bin/sh
# The bundled quarter, from bills to workbook and page.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/estate.sh"
need gpu-audit python3
fresh_home one
conf=$bundled/gpu-audit.conf
mkdir "$work/report"

run() {
    gpu-audit --config "$conf" --out "$work/report" run --no-mail
}
ok 'the whole run' run
like 'the summary tells times' "$(cat "$work/out" "$work/err")" 'analyze 2026Q3 +[0-9.]+ s'
is 'workbook and page, nothing else' "$(ls "$work/report")" 'gpu-audit-2026Q3.html
gpu-audit-2026Q3.xlsx'
ok 'the workbook is a zip archive that is whole' python3 -m zipfile -t "$work/report/gpu-audit-2026Q3.xlsx"
like 'the page holds the cost' "$(tr -d ',' <"$work/report/gpu-audit-2026Q3.html")" '962 ?973|962974|0\.96 ?M|963'
figures_are_true 'the bundled quarter' "$conf" 2026Q3 "$bundled/truth.json"
cp "$work/figures.json" "$work/once.json"

is 'five clouds and the cellar' "$(figure by_provider | tr "{,'" '\n' | grep -cE '^ ?(aws|azure|gcp|lambda|coreweave|on-prem)$')" 6
is 'verdicts of all three kinds' "$(python3 -c '
import json, sys
print(sorted({a["verdict"] for a in json.load(open(sys.argv[1]))["assumptions"]}))' "$work/figures.json")" \
    "['deviates', 'holds', 'not enough evidence']"
is 'every rule recommends, no saving above what it acts on' "$(python3 -c '
import json, sys
found = json.load(open(sys.argv[1]))["recommendations"]
print(sorted({r["rule"] for r in found}),
      [r["title"] for r in found if not 0 <= float(r["saving_low"]) <= float(r["saving"]) <= float(r["cost_acted_on"])
       and r["rule"] == "end-idle"])' "$work/figures.json")" "['commit', 'end-idle'] []"
is 'the table prints it too' "$(gpu-audit --config "$conf" figures | grep -c 'deviates')" "$(grep -o '"deviates"' "$work/figures.json" | wc -l)"

status_of() {
    gpu-audit --config "$conf" figures --format csv --fail-on "$1" >/dev/null 2>&1
    echo $?
}
is 'a finding that was asked about' "$(status_of deviates)" 1
is 'one there is none of' "$(status_of rejected-records)" 0
is 'one nobody knows' "$(status_of nonsense)" 2

ok 'once more' run
unlike 'nothing is analyzed again' "$(cat "$work/out" "$work/err")" 'analyze 2026Q3 .*revision'
figures_are_true 'once more' "$conf" 2026Q3 "$bundled/truth.json"
same 'the very same figures and revision' "$work/figures.json" "$work/once.json"

# Another assumption is another audit of the same facts.
cp -R "$bundled" "$work/own"
chmod -R u+w "$work/own"
sed 's/^util_pct,all,80,/util_pct,all,54,/' "$bundled/cost-model.csv" >"$work/own/cost-model.csv"
fresh_home two
ok 'another expectation' gpu-audit --config "$work/own/gpu-audit.conf" --out "$work/report" run --no-mail
figures_are_true 'another expectation' "$work/own/gpu-audit.conf" 2026Q3 "$bundled/truth.json"
is 'holds' "$(figure assumptions 0 verdict)" holds
cp "$bundled/cost-model.csv" "$work/own/"
ok 'the first expectation' gpu-audit --config "$work/own/gpu-audit.conf" --out "$work/report" run --no-mail
figures_are_true 'the first expectation' "$work/own/gpu-audit.conf" 2026Q3 "$bundled/truth.json"
is 'deviates' "$(figure assumptions 0 verdict)" deviates
is 'in a second revision' "$(figure revision)" 2

done_testing
