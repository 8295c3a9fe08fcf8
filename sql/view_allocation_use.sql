-- What jobs held, by who they belong to. One row per source, month, cluster, partition, account,
-- user and GPU type.
CREATE VIEW audit.allocation_use AS
SELECT l.source_id, l.period AS month, a.cluster, a.partition, a.account, a.user_name, a.gpu_type,
       count(*) FILTER (WHERE a.is_job_start) AS jobs_started,
       sum(a.gpus * extract(epoch FROM a.to_time - a.from_time)::numeric) / 3600 AS gpu_hours,
       sum(a.gpus * extract(epoch FROM a.to_time - a.from_time)::numeric) FILTER (WHERE a.confidence = 'low') / 3600 AS gpu_hours_low_confidence,
       sum(a.gpus * extract(epoch FROM a.to_time - a.from_time)::numeric) FILTER (WHERE a.placement = 'unknown') / 3600 AS gpu_hours_unplaced,
       count(DISTINCT (a.job_key, a.job_from)) FILTER (WHERE a.gpus IS NULL) AS jobs_gpus_unknown,
       sum(a.queue_wait_seconds * a.job_gpus) FILTER (WHERE a.is_job_start) / 3600 AS gpu_hours_waited
FROM audit.allocation a
JOIN audit.slice l ON l.slice_id = a.slice_id
GROUP BY l.source_id, l.period, a.cluster, a.partition, a.account, a.user_name, a.gpu_type;
COMMENT ON VIEW audit.allocation_use IS 'One row is what the jobs of one account and user held in a partition in a month';
COMMENT ON COLUMN audit.allocation_use.gpu_hours IS 'GPU-hours held; NULL: jobs, but how many GPUs they held is unknown';
COMMENT ON COLUMN audit.allocation_use.gpu_hours_low_confidence IS 'of these, counted from what was requested';
COMMENT ON COLUMN audit.allocation_use.gpu_hours_unplaced IS 'of these, on which hosts is unknown';
COMMENT ON COLUMN audit.allocation_use.jobs_gpus_unknown IS 'jobs that hold a share of GPUs whose size is unknown; they are not in gpu_hours';
COMMENT ON COLUMN audit.allocation_use.gpu_hours_waited IS 'queue wait x GPUs of the jobs that started in the month; jobs of unknown wait are not in it';
