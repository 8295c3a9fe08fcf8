-- What a period's delivery says about itself, in the place of what the one before said.
-- $1 slice_id, $2 bits of days with use, $3 rows with an invoice or NULL, $4 without, $5 delivered (unix seconds) or NULL.
WITH gone AS (
    DELETE FROM audit.billing_fx WHERE slice_id = $1::int
)
INSERT INTO audit.billing_period (slice_id, days_present, rows_invoiced, rows_uninvoiced, delivered)
VALUES ($1::int, $2::bit(64), $3::bigint, $4::bigint, to_timestamp($5::bigint))
ON CONFLICT (slice_id) DO UPDATE SET days_present = excluded.days_present, rows_invoiced = excluded.rows_invoiced,
    rows_uninvoiced = excluded.rows_uninvoiced, delivered = excluded.delivered
