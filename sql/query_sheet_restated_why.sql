-- Why does this revision differ from the one before it? $1 = audit_id. Grain: one row per cause.
SELECT what, coalesce(source, '') AS source, coalesce(period, '') AS period, rows, rows_before, object
FROM audit.restatement_cause
WHERE audit_id = $1::int
ORDER BY array_position(ARRAY['new', 'delivered again', 'gone', 'setting', 'program'], what), source, period, object;
