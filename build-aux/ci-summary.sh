#!/bin/sh
# ci-summary.sh FOLDER...             counts the test results in build folders, in one line
# ci-summary.sh --failures FOLDER...  prints the logs of the tests that failed
#
# Fails when a test failed, when fewer passed than tests/minimum asks, or when one was skipped that
# must run here. automake's own summary is easy to misread, and says nothing of tests that vanished.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)

results() {
    find "$@" -name '*.trs' -exec cat {} +
}

count() {
    printf '%s\n' "$all" | grep -Ec "^:test-result: ($1)" || true
}

show_failures() {
    find "$@" -name '*.trs' | sort | while read -r trs; do
        grep -Eq '^:test-result: (FAIL|XPASS|ERROR)' "$trs" || continue
        printf '\n== %s\n' "${trs%.trs}.log"
        grep -v '^ok ' "${trs%.trs}.log" | tail -n 60
    done
}

if [ "$1" = --failures ]; then
    shift
    show_failures "$@"
    exit 0
fi

all=$(results "$@")
passed=$(count 'PASS|XFAIL')
failed=$(count 'FAIL|XPASS|ERROR')
skipped=$(count 'SKIP')
kind=with-cases
[ -d "${AUDIT_SHARED:-$top/../shared}" ] || kind=without-cases
minimum=$(sed -n "s/^$kind //p" "$top/tests/minimum")
status=0
if [ "$passed" -lt "$minimum" ]; then
    printf 'only %d tests passed where at least %d must (tests/minimum, %s)\n' "$passed" "$minimum" "$kind"
    status=1
fi
# Only the shared cases may be missing, and nothing may in CI.
if [ "$skipped" -gt 0 ] && { [ "$kind" = with-cases ] || [ "${CI:-}" = true ]; }; then
    printf 'tests were skipped that must run here\n'
    status=1
fi
[ "$failed" -eq 0 ] || status=1
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
exit "$status"
