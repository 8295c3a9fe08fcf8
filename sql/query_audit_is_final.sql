-- Whether an audit ($1) may still change. One row.
SELECT is_final FROM audit.audit WHERE audit_id = $1::int;
