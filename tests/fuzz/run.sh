#!/bin/sh
# Builds every harness of this folder with clang's libFuzzer under ASan and UBSan, and runs one after
# the other from the seeds beside them. Run it in a configured and built build folder:
#
#     ../tests/fuzz/run.sh MINUTES [NAME]...     such as: ../tests/fuzz/run.sh 10 csv jsonl
#
# 0 minutes only builds. What was learned stays in fuzz/NAME.corpus of the build folder, a crash in
# fuzz/NAME.crash-*; each crash becomes a unit test and a seed. Exit status 1 when there was one.
# parquet.py beside it damages Parquet files, for which the reader is no code of ours.
set -eu

minutes=${1:?"run.sh MINUTES [NAME]..."}
shift
tests=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$tests/../.." && pwd)
test -f config.h && test -d gen || { echo "run.sh: no build folder: $PWD" >&2; exit 2; }
if [ $# -eq 0 ]; then
    for harness in "$tests"/fuzz_*.c; do
        name=${harness##*/fuzz_}
        set -- "$@" "${name%.c}"
    done
fi

mkdir -p fuzz
packages="libpq libcurl jansson inih libisal xlsxwriter zlib libxml-2.0 libzip"
flags=
for package in $packages; do
    if pkg-config --exists "$package"; then
        flags="$flags $(pkg-config --cflags "$package")"
    fi
done
# ARENA_DEBUG: each piece of an arena is an allocation of its own, whose ends ASan watches. SMALL_BUFFERS:
# a file of some kilobytes goes through them in many parts, as a large one does.
flags="$flags -g -O1 -std=gnu17 -D_GNU_SOURCE -DARENA_DEBUG -DSMALL_BUFFERS -I. -I$top -fno-sanitize-recover=undefined"
# As the program is linked, without its own archive.
libraries=$(printf 'include Makefile\nfuzz-libraries:\n\t@echo $(filter-out libaudit.a,$(AUDIT_LIBS))\n' |
    make -s -f - fuzz-libraries | tail -n 1) # before it, what a Makefile says that makes itself anew

# All of the program but its commands, instrumented. A new header is a reason to build all of it.
compile() {
    header=$(ls -t "$top"/common/*.h "$top"/ingest/*.h config.h | sed -n 1p)
    for source in "$top"/common/*.c "$top"/ingest/*.c gen/assets.c gen/sources.c; do
        object=fuzz/$(basename "$(dirname "$source")")_$(basename "$source" .c).o
        if [ "$object" -nt "$source" ] && [ "$object" -nt "$header" ]; then
            continue
        fi
        # shellcheck disable=SC2086
        clang $flags -DSYSCONFDIR='"/etc"' -fsanitize=fuzzer-no-link,address,undefined -c "$source" -o "$object"
    done
}

compile
rm -f fuzz/program.a
ar cr fuzz/program.a fuzz/*.o
status=0
for name; do
    # shellcheck disable=SC2086
    clang $flags -fsanitize=fuzzer,address,undefined "$tests/fuzz_$name.c" fuzz/program.a $libraries -ldl -o "fuzz/$name"
    if [ "$minutes" -eq 0 ]; then
        continue
    fi
    mkdir -p "fuzz/$name.corpus" "$tests/seeds/$name"
    echo "== $name, $minutes minutes"
    "fuzz/$name" -max_total_time=$((minutes * 60)) -timeout=20 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
        -artifact_prefix="fuzz/$name." "fuzz/$name.corpus" "$tests/seeds/$name" >"fuzz/$name.log" 2>&1 || status=1
    grep -E 'cov:|stat::number_of_executed_units|ERROR|SUMMARY' "fuzz/$name.log" | tail -4
done
exit $status
