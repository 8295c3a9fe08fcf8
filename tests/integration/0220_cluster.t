# The private PostgreSQL: made, started, stopped, shared, killed, damaged.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need gpu-audit setsid
pg_bin=$(pg_bindir) || skip_all "no PostgreSQL server programs"
private_home
home=$XDG_DATA_HOME/gpu-audit
major=$("$pg_bin/postgres" -V | sed 's/[^0-9]*\([0-9]*\).*/\1/')
data=$home/pg/$major

ask() {
    gpu-audit sql "$1" --format csv | tail -n +2
}
# Live server processes of this database; a zombie has no working directory.
servers() {
    # In the server's own name: not every root may look at the folders of other users' processes.
    pg_as sh -c 'for entry in /proc/[0-9]*/cwd; do readlink "$entry"; done' 2>/dev/null | grep -Fxc "$data"
}
no_servers() {
    tries=0
    while [ "$(servers)" -ne 0 ]; do
        [ $((tries += 1)) -le 200 ] || return 1
        sleep 0.05
    done
}
postmaster() {
    pg_as sed -n 1p "$data/postmaster.pid"
}
# A command that holds the server for a while: $holder.
hold() {
    gpu-audit sql "SELECT pg_sleep(${1:-60})" >"$work/hold.out" 2>"$work/hold.err" &
    holder=$!
    tries=0
    until [ "$(ask "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND state = 'active' AND pid <> pg_backend_pid()")" = 1 ]; do
        [ $((tries += 1)) -le 100 ] || return 1
        sleep 0.05
    done
}

# -- made, used, stopped
ok "stop without a database is fine" gpu-audit db stop
ok "destroy too" gpu-audit db destroy
ok "the first command makes it" gpu-audit sql 'SELECT 1'
is "and stops it" "$(servers)" 0
is "its data folder is private" "$(stat -c %a "$home/pg")" 700
is "the next one uses it" "$(ask "SELECT count(*) > 0 FROM audit.migration")" t
is "encoding, locale, zone" "$(ask "SELECT current_setting('server_encoding') || ' ' || datcollate || ' ' || current_setting('timezone')
    FROM pg_database WHERE datname = current_database()")" "UTF8 C.UTF-8 UTC"
is "no port is open, shared memory is in the folder" "$(ask "SELECT current_setting('listen_addresses') || '|' ||
    current_setting('dynamic_shared_memory_type') || '|' || current_setting('wal_level')")" "|mmap|minimal"
exits "sql only reads" 5 gpu-audit sql 'CREATE TABLE audit.x (a int)'
like "and says so" "$(cat "$work/err")" 'read-only transaction'

# -- start and stop
ok "start leaves it running" gpu-audit db start
url=$(gpu-audit db url)
is "psql can use its url" "$("$pg_bin/psql" -XAt "$url" -c 'SELECT 1')" 1
ok "other commands" gpu-audit sql 'SELECT 1'
pid=$(postmaster)
sleep 0.6
is "do not stop it" "$(postmaster)" "$pid"
is "its socket's folder is private" "$(pg_as stat -c %a "$home/pg/socket")" 700
hold
exits "stop while another command uses it is an error" 5 gpu-audit db stop
like "that tells why" "$(cat "$work/err")" 'another gpu-audit is using'
kill "$holder"
wait "$holder" 2>/dev/null
ok "and it stops when that one has gone" no_servers
ok "stop again" gpu-audit db stop

# -- several at once
for i in 1 2 3 4 5 6 7 8; do
    gpu-audit sql "SELECT $i" --format csv >"$work/many.$i" 2>&1 &
    eval "many_$i=\$!"
done
many=
for i in 1 2 3 4 5 6 7 8; do
    eval "wait \$many_$i" || many="$many failed:$i"
    many="$many $(tail -n 1 "$work/many.$i")"
done
is "eight commands at once" "$many" " 1 2 3 4 5 6 7 8"
ok "the last one stops it" no_servers
gpu-audit db destroy 2>"$work/err"
ok "destroy removes it" [ ! -e "$home/pg" ]
for i in 1 2 3; do
    gpu-audit sql "SELECT $i" --format csv >"$work/many.$i" 2>&1 &
    eval "many_$i=\$!"
done
many=
for i in 1 2 3; do
    eval "wait \$many_$i" || many="$many failed:$i"
    many="$many $(tail -n 1 "$work/many.$i")"
