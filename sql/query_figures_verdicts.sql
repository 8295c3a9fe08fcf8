-- Assumptions of an audit ($1) beside what was measured. One row per assumption.
SELECT metric, CASE scope_kind WHEN 'all' THEN 'all' ELSE scope_kind || ':' || scope_key END AS scope, trim_scale(assumed) AS assumed,
       trim_scale(round(measured, 2)) AS measured, unit, verdict
FROM audit.audit_assumption WHERE audit_id = $1::int ORDER BY line;
