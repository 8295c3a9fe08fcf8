# Binary COPY and queries against a real server: numbers, text, types, failures, interruption.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need python3
pg_start
probe=$(command -v db_probe || echo "$PWD/tests/lib/db_probe")
[ -x "$probe" ] || skip_all "tests/lib/db_probe is not built: make tests/lib/db_probe"

# Numbers of every kind; PostgreSQL's own reading of the same text is what they must equal, scale
# and all. Lengths and exponents go to the limits of the type.
python3 - >"$work/numbers" <<'END'
import random
random.seed(7)
fixed = ["0", "-0", "0.0", "-0.000", "1", "-1", "10", "9999", "10000", "10001", "99999999", "100000000", ".5", "5.", "-.25",
         "+7", "007", "000.100", "1e0", "1E5", "1e-5", "1.50e3", "1.50e-3", "12345678901234567890123456789012345678",
         "0.30000000000000000001", "12345678901234567.89", "-99999999999999999999999999999999999999.99999999999999999999",
         "1e131071", "1e-16383", "0e5", "0e-5", "100e-2", "0.00001e5", "9.99e37", "1" + "0" * 3000, "0." + "0" * 3000 + "1"]
print("\n".join(fixed))
for n in range(20000):
    digits = "".join(random.choice("0123456789") for _ in range(random.choice((1, 2, 4, 5, 8, 17, 18, 19, 38, 60))))
    if random.random() < .3:
        digits = digits.rstrip("0") + "0" * random.randint(1, 9)
    point = random.randint(0, len(digits))
    text = random.choice(("", "", "-", "+")) + (digits[:point] + "." + digits[point:] if random.random() < .8 else digits)
    if random.random() < .3:
        text += random.choice("eE") + random.choice(("", "-", "+")) + str(random.randint(0, 60))
    print(text)
for size in (4000, 11990):
    print("-" + "".join(random.choice("0123456789") for _ in range(size)) + ".25")
END
ok "numbers are copied" sh -c "'$probe' '$pg_url' numeric <'$work/numbers'"
is "none is refused" "$(grep -c refused "$work/out")" 0
is "all are there" "$(pg_query "SELECT count(*) FROM public.probe_numeric")" "$(grep -c . "$work/numbers")"
is "each equals PostgreSQL's own reading, scale and all" "$(pg_query "SELECT count(*) FROM public.probe_numeric
    WHERE number IS DISTINCT FROM number_text::numeric OR number::text <> number_text::numeric::text")" 0
is "none differs by a byte" "$(pg_query "SELECT count(*) FROM public.probe_numeric
    WHERE numeric_send(number) <> numeric_send(number_text::numeric)")" 0
pg_query "DROP TABLE public.probe_numeric"
printf '1\n1e131072\n1e-16384\nx\n2\n' >"$work/numbers"
ok "numbers beyond the type are refused one by one" sh -c "'$probe' '$pg_url' numeric <'$work/numbers'"
is "with their text" "$(grep -c refused "$work/out")" 3
is "and the rows around them stay" "$(pg_query "SELECT string_agg(number_text, ',' ORDER BY number) FROM public.probe_numeric")" 1,2

ok "every byte value is copied" "$probe" "$pg_url" text
is "ASCII stays, NUL and lone bytes become U+FFFD" "$(pg_query "SELECT count(*) FROM public.probe_text WHERE kind = 1 AND
    value <> overlay('abcdefghij' PLACING CASE WHEN byte BETWEEN 1 AND 127 THEN chr(byte) ELSE chr(65533) END FROM other + 1 FOR 1)")" 0
is "all of them" "$(pg_query "SELECT count(*) FROM public.probe_text WHERE kind = 1")" 2560
# A pair is a character of two bytes or two bytes on their own.
is "pairs" "$(pg_query "SELECT count(*) FROM public.probe_text WHERE kind = 2 AND value <>
    CASE WHEN byte BETWEEN 194 AND 223 AND other BETWEEN 128 AND 191 THEN chr((byte - 192) * 64 + other - 128)
    ELSE CASE WHEN byte BETWEEN 1 AND 127 THEN chr(byte) ELSE chr(65533) END ||
         CASE WHEN other BETWEEN 1 AND 127 THEN chr(other) ELSE chr(65533) END END")" 0

