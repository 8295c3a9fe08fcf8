# Estates with a known truth: after tap.sh,
#
#     . "${0%/*}/../lib/estate.sh"
#     fresh_home one
#     estate_config "$cases" "$work/one.conf"
#     audit "$work/one.conf" 2026Q3 ingest
#     figures_are_true 'estate one' "$work/one.conf" 2026Q3 "$cases/truth.json"

bundled=$top/examples/quarter

# fresh_home NAME: a private PostgreSQL of its own, left running until the test ends.
fresh_home() {
    XDG_DATA_HOME=$work/home-$1
    export XDG_DATA_HOME
    mkdir -p "$XDG_DATA_HOME"
    chmod 711 "$XDG_DATA_HOME"
    at_exit "XDG_DATA_HOME='$XDG_DATA_HOME' gpu-audit db stop"
    gpu-audit db start >"$work/db.log" 2>&1 || {
        diag "$(cat "$work/db.log")"
        printf 'Bail out! no private PostgreSQL\n'
        exit 99
    }
}

# estate_config DIR FILE: what the estate in DIR needs as configuration.
estate_config() {
    sed "s|@DIR@|$1|" "$top/tests/cases/estate.conf" >"$2"
}

# audit CONFIG QUARTER COMMAND...
audit() {
    estate_conf=$1
    estate_quarter=$2
    shift 2
    gpu-audit --config "$estate_conf" --quarter "$estate_quarter" "$@"
}

# figures_are_true NAME CONFIG QUARTER TRUTH: what it prints is kept in $work/figures.json.
figures_are_true() {
    if ! audit "$2" "$3" figures --format json >"$work/figures.json" 2>"$work/err"; then
        fail "$1: every figure is true"
        diag "$(cat "$work/err")"
    elif python3 "$top/tests/cases/compare.py" "$work/figures.json" "$4" "$3" >"$work/compared" &&
        [ "$(sed -n 's/ figures compared.*//p' "$work/compared")" -gt 100 ]; then
        pass "$1: every figure is true ($(cat "$work/compared"))"
    else
        fail "$1: every figure is true"
        diag "$(cat "$work/compared")"
    fi
}

# figure PATH...: of the figures printed last, such as: figure total gpus
figure() {
    python3 -c '
import json, sys
at = json.load(open(sys.argv[1]))
for key in sys.argv[2:]:
    at = at[int(key) if isinstance(at, list) else key]
print(at)' "$work/figures.json" "$@"
}

# same_figures NAME FILE WANTED: but for what tells one database from another.
same_figures() {
    python3 -c '
import json, sys
for name in sys.argv[1:]:
    whole = json.load(open(name))
    whole.pop("revision")
    json.dump(whole, open(name + ".plain", "w"), indent=1, sort_keys=True)' "$2" "$3"
    same "$1" "$2.plain" "$3.plain"
}

# need_kit: sets $kit, the folder of the programs that make estates and know their truth.
need_kit() {
    need_cases estate-a
    kit=${cases%/cases/estate-a}/kit
    /usr/bin/python3 -c 'import numpy' 2>/dev/null || skip_all 'Python module numpy is not installed'
    PYTHONDONTWRITEBYTECODE=1
    export PYTHONDONTWRITEBYTECODE
}

# make_estate DIR ARGUMENT...: a new one with its truth.
make_estate() {
    estate_dir=$1
    shift
    "$kit/fleetgen.py" --out "$estate_dir" "$@" >"$work/fleetgen.log" 2>&1 && "$kit/oracle.py" "$estate_dir" >>"$work/fleetgen.log" 2>&1 || {
        diag "$(cat "$work/fleetgen.log")"
        printf 'Bail out! no estate\n'
        exit 99
    }
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# killed_after SECONDS PROGRAM...: runs it (a program, no function: the shell around it would be
# killed in its place) and kills it with SIGKILL at that time; true if it was still alive.
killed_after() {
    killed_seconds=$1
    shift
    "$@" >"$work/killed.out" 2>&1 </dev/null &
    killed_pid=$!
    sleep "$killed_seconds"
    killed_alive=1
    kill -KILL "$killed_pid" 2>/dev/null && killed_alive=0
    wait "$killed_pid" 2>/dev/null
    return "$killed_alive"
}

# bundled_piece DIR: a part of the bundled quarter that is quick to audit.
bundled_piece() {
    mkdir -p "$1/focus" "$1/prom_json"
    cp "$bundled"/focus/azure-* "$bundled"/focus/lambda-* "$bundled"/focus/coreweave-* "$1/focus"
    cp "$bundled"/prom_json/*-002.json.gz "$1/prom_json"
    cp -R "$bundled/jira" "$bundled/inventory.csv" "$bundled/hostmap.csv" "$bundled/cost-model.csv" "$bundled/gpu-audit.conf" "$1"
    chmod -R u+w "$1"
}
