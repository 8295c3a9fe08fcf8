-- Notes an exchange rate that rows of a bill carry.
-- $1 slice_id, $2 from currency, $3 to currency, $4 rate, $5 rows.
INSERT INTO audit.billing_fx (slice_id, from_currency, to_currency, rate, row_count)
VALUES ($1::int, $2, $3, $4::numeric, $5::bigint)
ON CONFLICT (slice_id, from_currency, to_currency, rate) DO UPDATE SET row_count = audit.billing_fx.row_count + excluded.row_count