ok "types are copied" "$probe" "$pg_url" types
is "each as it was" "$(pg_query "SET timezone TO 'UTC'; TABLE public.probe_types")" \
    "t|-32768|2147483647|-9223372036854775808|0.5|-1e+300|2026-07-01 00:00:00+00|2026-07-01|1969-12-31|||1999-12-31 23:59:59+00"
is "NULL is not empty text" "$(pg_query "SELECT j IS NULL, k IS NULL FROM public.probe_types")" "t|f"

ok "jsonb is copied" "$probe" "$pg_url" json
is "numbers stay exact" "$(pg_query "SELECT value ->> 'a' FROM public.probe_json WHERE no = 0")" 0.30000000000000000001
is "what jsonb refuses is U+FFFD" "$(pg_query "SELECT string_agg(coalesce(value ->> 'nul', value #>> '{}'), ' | ' ORDER BY no)
    FROM public.probe_json WHERE no > 0")" 'x�y | � | � 😀 | \u0000 | �x | � | "A | �😀'

ok "failures leave a session that works" "$probe" "$pg_url" failures
cat >"$work/wanted" <<'END'
short row: 0
good row: 1
aborted: 1
commit: 0 database: the transaction had failed and was rolled back
wrong columns: 0
no table: 0 42P01
row: 1
refused: 0 22P03
two statements: 1
second fails: 0 22012
END
same "each is told" "$work/out" "$work/wanted"
is "and nothing is half done" "$(pg_query "SELECT to_regclass('public.probe_failures') IS NULL, count(*) FROM public.probe_after")" "t|2"

# interrupted MODE SIGNAL: status and tenths of a second until it ended.
interrupted() {
    "$probe" "$pg_url" "$1" >"$work/$1.out" 2>"$work/$1.err" &
    probe_pid=$!
    tries=0
    until grep -q . "$work/$1.out" || [ $((tries += 1)) -gt 100 ]; do sleep 0.05; done
    sleep 0.3
    began=$(date +%s%N)
    kill "-$2" "$probe_pid"
    wait "$probe_pid"
    probe_status=$?
    probe_tenths=$((($(date +%s%N) - began) / 100000000))
}
# A background job of a shell ignores SIGINT unless the program asks for it, which the probe does.
interrupted sleep INT
is "SIGINT ends a long query with 130" "$probe_status" 130
ok "within a second" [ "$probe_tenths" -lt 10 ]
is "the query does not run on" "$(pg_query "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'db_probe' AND state = 'active'")" 0
is "what it had done is rolled back" "$(pg_query "SELECT to_regclass('public.probe_sleep') IS NULL")" t
interrupted endless TERM
is "SIGTERM ends a COPY with 130" "$probe_status" 130
ok "within a second" [ "$probe_tenths" -lt 10 ]
is "and its table is gone" "$(pg_query "SELECT to_regclass('public.probe_endless') IS NULL")" t

# The server goes away in the middle.
"$probe" "$pg_url" sleep >"$work/gone.out" 2>"$work/gone.err" &
probe_pid=$!
tries=0
until grep -q sleeping "$work/gone.out" || [ $((tries += 1)) -gt 100 ]; do sleep 0.05; done
sleep 0.3
pg_query "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'db_probe'" >/dev/null
wait "$probe_pid"
is "a connection that the server ends is error 5" $? 5
like "with the server's own words" "$(cat "$work/gone.err")" 'terminating connection due to administrator command.*57P01'

exits "a password never stands in an error" 3 "$probe" "postgresql://u:hunter2@[::1/x" types
unlike "of a malformed URL" "$(cat "$work/out" "$work/err")" hunter2
exits "nor of a malformed string" 3 "$probe" "host=x password=hunter2 user" types
unlike "of keywords" "$(cat "$work/out" "$work/err")" hunter2
exits "nor of one that does not answer" 5 "$probe" "postgresql://u:hunter2@/x?host=$work&port=1" types
unlike "at all" "$(cat "$work/out" "$work/err")" hunter2
like "which names the socket" "$(cat "$work/err")" "$work/.s.PGSQL.1"

done_testing
