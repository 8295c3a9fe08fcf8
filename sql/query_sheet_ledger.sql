-- Where did every GPU-hour go, and what did it cost? The ledger of the whole audit, with its sum.
-- $1 = audit_id. Grain: one row per ledger line; the row of the total is what the lines in the sum come to.
WITH line AS (
    SELECT line_no, line, in_sum, gpu_hours, cost
    FROM audit.audit_ledger WHERE audit_id = $1::int AND dimension = 'total'
), whole AS (
    SELECT sum(gpu_hours) AS gpu_hours, sum(cost) AS cost FROM line WHERE in_sum
)
SELECT line.line,
       round(line.gpu_hours, 1) AS gpu_hours,
       round(line.cost, 2) AS cost,
       CASE WHEN in_sum THEN round(line.gpu_hours / nullif(whole.gpu_hours, 0), 6) END AS hours_share,
       CASE WHEN in_sum THEN round(line.cost / nullif(whole.cost, 0), 6) END AS cost_share,
       CASE WHEN in_sum THEN '' ELSE 'beneath the line, outside the sum' END AS note,
       NULL AS row_style, line_no AS place
FROM line, whole
WHERE in_sum
UNION ALL
SELECT 'provisioned', round(gpu_hours, 1), round(cost, 2), 1, 1, 'the sum of the lines above', 'total', 1000
FROM whole WHERE EXISTS (SELECT FROM line)
ORDER BY place;
