-- Allocations by clock hour, to be set beside GPUs in that hour. One row per row of allocation and
-- clock hour it touches.
CREATE VIEW audit.allocation_hour AS
SELECT l.source_id, a.slice_id, a.host, h.hour, a.cluster, a.job_id, a.job_key, a.job_from, a.partition, a.account, a.user_name,
       a.project_hint, a.issue_hint, a.gpu_type, a.gpus, a.placement, a.confidence, s.held_seconds,
       a.gpus * s.held_seconds AS gpu_seconds
FROM audit.allocation a
JOIN audit.slice l ON l.slice_id = a.slice_id
CROSS JOIN LATERAL (
    SELECT to_timestamp(hour_seconds) AS hour
    FROM generate_series(floor(extract(epoch FROM a.from_time) / 3600)::bigint * 3600,
                         ceil(extract(epoch FROM a.to_time) / 3600)::bigint * 3600 - 3600, 3600) hour_seconds) h
CROSS JOIN LATERAL (
    SELECT extract(epoch FROM least(a.to_time, h.hour + interval '1 hour') - greatest(a.from_time, h.hour))::int AS held_seconds) s;
COMMENT ON VIEW audit.allocation_hour IS 'One row is a row of allocation in one clock hour: GPU-seconds held; host is NULL where placement is unknown';
COMMENT ON COLUMN audit.allocation_hour.gpu_seconds IS 'GPUs x seconds held in the hour; NULL: how many GPUs is unknown';
