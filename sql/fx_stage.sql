-- Where exchange rates wait to be checked. Gone with the transaction.
CREATE TEMP TABLE IF NOT EXISTS stage_fx (
    file_no int, line bigint, record text,
    month date, given_from text, given_to text, rate numeric, from_currency text, to_currency text
) ON COMMIT DROP
