#!/bin/sh
# check-dist.sh TARBALL: the distribution holds every file that git has, and nothing else but what
# autoreconf writes. Without git there is nothing to compare with.
set -eu
tarball=$1
top=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git -C "$top" -c safe.directory="$top" ls-files >"$work/git" 2>/dev/null || exit 0
LC_ALL=C sort "$work/git" -o "$work/git"
tar -tf "$tarball" | grep -v '/$' | sed 's,^[^/]*/,,' | LC_ALL=C sort >"$work/tar"
generated='^(aclocal\.m4|configure|config\.h\.in|Makefile\.in|build-aux/(ar-lib|compile|depcomp|install-sh|missing|tap-driver\.sh|test-driver|config\.(guess|sub)))$'
LC_ALL=C comm -23 "$work/git" "$work/tar" >"$work/missing"
LC_ALL=C comm -13 "$work/git" "$work/tar" | grep -Ev "$generated" >"$work/extra" || true
status=0
if [ -s "$work/missing" ]; then
    printf 'in git but not in the distribution (EXTRA_DIST in Makefile.am):\n'
    cat "$work/missing"
    status=1
fi
if [ -s "$work/extra" ]; then
    printf 'in the distribution but not in git:\n'
    cat "$work/extra"
    status=1
fi
exit "$status"
