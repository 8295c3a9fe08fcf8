# The page: one file, no scripts, nothing from outside that is markup.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
. "${0%/*}/../lib/reports.sh"
reports_start

ok 'the page is written' report page "$plain" "$work/a.html"
ok 'and again' report page "$plain" "$work/b.html"
ok 'both are the same bytes' cmp "$work/a.html" "$work/b.html"
same 'it is the golden one' "$work/a.html" "$top/tests/golden/seed.html"

ok 'a page of hostile texts is written' report page "$hostile" "$work/h.html"
cat >"$work/read.py" <<'END'
import sys
from html.parser import HTMLParser
class Reader(HTMLParser):
    void = {"meta", "rect", "br", "i"}
    def __init__(self):
        super().__init__()
        self.tags, self.open, self.faults, self.text = {}, [], [], []
    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.faults += [f"{name} on {tag}" for name, value in attrs if name.startswith("on") or name in ("src", "srcset")]
        self.faults += [value for name, value in attrs if name == "href" and not value.startswith("#")]
        if tag != "meta":
            self.open.append(tag)
    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"unmatched {tag}")
    def handle_data(self, data):
        self.text.append(data)
reader = Reader()
reader.feed(open(sys.argv[1], encoding="utf-8").read())
print("scripts", reader.tags.get("script", 0))
print("faults", len(reader.faults), reader.faults[:3], reader.open)
print("svg", reader.tags.get("svg"), "tables", reader.tags.get("table"))
print("draft", any("DRAFT" in t for t in reader.text))
END
"$python" "$work/read.py" "$work/h.html" >"$work/said"
like 'it has no script' "$(cat "$work/said")" '^scripts 0$'
like 'its elements match, and nothing is loaded from elsewhere' "$(cat "$work/said")" '^faults 0 \[\] \[\]$'
like 'it has its pictures and tables' "$(cat "$work/said")" '^svg 2 tables 8$'
like 'a draft says so' "$(cat "$work/said")" '^draft True$'
"$python" "$work/read.py" "$work/a.html" >"$work/said"
like 'and what is final does not' "$(cat "$work/said")" '^draft False$'
like 'unknown is the word' "$(cat "$work/a.html")" 'class="n unknown">unknown<'

done_testing
