#!/bin/sh
# Jira Cloud over HTTP and from saved pages.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
command -v python3 >/dev/null || skip_all 'no python3'
pg_start

cd "$work" || exit 99
python3 "$top/tests/lib/jira_server.py" port log --issues 250 &
server=$!
at_exit "kill $server"
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -s port ] && break
    sleep 0.2
done
port=$(cat port) || exit 99
site=http://127.0.0.1:$port
printf 'right-token-1234\n' >token
printf 'wrong-token-1234\n' >wrong

# config BEHAVIOUR [LINE...]
config() {
    printf '[audit]\ncurrency = USD\n[tracker jira]\nformat = jira-cloud\nurl = %s/%s\nuser = audit@example.com\njql = labels in (gpu) and updated >= -400d\n' "$site" "$1" >gpu-audit.conf
    shift
    printf '%s\n' "$@" >>gpu-audit.conf
}
audit() {
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter 2026Q3 "$@"
}
issues() {
    pg_query "select count(*), count(distinct key) from audit.issue join audit.source using (source_id) where location = '$site/$1'"
}

config good 'token-file = token' 'project-field = project' 'team-field = customfield_10050'
ok 'a search of three pages' audit ingest
is 'every issue once' "$(issues good)" '250|250'
is 'its fields' "$(pg_query "select project_key, project, summary, issue_type, status, status_category, assignee, labels, created at time zone 'UTC', resolved at time zone 'UTC' from audit.issue where key = 'ML-1'")" \
'ML|ML|Train model 1 "fast", <cheap>|Task|Done|done|Person 1|{gpu,n1}|2026-07-02 08:00:00|2026-09-02 13:30:00'
is 'an open issue is not resolved' "$(pg_query "select resolved is null from audit.issue where key = 'ML-2'")" t
is 'teams of every shape' "$(pg_query "select distinct team from audit.issue order by 1")" 'Platform
Research - Vision
a;b
ads
search'
is 'no team is unknown, not empty' "$(pg_query "select count(*) from audit.issue where team is null")" 42
is 'the project' "$(pg_query "select key, name from audit.project")" 'ML|Machine learning'
is 'one load, what was asked as its object' "$(pg_query "select object, rows_read, rows_kept, is_complete from audit.load where status = 'done' and object like 'http%'")" \
"$site/good/rest/api/3/search/jql: labels in (gpu) and updated >= -400d ORDER BY key ASC|250|250|t"
is 'three requests' "$(grep -c search/jql log)" 3
unlike 'without startAt' "$(cat log)" startAt
like 'fields are asked for' "$(head -1 log)" '"customfield_10050"'
unlike 'the token is in no table' "$(pg_query "select * from audit.source, audit.load")" 'right-token'
ok 'again' audit ingest
is 'the same issues' "$(issues good)" '250|250'

config short 'token-file = token' 'page-size = 7'
ok 'short and empty pages' audit ingest
is 'are not the end' "$(issues short)" '250|250'
config silent 'token-file = token'
ok 'without isLast' audit ingest
is 'the missing token is the end' "$(issues silent)" '250|250'
config throttled 'token-file = token'
ok 'told to wait' audit ingest
is 'it waits' "$(issues throttled)" '250|250'
config moved 'token-file = token'
ok 'an issue that comes twice' audit ingest
is 'stands once' "$(issues moved)" '250|250'
is 'in its later state' "$(pg_query "select count(*) from audit.issue where summary = 'changed meanwhile'")" 1
is 'and is counted once' "$(pg_query "select rows_read, rows_kept, rows_rejected from audit.load where object like '%/moved/%'")" '250|250|0'

config same 'token-file = token'
exits 'a token that comes again is an error' 6 audit ingest
like 'which says so' "$(cat err)" 'nextPageToken came again'
is 'nothing is taken in' "$(issues same)" '0|0'
config circle 'token-file = token'
exits 'tokens in a circle too' 6 audit ingest
config empty 'token-file = token'
exits 'so are empty pages for ever' 6 audit ingest
like 'they are told' "$(cat err)" 'page after page is empty'

