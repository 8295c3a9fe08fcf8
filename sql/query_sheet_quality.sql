-- What is wrong with or missing from the data, and what can be done about it?
-- $1 = audit_id. Grain: one row per finding.
SELECT check_name, finding, items::text AS items, round(gpu_hours, 1) AS gpu_hours, round(cost, 2) AS cost, remedy
FROM audit.audit_quality
WHERE audit_id = $1::int
ORDER BY check_no;
