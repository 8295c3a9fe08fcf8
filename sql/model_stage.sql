-- Where the rows of a cost model wait to be checked. Gone with the transaction.
CREATE TEMP TABLE IF NOT EXISTS stage_model (
    file_no int, line bigint, record text,
    given_metric text, given_scope text, value numeric, tolerance_pct numeric, valid_from date, set_by text, reason text,
    metric text, scope_kind text, scope_key text
) ON COMMIT DROP