config warned 'token-file = token'
ok 'a warning of the site' audit ingest
is 'makes the load incomplete' "$(pg_query "select is_complete, problem from audit.load where object like '%/warned/%'")" 'f|The result was truncated.'
config open 'token-file = token'
ok 'more, but no token' audit ingest
is 'is incomplete' "$(pg_query "select is_complete from audit.load where object like '%/open/%'")" f
config none 'token-file = token'
ok 'no issue matches' audit ingest
like 'it is said' "$(cat err)" 'no issue matches its jql'
config nobody 'token-file = token'
exits 'a token that counts as nobody' 6 audit ingest
like 'is refused' "$(cat err)" 'is refused'

config good 'token-file = wrong'
exits 'a wrong token is exit status 6' 6 audit ingest
err=$(cat err)
like 'it names URL, status and section' "$err" "$site/good/rest/api/3/search/jql: the user or token of .tracker jira. is refused .HTTP 401"
unlike 'not the token' "$err$(cat out)" 'wrong-token'
is 'the issues from before stand' "$(issues good)" '250|250'
config gone 'token-file = token'
exits 'an interface switched off' 6 audit ingest
like 'is named' "$(cat err)" 'HTTP 410'
config page 'token-file = token'
exits 'a login page with status 200' 6 audit ingest
like 'is no answer' "$(cat err)" 'text/html;charset=UTF-8, not JSON'
config list 'token-file = token'
exits 'JSON without issues' 4 audit ingest
config good 'token-file = token'
sed -i '/^jql/d' gpu-audit.conf
exits 'no jql is a fault of the configuration' 3 audit ingest

config good 'token-file = token' 'team-field = gpu TEAM' 'cost-centre-field = customfield_10051'
ok 'a field by its name' audit ingest
is 'is found' "$(pg_query "select count(*) from audit.issue where team = 'ads' and cost_centre = '4711'")" 42
config good 'token-file = token' 'cost-centre-field = Cost center'
exits 'a name that two fields have' 3 audit ingest
like 'the id is asked for' "$(cat err)" 'customfield_'

# saved pages
mkdir pages
saved() {
    printf '[audit]\ncurrency = USD\n[tracker saved]\npath = pages\n' >gpu-audit.conf
    printf '%s\n' "$@" >>gpu-audit.conf
}
printf '{"issues": [{"key": "A-1", "fields": {"project": {"key": "A", "name": "Alpha"}, "customfield_1": {"value": "one"}}}, {"id": "9"}], "isLast": false, "nextPageToken": "x"}' >pages/1.json
printf '{"issues": [{"key": "A-2", "fields": {"summary": "two", "customfield_1": ["x", "y"]}}], "names": {"customfield_1": "Team"}, "isLast": true}' | gzip >pages/2.json.gz
saved 'team-field = customfield_1'
ok 'saved pages' audit ingest
is 'are read, a broken issue set aside' "$(pg_query "select key, project, team from audit.issue join audit.source using (source_id) where kind = 'tracker' and location like '%/pages' order by key")" 'A-1|A|one
A-2|A|x;y'
is 'with its place' "$(pg_query "select object, line, reason from audit.reject join audit.load using (load_id)")" '1.json|2|the issue has no key'
ok 'again' audit ingest
like 'unchanged' "$(cat out)" unchanged
saved 'team-field = customfield_2'
ok 'another mapping' audit ingest
is 'reads them anew' "$(pg_query "select count(team) from audit.issue where key like 'A-%'")" 0
like 'and tells that nothing is there' "$(cat err)" 'none of its 2 issues has a value'
rm pages/2.json.gz
ok 'the last page missing' audit ingest
is 'is incomplete' "$(pg_query "select problem from audit.load where object = '1.json' and status = 'done'")" 'no page says that it is the last: pages are missing'
printf '{"issues": [' >pages/3.json
exits 'a page cut short is exit status 4' 4 audit ingest
like 'it is named' "$(cat err)" 'pages/3.json line 1: not JSON'
is 'the issues from before stand' "$(pg_query "select key from audit.issue where key like 'A-%'")" A-1
rm pages/*
printf '{"startAt": 0, "maxResults": 1, "total": 959, "issues": [{"key": "B-1", "fields": {}}]}' >pages/1.json
ok 'a page of the older search' audit ingest
is 'tells how many are missing' "$(pg_query "select problem from audit.load where object = '1.json' and status = 'done'")" 'the pages hold 1 of 959 issues'

done_testing
