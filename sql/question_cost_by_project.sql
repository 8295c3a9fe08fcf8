-- What did each project's GPUs cost, and how much of it was idle or unknown?
SELECT a.quarter, CASE f.key WHEN '' THEN '(no project)' ELSE f.key END AS project, a.currency,
       round(f.gpu_cost, 2) AS gpu_cost,
       round(100 * f.gpu_cost / nullif(sum(f.gpu_cost) OVER (), 0), 1) AS share_pct,
       round(f.provisioned_gpu_hours, 1) AS provisioned_gpu_hours,
       round(f.idle_cost, 2) AS idle_cost, round(f.unknown_cost, 2) AS unknown_cost,
       round(f.cost_per_busy_gpu_hour, 4) AS cost_per_busy_gpu_hour
FROM audit.audit_figure f
JOIN (SELECT * FROM audit.audit ORDER BY audit_id DESC LIMIT 1) a ON a.audit_id = f.audit_id
WHERE f.dimension = 'project'
ORDER BY f.gpu_cost DESC NULLS LAST, f.key;
