# Manual pages, samples, guide and program agree.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"

exits 'option table, manual, sample, README and guide agree' 0 sh "$top/build-aux/check-docs.sh" "$top"

# The check itself must be able to fail: take one word out of each side.
copy_docs() {
    rm -rf "$work/copy"
    mkdir -p "$work/copy"
    (cd "$top" && tar -cf - Makefile.am README.md doc etc common/error.h common/settings_table.c cli ingest sql) |
        tar -xf - -C "$work/copy" && chmod -R u+w "$work/copy"
}
# without FILE SED-EXPRESSION: the documents after that edit.
without() {
    copy_docs
    sed -i "$2" "$work/copy/$1"
    exits "$1 with $2 is found out" 1 sh "$top/build-aux/check-docs.sh" "$work/copy"
}
without doc/gpu-audit.1.in 's/\\-\\-quarter/\\-\\-quarters/'
without doc/gpu-audit.conf.5.in 's/^\.B currency$/.B currencies/'
without common/settings_table.c 's/\.key = "idle-threshold"/.key = "idle-limit"/'
without etc/gpu-audit.conf.sample '/currency/d'
without README.md '/^| `status`/d'
without README.md '/^| 71 |/d'
without doc/data-model.md '/^| `reject`/d'

# man's own warnings.
manual_warnings() {
    for page in gpu-audit.1 gpu-audit.conf.5; do
        sed 's/@VERSION@/0/; s/@sysconfdir@/\/etc/' "$top/doc/$page.in" >"$work/$page"
        man --warnings -E UTF-8 -l -Tutf8 -Z "$work/$page" 2>&1 >/dev/null
    done
}
if command -v man >/dev/null 2>&1; then
    is 'the manual pages have no faults' "$(manual_warnings)" ''
else
    skip 'the manual pages have no faults' 'man is not installed'
fi

# Each command tells what it does, and the version is one line.
like 'the version is told' "$(gpu-audit --version)" '^gpu-audit [0-9]+\.[0-9]+\.[0-9]+$'
gpu-audit --help >"$work/help"
for command in $(sed -n '/^## Commands/,/^## Exit/s/^| `\([a-z-]*\).*/\1/p' "$top/README.md"); do
    like "$command stands in --help" "$(cat "$work/help")" "^  $command "
    exits "$command --help" 0 gpu-audit "$command" --help
    like "$command --help says how it is used" "$(cat "$work/out")" "^Usage: gpu-audit $command"
    exits "$command refuses an unknown option" 2 gpu-audit "$command" --no-such-option
done

# The questions of the guide can be asked, and of the SQL files the migrations and views.
pg_start
for file in $(sed -n '/^SQL_FILES = /,/[^\\]$/p' "$top/Makefile.am" | grep -oE 'sql/([0-9]{4}|view)_[a-z0-9_]+\.sql'); do
    exits "$file runs in psql" 0 pg_file "$top/$file"
done
awk '/^```sql/ { number++; inside = 1; next } /^```/ { inside = 0 } inside { print >(work "/question-" number) }' \
    work="$work" "$top/doc/data-model.md"
for file in "$work"/question-*; do
    exits "question ${file##*-} of the guide can be asked" 0 pg_file "$file"
done

done_testing
