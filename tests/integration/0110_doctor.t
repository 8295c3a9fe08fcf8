# The doctor: each fault is found and told with what to do, and what is sound is told to be.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"

need python3
pg_start
GPU_AUDIT_DATABASE=$pg_url
export GPU_AUDIT_DATABASE
HOME=$work XDG_CONFIG_HOME=$work/none
export HOME XDG_CONFIG_HOME
cd "$work" || exit 99

# doctor FILE [OPTION...]
doctor() {
    doctor_file=$1
    shift
    gpu-audit --config "$work/$doctor_file" doctor "$@"
}
out() {
    cat "$work/out"
}

# ---- files

mkdir bills
printf 'BillingAccountId\n1\n' >bills/a.csv
printf 'BillingAccountId\n2\n' | gzip >bills/b.csv.gz
printf 'asset\n' >inventory.csv
cat >good.conf <<'END'
[billing bills]
format = focus
path = bills
[inventory own]
path = inventory.csv
END
exits 'a sound configuration' 0 doctor good.conf
like 'the configuration is named with its window' "$(out)" '^ok +configuration +.*good\.conf, window [0-9]{4}Q[1-4]$'
like 'the database answers' "$(out)" '^ok +database +the configured server'
like 'the files are counted' "$(out)" '^ok +billing bills +2 files, 1 KiB$'
like 'one file is one' "$(out)" '^ok +inventory own +1 file, '
like 'missing telemetry is told in advance' "$(out)" '^note +evidence +no telemetry: every GPU-hour will be unknown'
unlike 'what is there is not missed' "$(out)" '^note +evidence +no (bill|inventory)'
like 'that nothing will be mailed is told' "$(out)" '^note +mail +no server is set'

cat >faults.conf <<'END'
[billing gone]
format = focus
path = nowhere
[billing empty]
format = focus
path = empty.csv
[billing other]
format = focuss
path = bills
[telemetry typo]
format = prometheus
pth = bills
[telemetry both]
format = prometheus
path = bills
url = http://127.0.0.1:9
[inventory neither]
END
: >empty.csv
exits 'faults end with 1' 1 doctor faults.conf
cp out faults.out
is 'each source has its fault' "$(grep -c '^FAULT ' faults.out)" 6
like 'a missing folder' "$(cat faults.out)" '^FAULT +billing gone +could not open ".*/nowhere": No such file or directory$'
like 'an empty file' "$(cat faults.out)" '^FAULT +billing empty +".*/empty\.csv" is empty$'
like 'an unknown format' "$(cat faults.out)" '^FAULT +billing other .*line 7: .*"focuss"'
like 'an unknown key' "$(cat faults.out)" '^FAULT +telemetry typo .*line 12: \[telemetry typo\] has no key "pth"$'
like 'the nearest key' "$(cat faults.out)" '^ +-> Did you mean "path"\?$'
like 'path and url' "$(cat faults.out)" '^FAULT +telemetry both .*line 13: .* has both path and url$'
like 'neither' "$(cat faults.out)" '^FAULT +inventory neither .*line 17: .* has neither path nor url$'
is 'each fault says what to do' "$(grep -A1 '^FAULT ' faults.out | grep -c '^ .*-> [A-Z].*\.\|?$')" 6
like 'they are counted' "$(cat err)" 'error: 6 of 8 checks found a fault$'

exits 'JSON for programs' 1 doctor faults.conf --json
json_faults() {
    python3 -c 'import json, sys
rows = json.load(sys.stdin)
print(sum(r["outcome"] == "fault" and r["hint"] is not None for r in rows), len([r for r in rows if r["outcome"] == "ok"]))' <out
}
is 'holds the same' "$(json_faults)" '6 2'

exits 'no configuration is a fault' 1 gpu-audit doctor
like 'with the way to one' "$(out)" '-> Write one with gpu-audit init'
GPU_AUDIT_DATABASE='postgresql:///x?host=/nonexistent'
exits 'so is a database that does not answer' 1 doctor good.conf
like 'and the rest is checked all the same' "$(out)" '^ok +billing bills '
like 'it is told' "$(out)" '^FAULT +database '
GPU_AUDIT_DATABASE=$pg_url

# ---- a server that asks who comes

