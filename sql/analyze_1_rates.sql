-- Analysis, step 1b: what a unit of each currency is in the audit's own.
--   run_rate  one row per slice, currency and month; owned machines have slice_id = -source_id. rate NULL: none
-- The rules, first that holds: the same currency is 1; the user's rate of that month and pair, as it is given
-- (a rate of dollars into pounds says nothing of pounds into dollars); the rate that the bill itself carries,
-- either way, since the bill's money is the provider's price times that rate; one of these times another,
-- through the one currency that both have. Through two or more it is nobody's word, and there is no rate.
-- Of several rates that a bill carries for a pair the most frequent is taken, of equally frequent ones the lowest.
-- A rate turned round, and a product of two, are rounded to 20 decimals.

CREATE TEMP TABLE run_rate ON COMMIT DROP AS
WITH needed AS (
    SELECT DISTINCT i.slice_id, l.kind || ' ' || l.name AS source_name, i.currency, l.period AS month
    FROM audit.billing_item i JOIN run_slice l USING (slice_id)
    WHERE i.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing'))
    UNION
    SELECT t.slice_id, l.kind || ' ' || l.name, t.currency, l.period FROM audit.billing_total t JOIN run_slice l USING (slice_id)
    UNION
    SELECT -o.source_id, l.kind || ' ' || l.name, o.currency, to_char(m.month, 'YYYY-MM')
    FROM audit.owned_gpu o
    JOIN run_slice l ON l.source_id = o.source_id
    CROSS JOIN run
    CROSS JOIN LATERAL generate_series(date_trunc('month', greatest(o.in_service_from, run.from_time)),
                                       least(o.in_service_to, run.to_time) - interval '1 microsecond', interval '1 month') m(month)
), given AS (
    SELECT DISTINCT ON (f.month, f.from_currency, f.to_currency) to_char(f.month, 'YYYY-MM') AS month, f.from_currency, f.to_currency, f.rate
    FROM audit.fx_rate f JOIN run_slice s ON s.source_id = f.source_id
    ORDER BY f.month, f.from_currency, f.to_currency, s.name, f.source_id
), carried AS (
    SELECT DISTINCT ON (slice_id, from_currency, to_currency) slice_id, from_currency, to_currency, rate,
           count(*) OVER w AS rates, min(rate) OVER w AS lowest, max(rate) OVER w AS highest
    FROM audit.billing_fx
    WHERE slice_id IN (SELECT slice_id FROM run_slice)
    WINDOW w AS (PARTITION BY slice_id, from_currency, to_currency)
    ORDER BY slice_id, from_currency, to_currency, row_count DESC, rate
), pair AS (
    SELECT n.slice_id, n.month, g.from_currency, g.to_currency, g.rate, 1 AS place, 0 AS rates,
           format('given: %s to %s %s', g.from_currency, g.to_currency, trim_scale(g.rate)) AS how
    FROM (SELECT DISTINCT slice_id, month FROM needed) n JOIN given g USING (month)
    UNION ALL
    SELECT c.slice_id, n.month, v.from_currency, v.to_currency, v.rate, v.place, c.rates,
           format('the bill''s own: %s to %s %s%s%s', c.from_currency, c.to_currency, trim_scale(c.rate), CASE v.place WHEN 3 THEN ', turned round' END,
                  CASE WHEN c.rates > 1 THEN format(', the most frequent of %s from %s to %s', c.rates, trim_scale(c.lowest), trim_scale(c.highest)) END)
    FROM (SELECT DISTINCT slice_id, month FROM needed) n
    JOIN carried c USING (slice_id)
    CROSS JOIN LATERAL (VALUES (c.from_currency, c.to_currency, c.rate, 2),
                               (c.to_currency, c.from_currency, trim_scale(round(1.000000000000000000000000000000 / c.rate, 20)), 3)) v(from_currency, to_currency, rate, place)
), leg AS (
    SELECT DISTINCT ON (slice_id, month, from_currency, to_currency) *
    FROM pair WHERE from_currency <> to_currency
    ORDER BY slice_id, month, from_currency, to_currency, place
), across AS (
    SELECT a.slice_id, a.month, a.from_currency AS currency, count(*) AS ways, min(trim_scale(round(a.rate * b.rate, 20))) AS rate,
           greatest(max(a.rates), max(b.rates)) AS rates, string_agg(a.to_currency, ' and ' ORDER BY a.to_currency) AS through,
           min(concat_ws('; ', a.how, b.how)) AS how
    FROM leg a
    JOIN leg b ON b.slice_id = a.slice_id AND b.month = a.month AND b.from_currency = a.to_currency
    CROSS JOIN run
    WHERE b.to_currency = run.currency AND a.from_currency <> run.currency
    GROUP BY a.slice_id, a.month, a.from_currency
)
SELECT n.slice_id, n.source_name, n.currency, n.month,
       CASE WHEN n.currency = run.currency THEN 1 ELSE coalesce(l.rate, CASE WHEN x.ways = 1 THEN x.rate END) END AS rate,
       coalesce(l.rates, x.rates, 0)::int AS rates,
       CASE WHEN n.currency = run.currency THEN 'the audit''s own currency' WHEN l.rate IS NOT NULL THEN l.how
            WHEN x.ways = 1 THEN format('through %s; %s', x.through, x.how)
            WHEN x.ways > 1 THEN format('no rate of %s to %s: %s would both do, so none is taken', n.currency, run.currency, x.through)
            ELSE format('no rate of %s to %s', n.currency, run.currency) END AS how
FROM needed n
CROSS JOIN run
LEFT JOIN leg l ON l.slice_id = n.slice_id AND l.month = n.month AND l.from_currency = n.currency AND l.to_currency = run.currency
LEFT JOIN across x ON x.slice_id = n.slice_id AND x.month = n.month AND x.currency = n.currency;

ANALYZE run_rate;