done
is "three commands at once make one database" "$many" " 1 2 3"
is "the first to come does not take it along when it goes" "$(
    gpu-audit sql 'SELECT pg_sleep(0.3)' >/dev/null 2>&1 &
    first=$!
    sleep 0.15
    ask "SELECT count(*) FROM generate_series(1, 10) n, pg_sleep(0.1)"
    wait $first && echo fine)" "10
fine"

# -- killed
hold
pid=$(postmaster)
kill -9 "$holder"
wait "$holder" 2>/dev/null
ok "kill -9 of the program shuts the server down" no_servers
ok "in good order" sh -c "tail -n 3 '$home/pg/log' | grep -q 'database system is shut down'"
is "and the next command works" "$(ask 'SELECT 2')" 2

hold
kill -9 "$(postmaster)"
wait "$holder" 2>/dev/null
is "a killed postmaster is an error of the database" $? 5
is "the next command clears up after it" "$(ask 'SELECT 3')" 3
hold
for pid in $(pg_as sh -c 'for entry in /proc/[0-9]*/cwd; do [ "$(readlink "$entry")" != "$1" ] || basename "${entry%/cwd}"; done' sh "$data" 2>/dev/null); do
    kill -9 "$pid"
done
wait "$holder" 2>/dev/null
is "all server processes killed" "$(ask 'SELECT 4')" 4
ok "nothing is left of them" no_servers

# An orphaned backend that does not notice: stopped, while the postmaster dies.
hold
kill -9 "$holder"
ok "settled" no_servers
hold
backend=$(ask "SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND state = 'active' AND pid <> pg_backend_pid()")
kill -STOP "$backend"
kill -9 "$(postmaster)"
kill -9 "$holder"
wait "$holder" 2>/dev/null
is "an orphaned backend is ended" "$(ask 'SELECT 5')" 5
ok "it is gone" [ ! -e "/proc/$backend/cwd" ]

# A pid file whose number another process of the server's user has.
pg_as sleep 300 &
other=$!
at_exit "kill $other"
sleep 0.2
pg_as sh -c "printf '%s\n%s\n1\n5432\n%s\n\n0 0\nready\n' \$(pgrep -n -x sleep) '$data' '$home/pg/socket' >'$data/postmaster.pid'"
pg_as sh -c "printf '%s\n%s\n1\n5432\n%s\n\n' \$(pgrep -n -x sleep) '$data' '$home/pg/socket' >'$home/pg/socket/.s.PGSQL.5432.lock'"
is "a stale pid file with a number in other hands" "$(ask 'SELECT 6')" 6
kill "$other"

# -- initdb killed
gpu-audit db destroy 2>/dev/null
setsid gpu-audit sql 'SELECT 1' >/dev/null 2>&1 &
maker=$!
tries=0
until pg_as sh -c "ls -d '$home'/pg/new-*/base" >/dev/null 2>&1 || [ $((tries += 1)) -gt 200 ]; do sleep 0.02; done
kill -9 "$maker"
wait "$maker" 2>/dev/null
ok "killed within initdb: no data folder" [ ! -e "$data" ]
is "the next command makes it again" "$(ask 'SELECT 7')" 7
is "and leaves no rest" "$(pg_as sh -c "ls '$home/pg' | grep -c new-")" 0
gpu-audit db destroy 2>/dev/null
gpu-audit sql 'SELECT 1' >"$work/out" 2>"$work/err" &
maker=$!
tries=0
until pg_as sh -c "ls -d '$home'/pg/new-*/base" >/dev/null 2>&1 || [ $((tries += 1)) -gt 200 ]; do sleep 0.02; done
kill -TERM "$maker"
wait "$maker"
is "a signal within initdb ends with 130" $? 130
is "and leaves nothing" "$(pg_as sh -c "ls '$home/pg' | grep -c -e new- -e '^[0-9]'")" 0

# -- dump and restore
ok "made again" gpu-audit sql 'SELECT 1'
ok "started" gpu-audit db start
ok "dump" gpu-audit db dump
cp "$work/out" "$work/dump.sql"
url=$(gpu-audit db url)
"$pg_bin/psql" -XAtq "$url" -c 'CREATE DATABASE restored' 
ok "a dump restores" "$pg_bin/psql" -XAtq -v ON_ERROR_STOP=1 "$(printf %s "$url" | sed 's,/gpu_audit?,/restored?,')" -f "$work/dump.sql"
is "whole" "$("$pg_bin/psql" -XAtq "$(printf %s "$url" | sed 's,/gpu_audit?,/restored?,')" -c 'SELECT count(*) > 1 FROM audit.migration')" t
ok "stop" gpu-audit db stop
is "is at once" "$(servers)" 0

