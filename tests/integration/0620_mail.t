# The mail: to a real server, over TLS and with a login, refused and unreachable; read by a MIME
# parser that is not ours.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
. "${0%/*}/../lib/reports.sh"
need openssl
reports_start

report workbook "$plain" "$work/book.xlsx"
# Larger than any buffer on the way; what it holds does not matter to a mail.
head -c 300000 /dev/urandom >>"$work/book.xlsx"

# sink NAME [OPTION...]: a mail server; $port is where it listens, $work/NAME what it got.
sink() {
    sink_dir=$work/$1
    shift
    "$python" "$top/tests/lib/smtp_sink.py" --out "$sink_dir" "$@" >"$work/sink.log" 2>&1 &
    at_exit "kill $!"
    for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
        [ -s "$sink_dir/port" ] && break
        sleep 0.2
    done
    port=$(cat "$sink_dir/port")
}
# conf SERVER [LINE...]: the configuration.
conf() {
    {
        printf '[mail]\nserver = %s\nfrom = GPU-Prüfung <audit@example.com>\n' "$1"
        printf 'to = "Doe, Jane" <jane@example.com>, ops@example.com, Łukasz Żółć <l@example.com>\n'
        printf 'cc = boss@example.com\nbcc = archive@example.com\nsubject-prefix = [FinOps]\norganisation = Zürich AG\n'
        shift
        [ $# -eq 0 ] || printf '%s\n' "$@"
    } >"$work/mail.conf"
}
mail() {
    report mail "$plain" "$work/book.xlsx" --config "$work/mail.conf" --as-of 2026-10-05T08:00:00Z "$@"
}

sink plain
conf "smtp://127.0.0.1:$port"
ok 'a mail is sent' mail
ok 'and written to a file' mail --dry-run
ok 'the file holds what was sent, to the byte' cmp "$work/plain/message-1.eml" "$work/book.xlsx.eml"
ok 'again' mail
ok 'it is the same mail' cmp "$work/plain/message-1.eml" "$work/plain/message-2.eml"
is 'the envelope has everybody' "$(grep -c '^to ' "$work/plain/message-1.envelope")" 5
like 'also those whom no header names' "$(cat "$work/plain/message-1.envelope")" '^to .*archive@example.com'

cat >"$work/read.py" <<'END'
import email, email.policy, hashlib, sys
raw = open(sys.argv[1], "rb").read()
message = email.message_from_bytes(raw, policy=email.policy.default)
print("defects", sum(len(part.defects) for part in message.walk()))
print("longest", max(len(line) for line in raw.split(b"\r\n")) <= 78, "ascii", max(raw) < 128)
print("bare", raw.replace(b"\r\n", b"").count(b"\n") + raw.replace(b"\r\n", b"").count(b"\r"))
print("from", message["From"], "| to", message["To"], "| cc", message["Cc"], "| bcc", message["Bcc"])
print("subject", message["Subject"])
print("date", message["Date"], "id", message["Message-ID"], "organisation", message["Organization"])
print("parts", *(part.get_content_type() for part in message.walk()))
for part in message.walk():
    if part.get_filename():
        print("file", part.get_filename(), part["Content-Transfer-Encoding"], hashlib.sha256(part.get_content()).hexdigest())
print("plain", "629,604" in message.get_body(("plain",)).get_content(), "html", "629,604" in message.get_body(("html",)).get_content())
END
"$python" "$work/read.py" "$work/plain/message-1.eml" >"$work/said"
like 'it has no defects' "$(cat "$work/said")" '^defects 0$'
like 'its lines are short and ASCII' "$(cat "$work/said")" '^longest True ascii True$'
like 'every line ends in CR LF' "$(cat "$work/said")" '^bare 0$'
like 'names and addresses are whole' "$(cat "$work/said")" \
    '^from GPU-Prüfung <audit@example.com> \| to "Doe, Jane" <jane@example.com>, ops@example.com, Łukasz Żółć <l@example.com> \| cc boss@example.com \| bcc None$'
like 'the subject says what it is about' "$(cat "$work/said")" '^subject \[FinOps\] GPU audit 2026Q3: USD 629,604, 23\.8% idle, USD 25,038 a month to save$'
like 'date and id are stable' "$(cat "$work/said")" '^date Mon, 05 Oct 2026 08:00:00 \+0000 id <gpu-audit\.2026Q3\.r1\.[0-9a-f]{24}@example\.com> organisation Zürich AG$'
like 'text, HTML and workbook are where programs look for them' "$(cat "$work/said")" \
    '^parts multipart/mixed multipart/alternative text/plain text/html application/vnd.openxmlformats-officedocument.spreadsheetml.sheet$'
like 'the workbook arrives as it is' "$(cat "$work/said")" "^file book.xlsx base64 $(sha256sum "$work/book.xlsx" | cut -d' ' -f1)$"
like 'both texts have the figures' "$(cat "$work/said")" '^plain True html True$'

# TLS and a login.
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key.pem" -out "$work/cert.pem" -days 2 -subj /CN=localhost \
    -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' >/dev/null 2>&1
printf 'b9-secret-word' >"$work/password"
chmod 600 "$work/password"
sink tls --tls "$work/cert.pem" "$work/key.pem" --user finops --password b9-secret-word
conf "smtp://127.0.0.1:$port" 'user = finops' "password-file = $work/password" "ca-file = $work/cert.pem"
ok 'a mail is sent with STARTTLS and a login' mail
like 'over TLS, as that user' "$(tr '\n' ' ' <"$work/tls/message-1.envelope")" 'user finops tls yes'
conf "smtp://127.0.0.1:$port" 'user = finops' "password-file = $work/password"
exits 'a certificate nobody vouches for is refused' 6 mail
like 'with a hint' "$(cat "$work/err")" 'ca-file'
printf 'wrong-b9-word' >"$work/password"
conf "smtp://127.0.0.1:$port" 'user = finops' "password-file = $work/password" "ca-file = $work/cert.pem"
exits 'a wrong password is an error' 6 mail -vv
like "that has the server's words" "$(cat "$work/err")" '535 5\.7\.8 authentication failed'
unlike 'and not the password' "$(cat "$work/err")" 'wrong-b9-word|d3Jvbmct'
sink implicit --tls "$work/cert.pem" "$work/key.pem" --implicit
conf "smtps://127.0.0.1:$port" "ca-file = $work/cert.pem"
ok 'a mail is sent with TLS from the first byte' mail

# A login never goes in clear text.
sink clear --user finops --password wrong-b9-word
conf "smtp://127.0.0.1:$port" 'user = finops' "password-file = $work/password"
exits 'no STARTTLS, no login' 6 mail
unlike 'nothing was given away' "$(cat "$work/clear/session.log")" 'AUTH'

# Refusals.
sink refuse --refuse RCPT=550
conf "smtp://127.0.0.1:$port"
exits 'a refused recipient is an error' 6 mail
like 'that names the recipient' "$(cat "$work/err")" 'refused "RCPT TO:<jane@example.com>"'
like "and has the server's words" "$(cat "$work/err")" '550 refused by the test'
sink later --refuse MAIL=451
conf "smtp://127.0.0.1:$port"
exits 'not now is an error' 6 mail
like 'that says when to try again' "$(cat "$work/err")" 'again in some minutes'
sink small --limit 1000
conf "smtp://127.0.0.1:$port"
exits 'too large is an error' 6 mail
conf 'smtp://127.0.0.1:9'
exits 'no server is an error' 6 mail
like 'with a hint' "$(cat "$work/err")" 'Check server'

# Configuration.
conf 'smtp://user:b9@127.0.0.1:25'
exits 'a password in the address is refused' 3 mail
conf 'http://127.0.0.1'
exits 'another protocol is refused' 3 mail
conf 'smtp://127.0.0.1:9' 'starttls = maybe'
exits 'starttls is no, yes or required' 3 mail
printf '[mail]\nserver = smtp://127.0.0.1:9\nfrom = a@example.com\n' >"$work/mail.conf"
exits 'nobody to write to is an error' 3 mail --dry-run
printf '[mail]\nfrom = a@example.com\nto = a b@example.com\n' >"$work/mail.conf"
exits 'an address that is none is an error' 3 mail --dry-run
like 'that names file and line' "$(cat "$work/err")" 'mail\.conf line 3'

# Outsiders' strings never become headers.
conf 'smtp://127.0.0.1:9'
ok 'a mail about hostile names is written' report mail "$hostile" "$work/book.xlsx" --config "$work/mail.conf" --dry-run
"$python" "$work/read.py" "$work/book.xlsx.eml" >"$work/said"
like 'nobody was added' "$(cat "$work/said")" 'bcc None$'
like 'a draft says so in the subject' "$(cat "$work/said")" '^subject \[FinOps\] DRAFT GPU audit'
unlike 'no markup came through' "$("$python" -c "
import email, email.policy, sys
print(email.message_from_binary_file(open(sys.argv[1], 'rb'), policy=email.policy.default).get_body(('html',)).get_content())" "$work/book.xlsx.eml")" '<script'

done_testing
