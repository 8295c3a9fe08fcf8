# Migrations and views: applied once, all together, and never a changed or an unknown one.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need gpu-audit
pg_start

start() {
    gpu-audit --database "$pg_url" sql 'SELECT 1'
}
for i in 1 2 3 4; do
    start >"$work/start.$i" 2>&1 &
    eval "start_$i=\$!"
done
failed=
for i in 1 2 3 4; do
    eval "wait \$start_$i" || failed="$failed $i"
done
is "four programs at once migrate an empty database" "$failed" ""
is "each migration is written down once" "$(pg_query "SELECT count(*) FROM audit.migration WHERE version > 0")" \
    "$(ls "$top"/sql/[0-9][0-9][0-9][0-9]_*.sql | wc -l)"
is "with the hash of its file" "$(pg_query "SELECT sha256 FROM audit.migration WHERE name = '0001_base.sql'")" \
    "$(sha256sum <"$top/sql/0001_base.sql" | cut -d' ' -f1)"
is "views are there" "$(pg_query "SELECT count(*) > 0 FROM pg_views WHERE schemaname = 'audit'")" t
is "every table, view and column of ours that needs it has a comment" "$(pg_query "SELECT string_agg(relname, ' ' ORDER BY relname)
    FROM pg_class WHERE relnamespace = 'audit'::regnamespace AND relkind IN ('r', 'p', 'v') AND NOT relispartition
    AND obj_description(oid, 'pg_class') IS NULL")" ""

views=$(pg_query "SELECT md5(string_agg(oid::text, ',' ORDER BY oid)) FROM pg_class WHERE relnamespace = 'audit'::regnamespace AND relkind = 'v'")
ok "again" start
is "nothing is made again" "$(pg_query "SELECT md5(string_agg(oid::text, ',' ORDER BY oid)) FROM pg_class
    WHERE relnamespace = 'audit'::regnamespace AND relkind = 'v'")" "$views"

count=$(pg_query "SELECT count(*) FROM pg_views WHERE schemaname = 'audit'")
pg_query "UPDATE audit.migration SET sha256 = 'other' WHERE version = 0; CREATE VIEW audit.old AS SELECT 1 AS one"
ok "changed views" start
is "are all made again, and old ones go" "$(pg_query "SELECT count(*) FROM pg_views WHERE schemaname = 'audit'")" "$count"
is "once" "$(pg_query "SELECT length(sha256) FROM audit.migration WHERE version = 0")" 64

saved=$(pg_query "SELECT sha256 FROM audit.migration WHERE version = 1")
pg_query "UPDATE audit.migration SET sha256 = repeat('0', 64) WHERE version = 1"
exits "a changed migration is an error" 5 start
like "that names it" "$(cat "$work/err")" 'migration sql/0001_base.sql is not the one that was applied'
pg_query "UPDATE audit.migration SET sha256 = '$saved' WHERE version = 1; INSERT INTO audit.migration VALUES (900, '0900_future.sql', 'x')"
exits "a database newer than the program is an error" 5 start
like "that says so" "$(cat "$work/err")" 'newer than this program: it has migration 900'
pg_query "DELETE FROM audit.migration WHERE version = 900"

# A migration that fails leaves nothing.
pg_query "DROP SCHEMA audit CASCADE; CREATE SCHEMA audit; CREATE TABLE audit.load (a int)"
exits "a migration that cannot be applied is an error" 5 start
like "that names its file" "$(cat "$work/err")" 'sql/0001_base.sql: relation "load" already exists'
is "and leaves nothing of itself" "$(pg_query "SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = 'audit'::regnamespace AND relkind = 'r'")" load
exits "a server that does not answer is an error" 5 gpu-audit --database "host=$work" sql 'SELECT 1'

for question in $(gpu-audit sql --list | cut -d' ' -f1); do
    pg_query "DROP SCHEMA audit CASCADE" 2>/dev/null
    ok "question $question" gpu-audit --database "$pg_url" sql "$question"
    gpu-audit --database "$pg_url" sql "$question" --format json >"$work/out" 2>"$work/err"
    is "question $question as JSON" "$(cat "$work/out")" "[]"
done
exits "an unknown question" 2 gpu-audit --database "$pg_url" sql saving
like "is told the nearest" "$(cat "$work/err")" 'Did you mean savings'
done_testing
