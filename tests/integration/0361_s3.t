# Bills from a bucket and from a signed address: a server that checks every signature, pages its
# listings, is slow, cuts bodies and changes objects.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"

need python3 openssl curl
pg_start
cd "$work" || exit 99
unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE AWS_REGION AWS_DEFAULT_REGION AWS_CONFIG_FILE \
    AWS_SHARED_CREDENTIALS_FILE http_proxy https_proxy
HOME=$work TMPDIR=$work/tmp
export HOME TMPDIR
mkdir -p s3/bills/focus s3/web tmp
secret='wJalrXUtnFEMI+K7MDENG/bPxRfiCYEXAMPLEKEY'
# rules [JSON MEMBER...]: what the server does from now on.
rules() {
    {
        printf '{"keys": {"AKIAEXAMPLE": "%s"}' "$secret"
        [ $# -eq 0 ] || printf ', %s' "$@"
        printf '}\n'
    } >control.tmp
    mv control.tmp control.json
    : >s3.log
}
rules
background python3 "$top/tests/lib/s3_server.py" "$work/port" "$work/s3.log" "$work/s3" "$work/control.json"
wait_for "$work/port"
port=$(cat port)

header='BilledCost,BillingCurrency,BillingPeriodStart,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,ConsumedQuantity,ConsumedUnit,EffectiveCost,ProviderName,ResourceId,ServiceName,x_UsageType'
# rows PERIOD COUNT COST
rows() {
    echo "$header"
    awk -v n="$2" -v p="$1" -v c="$3" 'BEGIN { for (i = 0; i < n; i++)
        printf "%s,USD,%s-01,Usage,%s-%02dT%02d:00:00Z,%s-%02dT%02d:30:00Z,1,Hours,%s,AWS,i-%d,AmazonEC2,BoxUsage:p4d.24xlarge\n",
            c, p, p, i % 28 + 1, i % 24, p, i % 28 + 1, i % 24, c, i * 7919 % 10007 }'
}
# config [LINE...]
config() {
    printf '[billing b]\nformat = focus\n' >gpu-audit.conf
    printf '%s\n' "$@" >>gpu-audit.conf
}
bucket() {
    config 'path = s3://bills/focus' "endpoint = http://127.0.0.1:$port" "$@"
}
ingest() {
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter 2026Q3 ingest "$@"
}
facts() {
    pg_query "select period, sum(billed_cost), count(*) from audit.billing_charge join audit.slice using (slice_id)
        group by 1 order by 1" | tr '\n' ' '
}
last_load() {
    pg_query "select coalesce(max(load_id), 0) from audit.load join audit.slice using (slice_id) join audit.source using (source_id)
        where kind = 'billing'"
}
got() {
    grep -c "^GET /bills/focus[^?]* 20" s3.log
}

rows 2026-07 2000 1.25 | gzip -n >s3/bills/focus/july-1.csv.gz
rows 2026-07 100 0.5 >'s3/bills/focus/july 2+ä (b)=&%.csv'
rows 2026-08 300 2 | gzip -n >s3/bills/focus/august.csv.gz
rows 2026-08 300 1000 >s3/bills/focus-old.csv
echo 'no bill' >s3/bills/focus/README.txt
whole='2026-07|2550.00|2100 2026-08|600|300 '

# ---- credentials

bucket 'credentials = env'
exits 'no credentials' 3 ingest
like 'are told with what to set' "$(cat err)" 'the environment has no AWS_ACCESS_KEY_ID'
AWS_ACCESS_KEY_ID=AKIAEXAMPLE AWS_SECRET_ACCESS_KEY=wrong
export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
exits 'a wrong secret' 6 ingest
like 'is told as such' "$(cat err)" 's3://bills/focus: status 403 \(SignatureDoesNotMatch\)'
like 'with the next step' "$(cat err)" 'The secret does not belong to the access key'
AWS_ACCESS_KEY_ID=AKIANOBODY
exits 'an unknown key' 6 ingest
like 'is told' "$(cat err)" 'S3 does not know this access key'
AWS_ACCESS_KEY_ID=AKIAEXAMPLE AWS_SECRET_ACCESS_KEY=$secret

# ---- listing and loading