background python3 "$top/tests/lib/jira_server.py" "$work/jira-port" "$work/jira-log" --user me --token s3cret-token
wait_for "$work/jira-port"
jira() {
    cat >jira.conf <<END
[tracker jira]
format = jira-cloud
url = http://127.0.0.1:$(cat jira-port)/good/
user = me
$1
timeout = 10
END
}
printf 's3cret-token\n' >token
jira 'token-file = token'
exits 'who may come in, does' 0 doctor jira.conf
like 'and is told so' "$(out)" '^ok +tracker jira +http://127\.0\.0\.1:[0-9]+/good/ answers$'
like 'only who we are was asked' "$(cat jira-log)" '/rest/api/3/myself'
unlike 'no issue was asked for' "$(cat jira-log)" 'search'
printf 'wr0ng-token\n' >token
exits 'a wrong token is a fault' 1 doctor jira.conf -vv
like 'with its status' "$(out)" '^FAULT +tracker jira .*401'
unlike 'the token is not told' "$(cat out err)" 'wr0ng-token'
jira 'token-env = NO_SUCH_TOKEN'
exits 'a token that is not there' 1 doctor jira.conf
like 'is told with its place' "$(out)" '^FAULT +tracker jira .*jira\.conf line 5: the environment has no NO_SUCH_TOKEN$'

# ---- a Prometheus

if command -v prometheus >/dev/null 2>&1 && command -v promtool >/dev/null 2>&1; then
    {
        printf '# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n'
        for second in 1785542400 1785542460 1785542520; do
            printf 'DCGM_FI_DEV_GPU_UTIL{UUID="GPU-1",Hostname="h1"} 50 %d\n' "$second"
        done
        printf '# EOF\n'
    } >metrics.txt
    promtool tsdb create-blocks-from --quiet openmetrics metrics.txt tsdb >/dev/null 2>&1
    printf 'global: {scrape_interval: 60s}\n' >prometheus.yml
    prometheus_port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    background prometheus --config.file=prometheus.yml --storage.tsdb.path=tsdb --storage.tsdb.retention.time=100y \
        --web.listen-address="127.0.0.1:$prometheus_port"
    tries=100
    until grep -q 'ready to receive' background.log || [ "$tries" -eq 0 ]; do
        tries=$((tries - 1))
        sleep 0.1
    done
    printf '[telemetry live]\nformat = prometheus\nurl = http://127.0.0.1:%s/\n' "$prometheus_port" >live.conf
    exits 'a Prometheus with data for the window' 0 doctor live.conf --quarter 2026Q3
    like 'the signals are named, and what is missing' "$(out)" \
        '^ok +telemetry live +http://127\.0\.0\.1:[0-9]+ has util; without sm effective GPU-hours stay unknown$'
    exits 'a window without data is a fault' 1 doctor live.conf --quarter 2024Q1
    like 'and is told with what was looked for' "$(out)" '-> Looked for DCGM_FI_DEV_GPU_UTIL'
else
    skip 'a Prometheus with data for the window' 'prometheus is not installed'
fi

# ---- mail

smtp_sink --user audit --password mail-passw0rd
cat >mail.conf <<END
[mail]
server = smtp://127.0.0.1:$smtp_port
from = a@example.com
END
exits 'mail without a recipient is a fault' 1 doctor mail.conf
like 'which is named' "$(out)" '^FAULT +mail +\[mail\] has no to$'
printf 'to = b@example.com\n' >>mail.conf
exits 'a mail server that takes us' 0 doctor mail.conf
like 'is told' "$(out)" "^ok +mail +smtp://127\.0\.0\.1:$smtp_port takes us\$"
is 'nothing was mailed' "$(ls mail | grep -c eml)" 0
printf 'user = audit\npassword-env = MAIL_PASSWORD\n' >>mail.conf
exits 'a password never goes over a line in the clear' 1 env MAIL_PASSWORD=mail-passw0rd \
    gpu-audit --config mail.conf doctor
like 'the way out is told' "$(out)" '-> The server offers no STARTTLS'
like 'the server was greeted' "$(cat mail/session.log)" 'EHLO'
unlike 'it was not sent' "$(cat mail/session.log)" 'AUTH'
sed -i "s/:$smtp_port/:1/" mail.conf
exits 'no mail server' 1 env MAIL_PASSWORD=x gpu-audit --config mail.conf doctor
like 'is told with the address' "$(out)" '^FAULT +mail +could not reach the mail server smtp://127\.0\.0\.1:1: '

exits 'arguments are a usage error' 2 doctor good.conf extra
exits 'CSV too' 2 doctor good.conf --format csv

done_testing
