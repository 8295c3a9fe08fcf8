-- Is a pool idle on average and short of GPUs in its busy hours? $1 = audit_id. Grain: one row per pool that jobs
-- waited for, most GPU-hours waited first.
SELECT coalesce(nullif(pool, ''), '(none named)') AS pool,
       CASE WHEN is_short THEN 'short of GPUs' WHEN NOT is_short THEN 'not short' ELSE 'not enough evidence' END AS verdict,
       jobs, round(p50_wait_seconds / 60.0, 1) AS p50_minutes, round(p95_wait_seconds / 60.0, 1) AS p95_minutes,
       round(gpu_hours_waiting, 1) AS gpu_hours_waiting, round(running_gpus, 1) AS running_gpus, round(busy_gpus, 1) AS busy_gpus,
       round(peak_busy_gpus, 1) AS peak_busy_gpus, round((idle_pct / 100)::numeric, 6) AS idle_share, round((coverage_pct / 100)::numeric, 6) AS coverage_share,
       busy_hours, round(busy_hours_busy_gpus, 1) AS busy_hours_busy_gpus, round(busy_hours_waiting_gpus, 1) AS busy_hours_waiting_gpus
FROM audit.audit_shortage
WHERE audit_id = $1::int
ORDER BY audit_shortage.gpu_hours_waiting DESC, audit_shortage.pool;
