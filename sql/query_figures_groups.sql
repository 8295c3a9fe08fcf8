-- Figures of an audit ($1) by provider, model and team, dearest first. One row per scope.
SELECT dimension AS by, CASE key WHEN '' THEN '(none)' ELSE key END AS name, trim_scale(gpus) AS gpus, round(provisioned_gpu_hours, 1) AS gpu_hours,
       round(coverage_pct::numeric, 1) AS coverage_pct, round(avg_util_pct::numeric, 1) AS util_pct, round(idle_pct::numeric, 1) AS idle_pct,
       to_char(gpu_cost, 'FM999,999,999,990.00') AS gpu_cost, to_char(idle_cost, 'FM999,999,999,990.00') AS idle_cost
FROM audit.audit_figure
WHERE audit_id = $1::int AND dimension IN ('provider', 'model', 'team')
ORDER BY array_position(ARRAY['provider', 'model', 'team'], dimension), audit_figure.gpu_cost DESC NULLS LAST, key;
