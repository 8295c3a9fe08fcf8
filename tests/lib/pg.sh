# A throw-away PostgreSQL for a test: after tap.sh,
#
#     . "${0%/*}/../lib/pg.sh"
#     pg_start
#     gpu-audit --database "$pg_url" ...
#     pg_query "select count(*) from audit.load"
#
# It listens on a socket in a folder of its own only, and goes when the test ends. PostgreSQL
# refuses to run as root: then it runs as user postgres.

pg_bindir() {
    for pg_try in "${PG_BINDIR:-}" "$(pg_config --bindir 2>/dev/null)" $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -t/ -k5 -rn); do
        if [ -n "$pg_try" ] && [ -x "$pg_try/initdb" ]; then
            printf '%s\n' "$pg_try"
            return
        fi
    done
    return 1
}

# pg_as COMMAND...: as the user who runs the server.
pg_as() {
    if [ "$(id -u)" -eq 0 ]; then
        (cd / && exec setpriv --reuid=postgres --regid=postgres --init-groups "$@")
    else
        "$@"
    fi
}

# pg_start [DATABASE]: sets $pg_bin, $pg_dir, $pg_url. PGHOST and PGUSER are exported for psql.
pg_start() {
    pg_database=${1:-audit}
    pg_bin=$(pg_bindir) || skip_all "no PostgreSQL server programs"
    if [ "$(id -u)" -eq 0 ] && ! id postgres >/dev/null 2>&1; then
        skip_all "no user postgres to run the server as"
    fi
    # Not under $work: the socket's path must stay short and its folder be the server's.
    pg_dir=$(mktemp -d /tmp/audit-pg.XXXXXX)
    chmod 711 "$pg_dir"
    [ "$(id -u)" -ne 0 ] || chown postgres: "$pg_dir"
    at_exit 'pg_stop; rm -rf "$pg_dir"'
    pg_as "$pg_bin/initdb" -D "$pg_dir/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync \
        >"$work/initdb.log" 2>&1 || { diag "$(cat "$work/initdb.log")"; skip_all "initdb failed"; }
    cat >"$work/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$pg_dir'
fsync = off
synchronous_commit = off
full_page_writes = off
max_wal_size = 1GB
shared_buffers = 64MB
dynamic_shared_memory_type = mmap
END
    pg_as sh -c "cat >>'$pg_dir/data/postgresql.conf'" <"$work/postgresql.conf"
    pg_server_start
    PGHOST=$pg_dir PGUSER=postgres PGDATABASE=$pg_database
    export PGHOST PGUSER PGDATABASE
    [ "$pg_database" = postgres ] || "$pg_bin/psql" -XAtq -d postgres -c "create database \"$pg_database\""
    pg_url="postgresql:///$pg_database?host=$pg_dir&user=postgres"
}

pg_server_start() {
    pg_as "$pg_bin/pg_ctl" -D "$pg_dir/data" -l "$pg_dir/log" -w -t 60 start >"$work/pg_ctl.log" 2>&1 ||
        { diag "$(cat "$pg_dir/log")"; printf 'Bail out! PostgreSQL did not start\n'; exit 99; }
}

pg_stop() {
    pg_as "$pg_bin/pg_ctl" -D "$pg_dir/data" -m immediate -w stop
}

# pg_query SQL: rows unaligned, columns parted by |. Stops at the first error.
pg_query() {
    "$pg_bin/psql" -XAtq -v ON_ERROR_STOP=1 -c "$1"
}

# pg_file FILE [ARGUMENT...]: runs a file of SQL.
pg_file() {
    pg_sql_file=$1
    shift
    "$pg_bin/psql" -XAtq -v ON_ERROR_STOP=1 "$@" -f - <"$pg_sql_file"
}