rules '"page": 2'
ok 'a bucket listed in pages of two keys' ingest -vv
is 'loads whole, and nothing of a folder with a longer name' "$(facts)" "$whole"
is 'in three pages' "$(grep -c '^GET /bills/?.*list-type=2' s3.log)" 3
unlike 'no secret is logged' "$(cat out err s3.log)" "$secret"
is 'objects stand under their address' "$(pg_query "select object, size_bytes > 0, sha256 ~ '^etag:\"[0-9a-f]{32}\"$' from audit.load
    where status = 'done' and object ~ 'july' order by 1")" 's3://bills/focus/july 2+ä (b)=&%.csv|t|t
s3://bills/focus/july-1.csv.gz|t|t'
is 'no file is left' "$(ls -A tmp)" ''
before=$(last_load)
rules '"page": 2'
ok 'again' ingest
is 'nothing is fetched' "$(got)" 0
is 'nothing is loaded' "$(last_load)" "$before"

# libcurl's own signer, in this version or the newest: where it does as well, s3_sign.c may go.
by_curl() {
    curl -s -o /dev/null -w '%{http_code}' --aws-sigv4 aws:amz:us-east-1:s3 -u "AKIAEXAMPLE:$secret" \
        -H 'x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' "http://127.0.0.1:$port$1"
}
diag "libcurl $(curl --version | sed -n '1s/^curl \([0-9.]*\).*/\1/p') signs a plain key: $(by_curl /bills/focus/august.csv.gz), a key with escapes: $(
    by_curl /bills/focus/july%202%2B%C3%A4%20%28b%29%3D%26%25.csv), a query out of order: $(by_curl '/bills/?prefix=focus&list-type=2')"

bucket 'addressing = virtual' "endpoint = http://localhost:$port"
sed -i '/127.0.0.1/d' gpu-audit.conf
rules
pg_query 'update audit.load set program_version = $$older$$'
ok 'the bucket as part of the host name' ingest
like 'is asked so' "$(cat s3.log)" '^GET /focus/august.csv.gz 200'
is 'the same comes out' "$(facts)" "$whole"
bucket

# ---- troubles on the way

anew() {
    pg_query "update audit.load set program_version = 'older'"
}
anew
rules '"slow": 2' '"cut": [700, 40]'
ok 'SlowDown and bodies cut again and again' ingest
is 'the load comes out whole' "$(facts)" "$whole"
like 'the rest was asked for, on condition that it is the same' "$(cat s3.log)" 'july-1.csv.gz 206 range=bytes=[1-9][0-9]*- match="'
rows 2026-07 1900 3 | gzip -n >next.gz
rules "\"change\": [\"focus/july-1.csv.gz\", \"$work/next.gz\"]"
anew
ok 'an object that changes in the middle' ingest
is 'is fetched again, all of it' "$(facts)" '2026-07|5750.0|2000 2026-08|600|300 '
like 'since the condition failed' "$(cat s3.log)" 'july-1.csv.gz 412'
rules
ok 'and is then known' ingest
is 'as what it became' "$(got)" 0
rules '"ahead": 3600'
exits 'clocks apart' 6 ingest
like 'are named as such' "$(cat err)" 'the clock of this machine is (59|60) minutes behind that of S3'
rules '"region": "eu-central-1"'
exits 'the wrong region' 6 ingest
like 'is told with the right one' "$(cat err)" 'Set region = eu-central-1 in \[billing b\]'
bucket 'region = eu-central-1'
ok 'which works' ingest
rules '"token": "session-token-123"'
exits 'a session without its token' 6 ingest
like 'is told' "$(cat err)" 'InvalidToken'
AWS_SESSION_TOKEN=session-token-123
export AWS_SESSION_TOKEN
ok 'with its token' ingest -vv
unlike 'which is not logged' "$(cat out err)" 'session-token-123'
unset AWS_SESSION_TOKEN
rules '"archived": ["focus/august.csv.gz"]'
touch s3/bills/focus/august.csv.gz
rows 2026-08 300 7 | gzip -n >s3/bills/focus/august.csv.gz
exits 'an object in an archive' 8 ingest
like 'is told with how to get it' "$(cat err)" 'august.csv.gz: status 403 \(InvalidObjectState\)'
is 'its month stays as it was' "$(facts)" '2026-07|5750.0|2000 2026-08|600|300 '
rules
ok 'restored' ingest
is 'it loads' "$(facts)" '2026-07|5750.0|2000 2026-08|2100|300 '
is 'and the failure is over' "$(pg_query "select count(*) from audit.load where status = 'failed'")" 0
config 'path = s3://bills/focu' "endpoint = http://127.0.0.1:$port"
exits 'a prefix that is none' 3 ingest
like 'is told with what there is' "$(cat err)" 'There is s3://bills/focus-old.csv'
config 'path = s3://nothing/x' "endpoint = http://127.0.0.1:$port"
exits 'no bucket' 6 ingest
like 'is told' "$(cat err)" 'NoSuchBucket'
config 'path = s3://bills/*/july*.csv' "endpoint = http://127.0.0.1:$port"
ok 'a pattern' gpu-audit --config gpu-audit.conf --database "$pg_url" doctor
like 'finds what matches' "$(cat out)" '^ok +billing b +1 file, '
bucket 'credentials = everywhere'
exits 'a kind of credentials that is none' 3 ingest
like 'is told' "$(cat err)" 'credentials is not env, file:PATH, profile:NAME, instance or none'

