-- How long did jobs wait, partition by partition? $1 = audit_id. Grain: one row per partition and pool, most
-- GPU-hours waited first.
SELECT concat_ws(' ', nullif(cluster, ''), coalesce(nullif(partition, ''), '(none named)')) AS partition,
       coalesce(nullif(pool, ''), '(not known)') AS pool, jobs, jobs_wait_unknown, round(p50_wait_seconds / 60.0, 1) AS p50_minutes,
       round(p95_wait_seconds / 60.0, 1) AS p95_minutes, round(gpu_hours_waiting, 1) AS gpu_hours_waiting
FROM audit.audit_queue
WHERE audit_id = $1::int AND hour_of_week IS NULL
ORDER BY audit_queue.gpu_hours_waiting DESC, cluster, audit_queue.partition, audit_queue.pool;
