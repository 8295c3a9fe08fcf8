-- Periods of a source in which the on-demand price of use that savings plans cover and the rows that
-- take it back do not cancel. Rows period, difference, currency.
-- $1 source_id.
SELECT s.period, trim_scale(sum(t.billed_cost))::text, t.currency
FROM audit.billing_total t JOIN audit.slice s USING (slice_id)
WHERE s.source_id = $1::int AND t.charge_category = 'SavingsPlanNegation'
GROUP BY s.period, t.currency
HAVING sum(t.billed_cost) <> 0
ORDER BY s.period, t.currency
