-- Where prices wait to be checked. Gone with the transaction.
CREATE TEMP TABLE IF NOT EXISTS stage_price (
    file_no int, line bigint, record text,
    given_provider text, region text, instance_type text, pricing text, usd_per_hour numeric, as_of date, note text,
    provider text
) ON COMMIT DROP
