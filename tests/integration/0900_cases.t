#!/bin/sh
# The shared estates: every figure equals the truth, which never read a file of theirs.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/estate.sh"
need gpu-audit python3
need_cases estate-a
shared=${cases%/*}

for estate in estate-a estate-b estate-c; do
    estate_config "$shared/$estate" "$work/$estate.conf"
    fresh_home "$estate"
    ok "$estate is taken in" audit "$work/$estate.conf" 2026Q3 ingest
    figures_are_true "$estate" "$work/$estate.conf" 2026Q3 "$shared/$estate/truth.json"
    cp "$work/figures.json" "$work/$estate.json"
done
ok 'estate-c, the quarter before' audit "$work/estate-c.conf" 2026Q2 ingest
figures_are_true 'estate-c, the quarter before' "$work/estate-c.conf" 2026Q2 "$shared/estate-c/truth.json"
figures_are_true 'estate-c, the quarter after again' "$work/estate-c.conf" 2026Q3 "$shared/estate-c/truth.json"

# One database, the same names of sources, three folders.
fresh_home all
for estate in estate-a estate-b estate-c; do
    ok "$estate beside others" audit "$work/$estate.conf" 2026Q3 ingest
done
for estate in estate-c estate-a estate-b; do
    figures_are_true "$estate beside others" "$work/$estate.conf" 2026Q3 "$shared/$estate/truth.json"
    same_figures "$estate: nothing mixes" "$work/figures.json" "$work/$estate.json"
    is "$estate: the first revision" "$(figure revision)" 1
done

# Again is nothing new.
loads() {
    gpu-audit sql "SELECT count(*), max(load_id) FROM audit.load WHERE status = 'done'" --format csv
}
before=$(loads)
ok 'the same again' audit "$work/estate-b.conf" 2026Q3 ingest
is 'says so of every source' "$(grep -c 'unchanged' "$work/out")" "$(grep -c '^\[\(billing\|telemetry\|tracker\|inventory\|binding\)' "$work/estate-b.conf")"
is 'nothing is loaded' "$(loads)" "$before"
figures_are_true 'the same again' "$work/estate-b.conf" 2026Q3 "$shared/estate-b/truth.json"
is 'it is the same revision' "$(figure revision)" 1

done_testing