# ---- where credentials come from

unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
mkdir -p .aws
printf '[default]\naws_access_key_id = AKIANOBODY\naws_secret_access_key = x\n[finops]\naws_access_key_id=AKIAEXAMPLE\naws_secret_access_key = %s\n' "$secret" >.aws/credentials
printf '[profile finops]\nregion = eu-west-3\n[profile sso]\nsso_session = x\n' >.aws/config
rules '"region": "eu-west-3"'
bucket 'credentials = profile:finops'
ok 'a profile, with its region' ingest
bucket 'credentials = profile:sso'
exits 'a profile without keys' 3 ingest
like 'is told with a way' "$(cat err)" 'aws configure export-credentials --profile sso'
bucket 'credentials = profile:none'
exits 'no such profile' 3 ingest
bucket
exits 'the default profile is taken without more' 6 ingest
like 'and named in an error' "$(cat err)" 'profile default'
cp .aws/credentials keys
sed -i '1,3d' keys
sed -i 's/finops/default/' keys
rules
bucket 'credentials = file:keys'
ok 'a file of its own, beside the configuration' ingest
rules '"token": "role-token"' "\"role\": {\"name\": \"audit\", \"key\": \"AKIAEXAMPLE\", \"secret\": \"$secret\", \"token\": \"role-token\", \"expiration\": \"2099-01-01T00:00:00Z\"}"
bucket 'credentials = instance'
AWS_EC2_METADATA_SERVICE_ENDPOINT=http://127.0.0.1:$port
export AWS_EC2_METADATA_SERVICE_ENDPOINT
ok "the machine's role" ingest -vv
unlike 'whose secrets are not logged' "$(cat out err)" "role-token|metadata-token-123|wJalrX"
sed 's/2099/2020/' control.json >control.tmp && mv control.tmp control.json
: >s3.log
rows 2026-08 300 8 | gzip -n >s3/bills/focus/august.csv.gz
ok 'a role whose keys end is asked again' ingest
is 'before each request' "$(grep -c 'PUT /latest/api/token' s3.log)" 3
bucket 'credentials = file:keys'

# ---- doctor

rules
ok 'the doctor lists and fetches a little' gpu-audit --config gpu-audit.conf --database "$pg_url" --quarter 2026Q3 doctor
like 'and says what there is' "$(cat out)" '^ok +billing b +3 files, [0-9]+ KiB'
like 'of one object a few bytes' "$(cat s3.log)" '^GET /bills/focus/july[^ ]* 206 range=bytes=0-15'
is 'of no other any' "$(got)" 1

# ---- killed

rows 2026-07 3000 4 | gzip -n >s3/bills/focus/july-1.csv.gz
rules '"stall": 30'
ingest >/dev/null 2>&1 &
child=$!
until grep -q july-1.csv.gz s3.log; do sleep 0.05; done
kill -9 "$child"
wait "$child" 2>/dev/null
is 'killed while it fetches: nothing is left behind' "$(ls -A tmp)" ''
rules
ok 'the same command again' ingest
is 'gives the same' "$(facts)" '2026-07|12050.0|3100 2026-08|2400|300 '