# -- folders
pg_as mv "$data" "$home/pg/9"
exits "a database of a version that is not installed" 5 gpu-audit sql 'SELECT 1'
like "names the version" "$(cat "$work/err")" 'made by PostgreSQL 9, which is not installed'
like "and the way out" "$(cat "$work/err")" 'Install the package postgresql-9.*gpu-audit db dump'
pg_as mv "$home/pg/9" "$data"

long=$work/home/$(printf 'folder-%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13)
mkdir -p "$long"
is "a path too long for a socket" "$(XDG_DATA_HOME=$long ask 'SELECT 8')" 8
XDG_DATA_HOME=$long gpu-audit db url >"$work/out"
like "has a short one elsewhere" "$(cat "$work/out")" 'host=(/tmp|/run)[^&]*/gpu-audit-[0-9a-f]{8}&'
short=$(sed 's/.*host=\([^&]*\)&.*/\1/' "$work/out")
is "which is private" "$(stat -c %a "$short")" 700
chmod 777 "$short"
exits "somebody else's folder in its place is refused" 5 env "XDG_DATA_HOME=$long" gpu-audit sql 'SELECT 1'
like "by name" "$(cat "$work/err")" "$short.*only its right owner"
chmod 700 "$short"
XDG_DATA_HOME=$long gpu-audit db destroy 2>/dev/null
rmdir "$short"

odd="$work/home/o d'd,\"%"
mkdir -p "$odd"
is "a path with odd characters" "$(XDG_DATA_HOME=$odd ask 'SELECT 9')" 9
XDG_DATA_HOME=$odd gpu-audit db destroy 2>/dev/null

if [ "$(id -u)" -eq 0 ]; then
    mkdir -p "$work/closed/inner"
    chmod 700 "$work/closed"
    exits "root: a folder that keeps the server's user out" 5 env "XDG_DATA_HOME=$work/closed/inner" gpu-audit sql 'SELECT 1'
    like "is named" "$(cat "$work/err")" "folder \"$work/closed\" does not let user postgres through"

    # As an ordinary user, and as one that nobody knows.
    mkdir -m 755 "$work/user"
    chown nobody "$work/user"
    program=$(command -v gpu-audit)
    install -m 755 "$program" "$work/gpu-audit"
    ok "an ordinary user" setpriv --reuid=nobody --regid=nogroup --clear-groups env -u HOME "XDG_DATA_HOME=$work/user" "$work/gpu-audit" sql 'SELECT 1'
    is "runs the server in its own name" "$(stat -c %U "$work/user/gpu-audit/pg/$major")" nobody
    chown 54321 "$work/user"
    exits "a user without a name" 5 setpriv --reuid=54321 --regid=54321 --clear-groups env -u HOME "XDG_DATA_HOME=$work/user" "$work/gpu-audit" sql 'SELECT 1'
    like "is told so" "$(cat "$work/err")" 'user with id 54321 has no entry'
fi

# -- a server of one's own
exits "db start with --database" 2 gpu-audit --database "postgresql:///x" db start
like "is refused" "$(cat "$work/err")" 'server of your own'
is "its url has no password" "$(gpu-audit --database 'postgresql://u:hunter2@h/d' db url | grep -c hunter2)" 0
exits "an unknown action" 2 gpu-audit db frobnicate
# A machine without the server: its programs, in Debian's place, are hidden in a mount namespace.
case $(id -u)$pg_bin in
0/usr/lib/postgresql/*)
    mkdir "$work/nothing" "$work/bare"
    chmod 711 "$work/bare"
    bare='mount --bind "$1" /usr/lib/postgresql && exec gpu-audit db start'
    is 'no server installed: status 5' "$(XDG_DATA_HOME=$work/bare unshare -m sh -c "$bare" sh "$work/nothing" >"$work/bare.out" 2>&1; echo $?)" 5
    like 'and the package is named' "$(tr '\n' ' ' <"$work/bare.out")" 'no PostgreSQL server is installed.*package postgresql'
    ;;
esac

done_testing
