-- Which teams cost most? The ten dearest, and the others together. $1 = audit_id.
-- Grain: one row per team, at most ten; then the rest, if any; then the whole audit.
WITH money AS (
    SELECT key,
           sum(cost) FILTER (WHERE line = 'busy') AS busy_cost,
           sum(cost) FILTER (WHERE line LIKE 'idle%') AS idle_cost,
           sum(cost) FILTER (WHERE line = 'unknown') AS unknown_cost,
           sum(cost) FILTER (WHERE line = 'unused commitment') AS unused_cost
    FROM audit.audit_ledger
    WHERE audit_id = $1::int AND in_sum AND dimension = 'team'
    GROUP BY key
), ranked AS (
    SELECT CASE key WHEN '' THEN '(none named)' ELSE key END AS name, f.gpu_cost, busy_cost, money.idle_cost, money.unknown_cost,
           unused_cost, idle_gpu_hours, covered_gpu_hours, running_gpu_hours, busy_gpu_hours,
           f.lacks_cost OR f.lacks_gpu_hours AS lacks,
           row_number() OVER (ORDER BY gpu_cost DESC NULLS LAST, key) AS rank
    FROM audit.audit_figure f
    LEFT JOIN money USING (key)
    WHERE audit_id = $1::int AND dimension = 'team'
), line AS (
    SELECT rank, name, gpu_cost, busy_cost, idle_cost, unknown_cost, unused_cost, idle_gpu_hours, covered_gpu_hours,
           running_gpu_hours, busy_gpu_hours, lacks, NULL AS row_style
    FROM ranked WHERE rank <= 10
    UNION ALL
    SELECT 11, count(*) || ' more', sum(gpu_cost), sum(busy_cost), sum(idle_cost), sum(unknown_cost), sum(unused_cost),
           sum(idle_gpu_hours), sum(covered_gpu_hours), sum(running_gpu_hours), sum(busy_gpu_hours), bool_or(lacks), NULL
    FROM ranked WHERE rank > 10 HAVING count(*) > 0
    UNION ALL
    SELECT 12, 'all', sum(gpu_cost), sum(busy_cost), sum(idle_cost), sum(unknown_cost), sum(unused_cost), sum(idle_gpu_hours),
           sum(covered_gpu_hours), sum(running_gpu_hours), sum(busy_gpu_hours), bool_or(lacks), 'total'
    FROM ranked HAVING count(*) > 0
)
SELECT name, round(gpu_cost, 2) AS gpu_cost, round(busy_cost, 2) AS busy_cost, round(idle_cost, 2) AS idle_cost,
       round(unknown_cost, 2) AS unknown_cost, round(unused_cost, 2) AS unused_cost,
       round(idle_gpu_hours / nullif(covered_gpu_hours, 0), 6) AS idle_share,
       round(covered_gpu_hours / nullif(running_gpu_hours, 0), 6) AS coverage_share,
       CASE WHEN NOT lacks THEN round(gpu_cost / nullif(busy_gpu_hours, 0), 4) END AS busy_rate, row_style
FROM line ORDER BY rank;
