#!/bin/sh
# Killed at random moments of a run, then run again: the same figures each time. AUDIT_KILLS=50 is
# the full measure; a few will do for every day. Interrupted, it ends within a second.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/estate.sh"
need gpu-audit python3
kills=${AUDIT_KILLS:-8}

bundled_piece "$work/piece"
conf=$work/piece/gpu-audit.conf
mkdir "$work/report"
run() {
    gpu-audit --config "$conf" --out "$work/report" run --no-mail
}
# A database that does not run between commands: killing the program ends it too.
XDG_DATA_HOME=$work/home
export XDG_DATA_HOME
mkdir -m 711 "$XDG_DATA_HOME"
at_exit 'gpu-audit db stop'

began=$(date +%s%3N)
ok 'a run that nothing disturbs' run
millis=$(($(date +%s%3N) - began))
audit "$conf" 2026Q3 figures --format json >"$work/wanted.json" 2>"$work/err" || diag "$(cat "$work/err")"

cat >"$work/stop.py" <<'END'
"""stop.py SIGNAL SECONDS PROGRAM...: runs it, sends the signal then; prints status and milliseconds until its end."""
import subprocess, sys, time
child = subprocess.Popen(sys.argv[3:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    print("early", child.wait(float(sys.argv[2])))
except subprocess.TimeoutExpired:
    child.send_signal(int(sys.argv[1]))
    sent = time.monotonic()
    print(child.wait(), round(1000 * (time.monotonic() - sent)))
END
# stopped SIGNAL: at a random moment. Sets $moment and $how it ended.
stopped() {
    moment=$(python3 -c 'import random, sys; print(round(random.uniform(0.02, 1.1) * int(sys.argv[1]) / 1000, 3))' "$millis")
    how=$(python3 "$work/stop.py" "$1" "$moment" gpu-audit --config "$conf" --out "$work/report" run --no-mail)
}
# run_again NAME: what it leaves behind is mended.
run_again() {
    if run >"$work/out" 2>"$work/err" && audit "$conf" 2026Q3 figures --format json >"$work/figures.json" 2>>"$work/err"; then
        same_figures "$1" "$work/figures.json" "$work/wanted.json"
    else
        fail "$1"
        diag "$(cat "$work/err")"
    fi
}

number=0
while [ $((number += 1)) -le "$kills" ]; do
    gpu-audit db destroy >"$work/err" 2>&1
    stopped 9
    run_again "killed after $moment s of $millis ms ($how), run again: the same figures"
done

number=0
while [ $((number += 1)) -le 3 ]; do
    gpu-audit db destroy >"$work/err" 2>&1
    gpu-audit status >"$work/out" 2>&1 # a new database that is there already
    stopped 2
    case $how in
    early*) ;;
    *)
        is "interrupted after $moment s: status 130" "${how% *}" 130
        [ "${how#* }" -le 1000 ] && pass "within a second" || fail "within a second, but it took ${how#* } ms"
        ;;
    esac
    run_again 'run again: the same figures'
done

done_testing
