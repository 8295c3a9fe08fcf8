#!/bin/sh
# Any table of charges by a map: what the map must say, local times around the change of clocks,
# billing months, tags, constants, and what is refused with which words.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
pg_start

# ingest NAME QUARTER LINE...: file $work/NAME.csv by a section of these lines.
ingest() {
    csv_name=$1
    csv_quarter=$2
    shift 2
    {
        printf '[billing %s]\nformat = csv\npath = %s\n' "$csv_name" "$work/$csv_name.csv"
        for line in "$@"; do printf '%s\n' "$line"; done
    } >"$work/gpu-audit.conf"
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter "$csv_quarter" ingest
}
of() {
    pg_query "with s as (select slice_id, period from audit.slice join audit.source using (source_id) where name = '$1'),
        c as (select * from audit.billing_charge join audit.billing_item using (slice_id, item_no) join s using (slice_id)),
        t as (select * from audit.billing_total join s using (slice_id)) $2"
}

# ---- local times. Los Angeles: forward on 8 March 2026 at 10:00 UTC, back on 1 November at 09:00 UTC.
cat >"$work/zone.csv" <<'END'
id,start,end,hours,usd
before,2026-03-08 01:00,2026-03-08 03:00,1,1
edge,2026-03-08 01:00,2026-03-08 02:00,1,1
gap,2026-03-08 02:30,2026-03-08 04:00,1,1
utc,2026-03-08T02:30:00Z,2026-03-08T04:00:00Z,1.5,1
march,2026-03-31 22:00,2026-03-31 23:00,1,1
END
ok 'local times load' ingest zone 2026Q1 'provider = somewhere' 'currency = USD' 'unit = hours' 'gpu-type = L4' 'gpus = 1' \
    'time-zone = America/Los_Angeles' 'column.from = start' 'column.to = end' 'column.quantity = hours' 'column.cost = usd' 'column.resource = id'
is 'clocks that go forward' "$(of zone "select resource_id, charge_from, charge_to from c order by line" | tr '\n' ' ')" \
    'before|2026-03-08 09:00:00+00|2026-03-08 10:00:00+00 edge|2026-03-08 09:00:00+00|2026-03-08 10:00:00+00 utc|2026-03-08 02:30:00+00|2026-03-08 04:00:00+00 march|2026-04-01 05:00:00+00|2026-04-01 06:00:00+00 '
is 'a time that is passed over is refused with its reason' "$(pg_query "select line, reason from audit.reject")" \
    '4|its start is a local time that the clocks pass over'
is 'the billing month is that of the clock' "$(of zone "select period from c where resource_id = 'march'")" 2026-03
cat >"$work/back.csv" <<'END'
id,start,end,hours,usd
twice,2026-11-01 01:00,2026-11-01 01:00,1,1
second,2026-11-01 01:00,2026-11-01 02:00,1,1
over,2026-11-01 00:00,2026-11-01 02:00,3,1
END
ok 'clocks that go back' ingest back 2026Q4 'provider = somewhere' 'currency = USD' 'unit = hours' 'gpu-type = L4' 'gpus = 1' \
    'time-zone = america/los_angeles' 'column.from = start' 'column.to = end' 'column.quantity = hours' 'column.cost = usd' 'column.resource = id'
is 'each row is as long as it says' "$(of back "select resource_id, charge_from, charge_to from c order by line" | tr '\n' ' ')" \
    'twice|2026-11-01 08:00:00+00|2026-11-01 09:00:00+00 second|2026-11-01 09:00:00+00|2026-11-01 10:00:00+00 over|2026-11-01 07:00:00+00|2026-11-01 10:00:00+00 '
exits 'an unknown zone' 3 ingest back 2026Q4 'provider = x' 'currency = USD' 'unit = hours' 'time-zone = Mars/Olympus' 'column.from = start' 'column.to = end' 'column.quantity = hours' 'column.cost = usd'
like 'is named with its line' "$(cat "$work/err")" 'gpu-audit.conf line 7: there is no time zone "Mars/Olympus"'

