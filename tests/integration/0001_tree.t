# The lists in Makefile.am name every file there is, the generators write what they should, and the
# sources keep to the rules that a program can check.
. "${0%/*}/../lib/tap.sh"

# What git has, or what lies here where there is no git (a distribution).
tree_files() {
    if [ -e "$top/.git" ] && git -C "$top" -c safe.directory="$top" ls-files -- "$@" 2>/dev/null; then
        return
    fi
    (cd "$top" && find "$@" -type f)
}

tr -s ' \t\\' '\n' <"$top/Makefile.am" | sort -u >"$work/words"

unlisted() {
    tree_files analysis cli common ingest reports sql templates catalog tests/unit tests/integration |
        grep -E '\.(c|h|sql|csv|txt|html|t)$' | sed 's,^\(tests/unit/test_.*\)\.c$,\1,' |
        grep -Ev '^tests/unit/.*\.h$' | grep -vxF -f "$work/words"
}
is 'every source, query, template and test is in Makefile.am' "$(unlisted)" ''

listed_twice() {
    grep -oE '^	[a-z]+/[A-Za-z0-9_./-]+' "$top/Makefile.am" | sort | uniq -d
}
is 'nothing is listed twice' "$(listed_twice | grep -v '^	tests/integration/')" ''

# The registry

cat >"$work/wanted" <<'END'
extern const struct source source_b_one;
extern const struct source source_a;
const struct source *const sources[] = {
    &source_b_one,
    &source_a,
    0,
};
END
sh "$top/build-aux/registry.sh" ingest/source.h source sources ingest/source_b_one.c ingest/source_a.c |
    grep -E 'source_|sources|^    0|^}' >"$work/registry"
same 'the registry keeps the order of the list' "$work/registry" "$work/wanted"

# Embedding: every byte a text may hold comes back, whatever awk and the compiler make of it.

mkdir "$work/sql"
printf 'quote " backslash \\ percent %%s\ttab \303\244\342\202\254 \377\n\n-- ?? /* */ \001 last' >"$work/sql/odd.sql"
: >"$work/sql/empty.sql"
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "a line of text that is long enough %d\n", i }' >"$work/sql/long.sql"
cat >"$work/print.c" <<'END'
#include <stdio.h>
#include "common/asset.h"
int
main(void)
{
    for (const struct asset *a = assets; a->name; a++) {
        printf("%s %zu\n", a->name, a->size);
        fwrite(a->text, 1, a->size, stdout);
    }
}
END
: >"$work/config.h"
embed() {
    LC_ALL=C "${AWK:-awk}" -v srcdir="$work" -f "$top/build-aux/sql2c.awk" \
        "$work/sql/odd.sql" "$work/sql/empty.sql" "$work/sql/long.sql" >"$work/assets.c" &&
        "${CC:-cc}" -Wall -Wextra -Wpedantic -Werror -I"$work" -I"$top" -o "$work/print" "$work/print.c" "$work/assets.c" &&
        "$work/print" >"$work/printed"
}
ok 'an embedded file compiles' embed
{
    printf 'sql/odd.sql %d\n' "$(($(wc -c <"$work/sql/odd.sql") + 1))"
    cat "$work/sql/odd.sql"
    printf '\nsql/empty.sql 0\nsql/long.sql %d\n' "$(wc -c <"$work/sql/long.sql")"
    cat "$work/sql/long.sql"
} >"$work/wanted"
ok 'an embedded file is the same, byte by byte' cmp "$work/printed" "$work/wanted"
exits 'a file that is not there stops the build' 1 \
    awk -v srcdir="$work" -f "$top/build-aux/sql2c.awk" "$work/sql/none.sql"

# Rules of CODING.md that a program can check

sources_of() {
    tree_files analysis cli common ingest reports | grep -E '\.[ch]$'
}

long_files() {
    (cd "$top" && sources_of | xargs wc -l | awk '$2 != "total" && $1 > 500 { print $2, $1 }')
}
is 'no source file is longer than 500 lines' "$(long_files)" ''

# A function ends at the first } in column 0 after the { in column 0 that begins it.
long_functions() {
    (cd "$top" && sources_of | grep '\.c$' | xargs awk '
        FNR == 1 { start = 0 }
        /^\{/ { start = FNR }
        /^[a-z_].*\(/ { name = $0 }
        /^\}/ && start { if (FNR - start > 60) print FILENAME, name, FNR - start; start = 0 }')
}
is 'no function is longer than 60 lines' "$(long_functions)" ''

banned() {
    (cd "$top" && sources_of | xargs grep -nE '\b(strcpy|strcat|sprintf|vsprintf|atoi|atol|atof|strtok|gets)\(')
}
is 'no banned function is called' "$(banned)" ''

# What json_dumps returns is the caller's to free.
misplaced() {
    (cd "$top" && sources_of | grep -v '^common/' | while read -r file; do
        taken='malloc|calloc|realloc|free|exit|longjmp'
        ! grep -q 'json_dumps(' "$file" || taken='malloc|calloc|realloc|exit|longjmp'
        grep -HnE "(^|[^_a-z])($taken)\(" "$file"
    done | grep -v '^cli/main\.c:.*exit(')
}
is 'memory is taken and freed in common/ only, and only main exits' "$(misplaced)" ''

libpq_users() {
    (cd "$top" && sources_of | xargs grep -lE 'libpq-fe\.h' | grep -vE '^common/')
}
is 'only common/ knows libpq' "$(libpq_users)" ''

unfinished() {
    (cd "$top" && tree_files analysis cli common ingest reports sql templates build-aux/*.sh setup | grep -v tap-driver | xargs grep -nE 'TO''DO|FIX''ME')
}
is 'nothing is left for later' "$(unfinished)" ''

done_testing
