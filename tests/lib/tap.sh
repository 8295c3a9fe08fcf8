# TAP for shell tests. A test begins with
#
#     . "${0%/*}/../lib/tap.sh"
#
# and ends with done_testing. It runs under `make check`, and alone with the build folder in PATH:
#
#     PATH=$PWD/build:$PATH sh tests/integration/0010_name.t
#
# $top is the source tree (perhaps read-only), $work a folder of the test's own that everybody may
# enter (a server that runs as another user needs it) and that goes when the test ends.
# With CI=true or AUDIT_REQUIRE_ALL=1 nothing may be missing: what would be skipped fails instead.

set -u
LC_ALL=C.UTF-8
TZ=UTC
PYTHONDONTWRITEBYTECODE=1
export LC_ALL TZ PYTHONDONTWRITEBYTECODE
unset GPU_AUDIT_CONFIG GPU_AUDIT_DATABASE PGHOST PGPORT PGUSER PGDATABASE PGPASSWORD PGSERVICE PGOPTIONS

case $0 in */*) ;; *) printf 'Bail out! run tests by their path\n'; exit 99 ;; esac
top=$(cd "${0%/*}/../.." && pwd)
tap_count=0
tap_failed=0
tap_exit_commands=

work=$(mktemp -d /tmp/audit-test.XXXXXX) || exit 99
chmod 711 "$work"

# at_exit COMMAND: runs when the test ends, the last one first.
at_exit() {
    tap_exit_commands="$1
$tap_exit_commands"
}

tap_cleanup() {
    tap_status=$?
    trap - EXIT
    eval "$tap_exit_commands" >/dev/null 2>&1
    cd / && rm -rf "$work"
    exit "$tap_status"
}
trap tap_cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

diag() {
    printf '%s\n' "$*" | sed 's/^/# /' >&2
}

tap_line() {
    tap_count=$((tap_count + 1))
    printf '%s %d - %s\n' "$1" "$tap_count" "$2"
}

pass() {
    tap_line ok "$1"
}

fail() {
    tap_failed=$((tap_failed + 1))
    tap_line 'not ok' "$1"
}

# ok NAME COMMAND...: the command succeeds. It may be a function.
ok() {
    tap_name=$1
    shift
    exits "$tap_name" 0 "$@"
}

# exits NAME STATUS COMMAND...: the command ends with that status. What it wrote is in $work/out
# and $work/err until the next such test.
exits() {
    tap_name=$1
    tap_want=$2
    shift 2
    tap_got=0
    "$@" >"$work/out" 2>"$work/err" </dev/null || tap_got=$?
    if [ "$tap_got" -eq "$tap_want" ]; then
        pass "$tap_name"
    else
        fail "$tap_name"
        diag "status $tap_got, wanted $tap_want: $*"
        tail -n 20 "$work/out" "$work/err" | sed 's/^/#   /' >&2
    fi
}

# is NAME GOT WANT
is() {
    if [ "$2" = "$3" ]; then
        pass "$1"
    else
        fail "$1"
        diag "got:    $2"
        diag "wanted: $3"
    fi
}

# like NAME TEXT PATTERN: an extended regular expression that matches within a line.
like() {
    if printf '%s\n' "$2" | grep -Eq -e "$3"; then
        pass "$1"
    else
        fail "$1"
        diag "no match for: $3"
        diag "in: $(printf '%s\n' "$2" | head -n 12)"
    fi
}

unlike() {
    if printf '%s\n' "$2" | grep -Eq -e "$3"; then
        fail "$1"
        diag "unwanted match of: $3"
        diag "in: $(printf '%s\n' "$2" | grep -E -e "$3" | head -n 12)"
    else
        pass "$1"
    fi
}

# same NAME GOT-FILE WANTED-FILE: with AUDIT_UPDATE_GOLDEN=1 (make update-golden) a wanted file in
# the tests of the source tree is replaced by what came.
same() {
    case ${AUDIT_UPDATE_GOLDEN:-}:$3 in
    1:"$top"/tests/*) mkdir -p "${3%/*}" && cp "$2" "$3" ;;
    esac
    if diff -u "$3" "$2" >"$work/diff" 2>&1; then
        pass "$1"
    else
        fail "$1"
        head -n 40 "$work/diff" | sed 's/^/# /' >&2
    fi
}

# skip NAME REASON: one test that cannot be made here.
skip() {
    if tap_requires_all; then
        fail "$1"
        diag "missing: $2"
    else
        tap_line ok "$1 # SKIP $2"
    fi
}

tap_requires_all() {
    [ "${AUDIT_REQUIRE_ALL:-}" = 1 ] || [ "${CI:-}" = true ]
}

# skip_all REASON: ends the test.
skip_all() {
    if tap_requires_all; then
        printf '1..1\nnot ok 1 - %s\n' "$1"
        exit 1
    fi
    printf '1..0 # SKIP %s\n' "$1"
    exit 0
}

# need PROGRAM...: skips the test where one is missing.
need() {
    for tap_program in "$@"; do
        command -v "$tap_program" >/dev/null 2>&1 || skip_all "$tap_program is not installed"
    done
}

# need_python MODULE...
need_python() {
    need python3
    for tap_module in "$@"; do
        python3 -c "import $tap_module" 2>/dev/null || skip_all "Python module $tap_module is not installed"
    done
}

# need_cases NAME: sets $cases, the folder with the shared case NAME. The cases are not part of the
# distribution; they stand in shared/cases beside the source tree (AUDIT_SHARED tells another place).
# This is the one absence that AUDIT_REQUIRE_ALL forgives; CI=true does not.
need_cases() {
    tap_shared=${AUDIT_SHARED:-$top/../shared}
    cases=$tap_shared/cases/$1
    [ -e "$cases" ] && return
    if [ "${CI:-}" != true ] && [ ! -d "$tap_shared" ]; then
        printf '1..0 # SKIP no shared cases beside the source tree\n'
        exit 0
    fi
    printf '1..1\nnot ok 1 - shared case %s is there\n' "$1"
    exit 1
}

# private_home: a data folder for the program's own PostgreSQL, stopped when the test ends.
private_home() {
    mkdir -p "$work/home"
    chmod 711 "$work/home"
    XDG_DATA_HOME=$work/home
    export XDG_DATA_HOME
    at_exit "gpu-audit db stop"
}

# background COMMAND...: ends with the test; $background is its process id.
background() {
    "$@" >"$work/background.log" 2>&1 </dev/null &
    background=$!
    at_exit "kill $background; wait $background"
}

# wait_for FILE [SECONDS]: until the file is there.
wait_for() {
    tap_tries=$((${2:-20} * 20))
    while [ ! -e "$1" ]; do
        tap_tries=$((tap_tries - 1))
        if [ "$tap_tries" -le 0 ]; then
            diag "$(cat "$work/background.log" 2>/dev/null)"
            printf 'Bail out! no %s\n' "$1"
            exit 99
        fi
        sleep 0.05
    done
}

# smtp_sink [OPTION...]: a mail server (smtp_sink.py). Sets $smtp_port; messages come to $work/mail.
smtp_sink() {
    need python3
    background python3 "$top/tests/lib/smtp_sink.py" --out "$work/mail" "$@"
    wait_for "$work/mail/port"
    smtp_port=$(cat "$work/mail/port")
}

done_testing() {
    printf '1..%d\n' "$tap_count"
    [ "$tap_failed" -eq 0 ]
    exit $?
}
