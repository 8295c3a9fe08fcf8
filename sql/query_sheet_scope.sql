-- What did each team, project, model, provider, region or price class cost, and what was done with it? With the whole audit as the last row.
-- $1 = audit_id, $2 = dimension. Grain: one row per key of it. Money by ledger line, so that a chart can stack it.
WITH money AS (
    SELECT dimension, key,
           sum(cost) FILTER (WHERE line = 'busy') AS busy_cost,
           sum(cost) FILTER (WHERE line LIKE 'idle%') AS idle_cost,
           sum(cost) FILTER (WHERE line = 'unknown') AS unknown_cost,
           sum(cost) FILTER (WHERE line = 'unused commitment') AS unused_cost,
           sum(cost) FILTER (WHERE line = 'corrected') AS corrected_cost
    FROM audit.audit_ledger
    WHERE audit_id = $1::int AND in_sum AND dimension IN ($2::text, 'total')
    GROUP BY dimension, key
)
SELECT CASE WHEN f.dimension = 'total' THEN 'all' WHEN f.key = '' AND f.dimension IN ('team', 'project') THEN '(none named)'
            WHEN f.key = '' THEN '(no ' || f.dimension || ')' ELSE f.key END AS name,
       round(f.gpu_cost, 2) AS gpu_cost,
       round(m.busy_cost, 2) AS busy_cost,
       round(m.idle_cost, 2) AS idle_cost,
       round(m.unknown_cost, 2) AS unknown_cost,
       round(m.unused_cost, 2) AS unused_cost,
       round(m.corrected_cost, 2) AS corrected_cost,
       round(f.untagged_cost, 2) AS untagged_cost,
       f.gpus::float8 AS gpus,
       round(f.provisioned_gpu_hours, 1) AS provisioned_gpu_hours,
       round(f.busy_gpu_hours, 1) AS busy_gpu_hours,
       round(f.idle_gpu_hours, 1) AS idle_gpu_hours,
       round((f.idle_pct / 100)::numeric, 6) AS idle_share,
       round((f.coverage_pct / 100)::numeric, 6) AS coverage_share,
       round((f.avg_util_pct / 100)::numeric, 6) AS util_share,
       round((f.avg_sm_pct / 100)::numeric, 6) AS sm_share,
       round(f.peak_busy_gpus, 1) AS peak_busy_gpus,
       round(f.peak_running_gpus, 1) AS peak_running_gpus,
       round(f.cost_per_provisioned_gpu_hour, 4) AS provisioned_rate,
       round(f.cost_per_busy_gpu_hour, 4) AS busy_rate,
       round(f.cost_per_effective_gpu_hour, 4) AS effective_rate,
       CASE WHEN NOT f.lacks_cost AND NOT f.lacks_gpu_hours
            THEN round((f.effective_cost - coalesce(f.correction_cost, 0)) / nullif(f.running_gpu_hours, 0), 4) END AS paid_rate,
       CASE WHEN f.dimension = 'total' THEN 'total' END AS row_style
FROM audit.audit_figure f
LEFT JOIN money m USING (dimension, key)
WHERE f.audit_id = $1::int AND f.dimension IN ($2::text, 'total')
ORDER BY f.dimension = 'total', f.gpu_cost DESC NULLS LAST, f.key;
