-- The ledger for a picture: only lines that have GPU-hours or money.
-- $1 = audit_id. Grain: one row per ledger line in the sum.
SELECT line, round(gpu_hours, 1) AS gpu_hours, round(cost, 2) AS cost
FROM audit.audit_ledger
WHERE audit_id = $1::int AND dimension = 'total' AND in_sum AND (gpu_hours <> 0 OR cost <> 0)
ORDER BY line_no;