# ---- one signed address, over TLS

openssl req -x509 -newkey rsa:2048 -nodes -keyout tls.key -out tls.pem -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost,IP:127.0.0.1 >/dev/null 2>&1
background python3 "$top/tests/lib/s3_server.py" "$work/tls-port" "$work/tls.log" "$work/s3" "$work/control.json" tls.pem tls.key
wait_for "$work/tls-port"
tls_port=$(cat tls-port)
rows 2026-09 500 5 | gzip -n >s3/web/september.csv.gz
signature='Zm9vYmFy%2Fsecret%2B1%3D'
rules '"sig": "Zm9vYmFy/secret+1="'
printf 'https://localhost:%s/web/september.csv.gz?sv=2026-01-01&sig=%s\n' "$tls_port" "$signature" >address
config 'url-file = address'
exits 'a certificate nobody vouches for' 6 ingest -vv
cp err all
like 'is refused, with the way out' "$(cat err)" 'Set ca-file in \[billing b\]'
config 'url-file = address' 'ca-file = tls.pem'
ok 'with its authority' ingest -vv
cat err out >>all
is 'the bill loads' "$(facts | grep -o '2026-09[^ ]*')" '2026-09|2500|500'
: >tls.log
ok 'again' ingest -vv
is 'one byte says that it is known' "$(grep -c GET tls.log) $(grep -c 'range=bytes=0-0' tls.log)" '1 1'
rules '"sig": "Zm9vYmFy/secret+1="' '"cut": [1000, 3]'
anew
ok 'cut on its way' ingest -vv
is 'it comes out whole' "$(facts | grep -o '2026-09[^ ]*')" '2026-09|2500|500'
rules '"sig": "another"'
exits 'a signature that has ended' 6 ingest -vv
cat err out >>all
like 'is told' "$(cat err)" 'web/september.csv.gz: status 403'
like 'with the next step' "$(cat err)" 'make a new one'
unlike 'the secret is in no message' "$(cat all)" 'Zm9vYmFy|sig='
"$pg_bin/pg_dump" -a -n audit "$pg_url" >dump
is 'nor in the database' "$(grep -cE 'Zm9vYmFy|sig=|secret%2B' dump)" 0
like 'where the address stands without it' "$(cat dump)" 'https://localhost:[0-9]+/web/september.csv.gz	'
config "path = https://localhost:$tls_port/web/september.csv.gz?sv=1&sig=$signature" 'ca-file = tls.pem'
rules '"sig": "Zm9vYmFy/secret+1="'
ok 'the address in the configuration itself' ingest -vv
unlike 'stays as secret' "$(cat err out)" 'Zm9vYmFy|sig='
printf 'PK\003\004' >s3/web/bill
rules '"sig": "s-i-g-n-e-d"'
config "path = https://localhost:$tls_port/web/bill?sig=s-i-g-n-e-d" 'ca-file = tls.pem'
exits 'a zip file by another name' 4 ingest
like 'is told' "$(cat err)" 'web/bill" is a zip file, and its name does not end in .zip'
rows 2026-07 40 2 >july.csv
python3 -c 'import zipfile; zipfile.ZipFile("s3/web/bill.zip", "w", zipfile.ZIP_DEFLATED).write("july.csv")'
config "path = https://localhost:$tls_port/web/bill.zip?sig=s-i-g-n-e-d" 'ca-file = tls.pem'
ok 'a zip file by its own' ingest
is 'loads its members' "$(pg_query "select rows_kept, regexp_replace(object, '.*/web/', ''), sha256 ~ '^etag:' from audit.load where object ~ 'bill.zip'")" \
    '40|bill.zip/july.csv|t'
ok 'again' ingest
like 'it is known' "$(cat err)" 'unchanged'
config 'path = http://192.0.2.1/x?sig=abcdefghijkl'
exits 'a signature never goes over a line in the clear' 3 ingest
config 'path = gs://bucket/x'
exits 'an address of another kind' 3 ingest
like 'is told with what there is' "$(cat err)" 'Known are s3://BUCKET/PREFIX and https://'
done_testing
