-- How complete is each bill, and has its provider closed it? $1 = audit_id.
-- Grain: one row per source and billing period, those of the window first.
SELECT source_name, period || CASE WHEN in_window THEN '' ELSE ' (later)' END AS period, state, reason, coalesce(doubt, '') AS doubt,
       coalesce(days_with_use::text, '?') || ' of ' || days_expected AS days, coalesce(days_missing, '') AS days_missing,
       delivered, rows_invoiced, rows_uninvoiced,
       CASE WHEN state IN ('open', 'missing') OR doubt IS NOT NULL THEN 'no' WHEN state = 'unknown' THEN 'as far as known' ELSE 'yes' END AS is_trusted
FROM audit.audit_completeness
WHERE audit_id = $1::int
ORDER BY in_window DESC, source_name, period;
