-- What is wrong with or missing from the data, and what can be done about it?
-- $1 = audit_id. Grain: one row per finding; one that counts no items has an empty count.
SELECT check_name, finding, coalesce(items::text, '') AS items, round(gpu_hours, 1) AS gpu_hours, round(cost, 2) AS cost, remedy
FROM audit.audit_quality
WHERE audit_id = $1::int
ORDER BY check_no;
