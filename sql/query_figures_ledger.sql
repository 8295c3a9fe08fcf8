-- The ledger of an audit ($1) in total. One row per line; the last adds up those in the sum.
SELECT line, to_char(round(gpu_hours, 1), 'FM999,999,999,990.0') AS gpu_hours, to_char(cost, 'FM999,999,999,990.00') AS cost
FROM (SELECT line_no, line, gpu_hours, cost FROM audit.audit_ledger
      WHERE audit_id = $1::int AND dimension = 'total' AND in_sum AND (gpu_hours IS NOT NULL OR cost IS NOT NULL)
      UNION ALL
      SELECT 99, 'provisioned', sum(gpu_hours), sum(cost) FROM audit.audit_ledger
      WHERE audit_id = $1::int AND dimension = 'total' AND in_sum) l
ORDER BY line_no;
