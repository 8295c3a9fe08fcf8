# What tests of the reports share: after tap.sh and pg.sh,
#
#     reports_start        # server, schema, the two seeded audits: $plain and $hostile are their ids
#     report workbook "$plain" "$work/a.xlsx"
#
# $python is a Python that has openpyxl.

reports_start() {
    for python in /usr/bin/python3 python3 ''; do
        [ -n "$python" ] || skip_all 'no Python with openpyxl'
        "$python" -c 'import openpyxl' 2>/dev/null && break
    done
    pg_start
    for migration in "$top"/sql/0[0-9][0-9][0-9]_*.sql "$top"/sql/view_restatement*.sql; do
        pg_file "$migration" >/dev/null
    done
    plain=$(pg_file "$top/tests/sql/seed_audit.sql" | tail -n 1)
    hostile=$(pg_file "$top/tests/sql/seed_audit.sql" -v hostile=1 | tail -n 1)
    case $plain:$hostile in
    [0-9]*:[0-9]*) ;;
    *) printf 'Bail out! the seed does not fit the schema\n'; exit 99 ;;
    esac
    probe=$(command -v report_probe || command -v tests/lib/report_probe || echo "$PWD/tests/lib/report_probe")
}

# report workbook|page|mail AUDIT PATH [OPTION...]
report() {
    report_kind=$1 report_audit=$2 report_path=$3
    shift 3
    "$probe" "$@" "$report_kind" "$pg_url" "$report_audit" "$report_path"
}
