-- How much of each provider's running GPU-hours has a sample? $1 = audit_id.
-- Grain: one row per provider, then the whole audit.
SELECT CASE dimension WHEN 'total' THEN 'all' ELSE key END AS provider,
       round(running_gpu_hours, 1) AS running_gpu_hours,
       round(covered_gpu_hours, 1) AS covered_gpu_hours,
       round(unknown_gpu_hours, 1) AS unknown_gpu_hours,
       round((coverage_pct / 100)::numeric, 6) AS coverage_share,
       round(unknown_cost, 2) AS unknown_cost,
       round(untagged_cost, 2) AS untagged_cost,
       CASE dimension WHEN 'total' THEN 'total' END AS row_style
FROM audit.audit_figure
WHERE audit_id = $1::int AND dimension IN ('provider', 'total')
ORDER BY dimension = 'total', coverage_pct NULLS FIRST, key;
