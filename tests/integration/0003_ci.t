# The summary of CI tells the truth: it fails when a test failed, vanished, or was skipped that must run.
. "${0%/*}/../lib/tap.sh"

unset CI AUDIT_REQUIRE_ALL
tree=$work/tree
mkdir -p "$tree/build-aux" "$tree/tests" "$tree/build/tests/unit" "$tree/build-clang" "$work/shared"
cp "$top/build-aux/ci-summary.sh" "$tree/build-aux/"
printf 'with-cases 3\nwithout-cases 2\n' >"$tree/tests/minimum"
AUDIT_SHARED=$work/shared
export AUDIT_SHARED

# results FOLDER/NAME RESULT...: what automake leaves of a test of that name.
results() {
    results_file=$tree/$1.trs
    shift
    for result in "$@"; do
        printf ':test-result: %s a test\n' "$result"
    done >"$results_file"
    printf ':global-test-result: PASS\n' >>"$results_file"
    printf 'ok 1 - fine\nnot ok 2 - the one that failed\n' >"${results_file%.trs}.log"
}
summary() {
    exits "$1" "$2" sh "$tree/build-aux/ci-summary.sh" "$tree/build" "$tree/build-clang"
    is "$1: the line" "$(tail -n 1 "$work/out")" "$3"
}

results build/tests/unit/test_a PASS PASS
results build-clang/test_b PASS XFAIL
summary 'enough passed' 0 '4 passed, 0 failed, 0 skipped'
results build-clang/test_b FAIL PASS PASS
summary 'a failure' 1 '4 passed, 1 failed, 0 skipped'
exits 'logs of what failed' 0 sh "$tree/build-aux/ci-summary.sh" --failures "$tree/build" "$tree/build-clang"
like 'the log of the failure is shown' "$(cat "$work/out")" 'not ok 2 - the one that failed'
unlike 'and not what passed' "$(cat "$work/out")" 'fine|test_a'
results build-clang/test_b ERROR XPASS PASS
summary 'an error and an unexpected pass' 1 '3 passed, 2 failed, 0 skipped'
results build-clang/test_b
summary 'tests that vanished' 1 '2 passed, 0 failed, 0 skipped'
results build-clang/test_b PASS SKIP
summary 'a skip where the cases are' 1 '3 passed, 0 failed, 1 skipped'
AUDIT_SHARED=$work/none
results build-clang/test_b SKIP
summary 'a skip where they are not' 0 '2 passed, 0 failed, 1 skipped'
CI=true
export CI
summary 'a skip in CI' 1 '2 passed, 0 failed, 1 skipped'
unset CI

# The distribution is compared with git.
if [ -e "$top/.git" ] && command -v git >/dev/null 2>&1; then
    mkdir -p "$work/repo/build-aux" "$work/dist/gpu-audit-1"
    cp "$top/build-aux/check-dist.sh" "$work/repo/build-aux/"
    (cd "$work/repo" && git init -q && echo a >a && echo b >b && git add a b build-aux)
    pack() {
        rm -rf "$work/dist/gpu-audit-1"
        mkdir -p "$work/dist/gpu-audit-1/build-aux"
        (cd "$work/dist/gpu-audit-1" && touch build-aux/check-dist.sh configure Makefile.in "$@")
        tar -C "$work/dist" -cf "$work/dist.tar" gpu-audit-1
    }
    pack a b
    exits 'a whole distribution' 0 sh "$work/repo/build-aux/check-dist.sh" "$work/dist.tar"
    pack a
    exits 'a file is missing' 1 sh "$work/repo/build-aux/check-dist.sh" "$work/dist.tar"
    pack a b c
    exits 'a file too many' 1 sh "$work/repo/build-aux/check-dist.sh" "$work/dist.tar"
fi

exits 'setup refuses what it does not know' 1 sh "$top/setup" everything
like 'and says what it does know' "$(cat "$work/err")" 'hint: Say ./setup build'

done_testing
