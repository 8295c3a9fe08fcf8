-- How long did jobs wait for GPUs, and when? One row per audit, partition, pool and hour of the week; the rows whose
-- hour_of_week is NULL are those of the whole week.
CREATE VIEW audit.queue_wait AS
SELECT q.audit_id, q.cluster, q.partition, q.pool, q.hour_of_week,
       (ARRAY['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'])[q.hour_of_week / 24 + 1] AS weekday,
       q.hour_of_week % 24 AS hour_utc, q.jobs, q.jobs_wait_unknown, q.p50_wait_seconds, q.p95_wait_seconds, q.gpu_hours_waiting
FROM audit.audit_queue q;
COMMENT ON VIEW audit.queue_wait IS 'One row is a partition and pool in an hour of the week: jobs, their wait, and the GPU-hours waited for';
