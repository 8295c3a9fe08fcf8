-- Where the rows of a mapping file wait to be checked. Gone with the transaction.
CREATE TEMP TABLE IF NOT EXISTS stage_binding (
    file_no int, line bigint, record text,
    host text, given_provider text, resource_id text, instance_type text, valid_from timestamptz, valid_to timestamptz,
    provider text, resource_key text
) ON COMMIT DROP
