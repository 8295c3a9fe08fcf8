# The workbook: its parts against golden ones, whole and the same twice, and nothing from outside
# that is more than text.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
. "${0%/*}/../lib/reports.sh"
need unzip xmllint
reports_start

ok 'the workbook is written' report workbook "$plain" "$work/a.xlsx"
sleep 2 # the clock's seconds must not be in it
ok 'and again' report workbook "$plain" "$work/b.xlsx"
ok 'both are the same bytes' cmp "$work/a.xlsx" "$work/b.xlsx"
is 'nothing else is left in the folder' "$(ls "$work" | grep -c 'xlsx')" 2
is 'it has the mode of an ordinary file' "$(umask 022; report workbook "$plain" "$work/m.xlsx"; stat -c %a "$work/m.xlsx")" 644

# Golden parts: a folder of XML, one part a line-broken file.
mkdir "$work/parts"
(cd "$work/parts" && unzip -q "$work/a.xlsx")
(cd "$work/parts" && find . -type f | sort) | sed 's|^\./||' >"$work/names"
while read -r part; do
    name=$(printf '%s' "$part" | tr '/' '+')
    xmllint --format "$work/parts/$part" >"$work/part.xml" 2>/dev/null
    same "part $part" "$work/part.xml" "$top/tests/golden/seed/$name"
done <"$work/names"
is 'no golden part is without its like' "$(tr '/' '+' <"$work/names" | sort)" "$(ls "$top/tests/golden/seed" | sort)"

ok 'a workbook of hostile texts is written' report workbook "$hostile" "$work/h.xlsx"
cat >"$work/read.py" <<'END'
import sys, openpyxl
book = openpyxl.load_workbook(sys.argv[1])
texts, lines = [], []
for sheet in book.worksheets:
    for row in sheet.iter_rows():
        for cell in row:
            if cell.data_type == "f" or cell.hyperlink is not None:
                lines.append(f"{sheet.title} {cell.coordinate} is a {cell.data_type}: {cell.value!r}")
            if isinstance(cell.value, str):
                texts.append(cell.value)
                if len(cell.value.encode("utf-16-le")) // 2 > 32767:
                    lines.append(f"{sheet.title} {cell.coordinate} is too long")
print("bad", len(lines), *lines[:3])
print("sheets", len(book.worksheets))
for wanted in ("+SUM(A1)", "@SUM(1)", "-2+3", "\t=cmd()", "</script><script>alert(1)</script>", "🚀🤖 rocket",
               "العربية مشروع", "{{currency}} %s &amp;", '=HYPERLINK("http://198.51.100.9/","x")'):
    print("text", wanted.strip(), sum(wanted in t for t in texts) > 0)
print("escape", any("bell\u2407 esc\u241b _x0041_" in t for t in texts))
print("break", any(t.startswith("=1+1\u240d\nBcc") for t in texts))
print("cut", any(t.startswith("long long") and t.endswith("too long for a cell)") for t in texts))
print("draft", sum(any("DRAFT" in str(c.value) for r in s.iter_rows(max_row=3) for c in r) for s in book.worksheets))
END
"$python" "$work/read.py" "$work/h.xlsx" >"$work/said"
is 'no cell is a formula or a link' "$(grep '^bad' "$work/said")" 'bad 0'
is 'every sheet is there' "$(grep '^sheets' "$work/said")" 'sheets 9'
is 'hostile texts come through as text' "$(grep -c '^text.*True$' "$work/said")" 9
like 'control characters are pictures, escapes are escaped' "$(cat "$work/said")" '^escape True'
like 'a line break cannot hide' "$(cat "$work/said")" '^break True'
like 'what is too long is cut with a note' "$(cat "$work/said")" '^cut True'
like 'a draft says so on every sheet' "$(cat "$work/said")" '^draft 9'
"$python" "$work/read.py" "$work/a.xlsx" >"$work/said"
like 'and what is final on none' "$(cat "$work/said")" '^draft 0'

# Figures of the workbook are those of the database.
cat >"$work/value.py" <<'END'
import sys, openpyxl
sheet = openpyxl.load_workbook(sys.argv[1])["Ledger"]
for row in sheet.iter_rows(values_only=True):
    if row[0] == "provisioned":
        print(f"{row[1]:.1f}|{row[2]:.2f}")
        break
END
is "the ledger's sum is that of the figures" "$("$python" "$work/value.py" "$work/a.xlsx")" \
    "$(pg_query "SELECT round(provisioned_gpu_hours, 1) || '|' || round(gpu_cost, 2) FROM audit.audit_figure WHERE audit_id = $plain AND dimension = 'total'")"

# What stands there stays until the new file is whole.
echo before >"$work/kept.xlsx"
exits 'an audit that is not there is an error' 7 report workbook 4711 "$work/kept.xlsx"
like 'and says so' "$(cat "$work/err")" 'no audit 4711'
is 'the file from before is untouched' "$(cat "$work/kept.xlsx")" before
exits 'a place that cannot be written is an error' 7 report workbook "$plain" /proc/none/a.xlsx
like 'that names it' "$(cat "$work/err")" '/proc/none'

done_testing