# ---- months, formats, tags, roles
cat >"$work/kinds.csv" <<'END'
Month	Day	What	GPU	n	Hours	Cost	Net	List	Reserved	Team	More	Kind	Contract
202607	31/07/2026 23:00	run	8x H100 SXM	8	1	30	20	40	spot	"vision, ""x"""	"{""env"": ""prod""}"		
202607	31/07/2026 22:00	idle	none	0	1	1			on demand				
202607	30/06/2026 00:00	late correction	H100 SXM	8	-0.5	-15						adjustment	
202608	01/08/2026 00:00	commitment		0		1000			reserved			Prepaid commitment	C-9
202608	01/08/2026 00:00	strange	Zeta 9000	2	1	5							
202608	01/08/2026 00:00	minus	L4	1	-1	-2							
END
kinds="provider=Some Cloud|currency = USD|unit = hours|delimiter = tab|span = hour|time-format = %d/%m/%Y %H:%M|account = acct-1|location = eu-1|column.from = Day|column.period = Month|column.quantity = Hours|column.cost = Cost|column.effective-cost = Net|column.list-cost = List|column.gpu-type = GPU|column.gpus = n|column.resource = What|column.pricing = Reserved|column.tags.team = Team|column.tags = More|column.category = Kind|column.commitment = Contract"
map() {
    map_ifs=$IFS
    IFS='|'
    # shellcheck disable=SC2086 # the parts are the arguments
    set -- "$1" "$2" $3
    IFS=$map_ifs
    ingest "$@"
}
ok 'tabs, a month of its own, day first' map kinds 2026Q3 "$kinds"
is 'what is kept, and as what' "$(of kinds "select period, resource_id, role, coalesce(gpu_model, instance_type), gpu_count, quantity, pricing, billed_cost, effective_cost, list_cost, account_id, region, commitment_id, tags from c order by line")" \
'2026-07|run|gpu_use|H100-SXM5-80GB|8|1|spot|30|20|40|acct-1|eu-1||{"env": "prod", "team": "vision, \"x\""}
2026-07|late correction|correction|H100-SXM5-80GB|8|-0.5|on-demand|-15|-15||acct-1|eu-1||
2026-08|commitment|commitment_purchase||||committed|1000|1000||acct-1|eu-1|C-9|
2026-08|strange|gpu_use|Zeta 9000|2|1|on-demand|5|5||acct-1|eu-1||
2026-08|minus|correction|L4|1|-1|on-demand|-2|-2||acct-1|eu-1||'
is 'a row without a GPU is totalled' "$(of kinds "select period, row_count, billed_cost from t")" '2026-07|1|1'
is 'the end is an hour later' "$(of kinds "select charge_to from c where resource_id = 'run'")" '2026-08-01 00:00:00+00'

# Another map: the same file is read again.
ok 'another map' map kinds 2026Q3 "$(printf '%s' "$kinds" | sed 's/|column.period = Month//; s/|account = acct-1/|account = acct-2/')"
is 'counts' "$(of kinds "select period, string_agg(resource_id, ',' order by line) from c group by 1 order by 1" | tr '\n' ' ')" \
    '2026-07|run 2026-08|commitment,strange,minus '
is 'everywhere' "$(of kinds "select distinct account_id from c")" acct-2

printf 'Month,Paid,Amount\n2026-07,2026-08,12\n' >"$work/months.csv"
ok 'the month of use' ingest months 2026Q3 'provider = x' 'currency = EUR' 'column.period = Month' 'column.cost = Amount'
ok 'the month of payment' ingest months 2026Q3 'provider = x' 'currency = EUR' 'column.period = Paid' 'column.cost = Amount'
is 'a month that the file does not fill any more is emptied' "$(of months "select period, billed_cost from t")" '2026-08|12'

# ---- what the map must say
plain='provider = x|currency = USD|unit = hours|column.from = Day|span = hour|time-format = %d/%m/%Y %H:%M|delimiter = tab|column.quantity = Hours|column.cost = Cost'
# without PART WORDS: the map without that part is refused with these words.
without() {
    exits "without $1" 3 map kinds 2026Q3 "$(printf '%s' "$plain" | tr '|' '\n' | grep -v "^$1" | paste -sd '|' -)"
    like "... $2" "$(cat "$work/err")" "$2"
}
ok 'the least that a map says' map kinds 2026Q3 "$plain"
without column.from 'nothing says when a row was used'
without column.cost 'nothing says what a row cost'
without provider 'nothing says whose bill it is'
without currency 'nothing says in which currency'
without span 'nothing says how long a row is'
without unit 'nothing says in which unit the quantity is'
# refused LINE WORDS: the map with that line too is refused with these words.
refused() {
    exits "$1" "$3" map kinds 2026Q3 "$plain|$1"
    like "... $2" "$(cat "$work/err")" "$2"
}
refused 'column.resource = Nobody' 'kinds.csv: no column Nobody' 4
like '... with the columns there are' "$(cat "$work/err")" 'the file has 14 columns: Month, Day, What, GPU'
refused 'column.tags.owner = Nobody' 'no column Nobody' 4
refused 'column.colour = Day' 'has no key "column.colour"' 3
refused 'decimal = x' 'decimal is neither a point nor a comma' 3
refused 'decimal = ,|thousands = ,' 'thousands is no mark, or that of the decimal' 3
refused 'gpus = none' 'gpus is no number above 0' 3
refused 'duration-unit = furlongs' 'duration-unit is no unit of time: "furlongs"' 3
refused 'rate-card = nowhere.csv' 'nowhere.csv' 3
printf 'Month,Amount\n2026-07,12\nsoon,3\n2026-08,\n2026-09,4x\n' >"$work/least.csv"
ok 'a table of two columns' ingest least 2026Q3 'provider = x' 'currency = EUR' 'column.period = Month' 'column.cost = Amount'
is 'is an invoice total' "$(of least "select period, billed_cost from t")" '2026-07|12'
is 'and bad rows say why' "$(pg_query "select line, reason from audit.reject join audit.load using (load_id) where object like '%least.csv' order by line" | tr '\n' ' ')" \
    '3|the billing period is no month 4|its cost is empty 5|its cost is no number '
done_testing
