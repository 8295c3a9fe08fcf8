-- What was observed but not billed? The lines beneath the ledger, outside its sum.
-- $1 = audit_id. Grain: one row per line.
SELECT line, round(gpu_hours, 1) AS gpu_hours, round(cost, 2) AS cost
FROM audit.audit_ledger
WHERE audit_id = $1::int AND dimension = 'total' AND NOT in_sum
ORDER BY line_no;
