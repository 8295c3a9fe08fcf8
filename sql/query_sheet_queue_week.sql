-- When in the week do jobs wait? $1 = audit_id. Grain: one row per partition, pool and hour of the week in which jobs
-- asked or waited.
SELECT concat_ws(' ', nullif(cluster, ''), coalesce(nullif(partition, ''), '(none named)')) AS partition,
       coalesce(nullif(pool, ''), '(not known)') AS pool, weekday, to_char(hour_utc, 'FM00') || ':00' AS hour, jobs,
       round(p50_wait_seconds / 60.0, 1) AS p50_minutes, round(p95_wait_seconds / 60.0, 1) AS p95_minutes, round(gpu_hours_waiting, 1) AS gpu_hours_waiting
FROM audit.queue_wait
WHERE audit_id = $1::int AND hour_of_week IS NOT NULL
ORDER BY cluster, queue_wait.partition, queue_wait.pool, hour_of_week;
