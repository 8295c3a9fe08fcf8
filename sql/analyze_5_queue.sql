-- Analysis, step 5c: how long jobs waited for GPUs, by partition, pool and hour of the week, and whether a pool that
-- is idle on average is short in its busy hours. Without a scheduler there is nothing here.
--   run_queued  jobs that started in the window
-- A job counts where it ran: its pool is that of the first of its hosts, if that is one pool's.

CREATE TEMP TABLE run_queued ON COMMIT DROP AS
WITH home AS (
    SELECT i.resource_no, min(s.pool) AS pool
    FROM (SELECT DISTINCT resource_no, subject_no FROM run_item) i
    JOIN audit.audit_subject s ON s.audit_id = audit.this_audit() AND s.subject_no = i.subject_no
    GROUP BY i.resource_no HAVING count(DISTINCT s.pool) = 1
)
SELECT coalesce(a.cluster, '') AS cluster, coalesce(a.partition, '') AS partition, coalesce(h.pool, '') AS pool, a.job_gpus, a.job_from,
       a.queue_wait_seconds AS wait_seconds, a.job_from - coalesce(a.queue_wait_seconds, 0) * interval '1 second' AS asked
FROM audit.allocation a
CROSS JOIN run
LEFT JOIN run_held_host n ON n.host = lower(a.host)
LEFT JOIN run_node o ON o.host = n.node AND a.job_from >= o.from_hour AND a.job_from < o.to_hour
LEFT JOIN home h ON h.resource_no = o.resource_no
WHERE a.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'scheduler')) AND a.is_job_start
  AND a.job_from >= run.from_time AND a.job_from < run.to_time;

ANALYZE run_queued;

INSERT INTO audit.audit_queue
WITH asked AS (
    SELECT cluster, partition, pool, audit.hour_of_week(asked) AS hour_of_week, count(*) AS jobs, count(*) - count(wait_seconds) AS unknown,
           percentile_disc(0.50) WITHIN GROUP (ORDER BY wait_seconds) AS p50, percentile_disc(0.95) WITHIN GROUP (ORDER BY wait_seconds) AS p95
    FROM run_queued
    GROUP BY GROUPING SETS ((cluster, partition, pool), (cluster, partition, pool, audit.hour_of_week(asked)))
), waited AS (
    SELECT q.cluster, q.partition, q.pool, audit.hour_of_week(h.hour) AS hour_of_week,
           sum(q.job_gpus * extract(epoch FROM least(q.job_from, h.hour + interval '1 hour') - greatest(q.asked, run.from_time, h.hour))) / 3600 AS gpu_hours
    FROM run_queued q
    CROSS JOIN run
    CROSS JOIN LATERAL generate_series(date_trunc('hour', greatest(q.asked, run.from_time)), q.job_from - interval '1 microsecond', interval '1 hour') h(hour)
    WHERE q.wait_seconds > 0
    GROUP BY GROUPING SETS ((q.cluster, q.partition, q.pool), (q.cluster, q.partition, q.pool, audit.hour_of_week(h.hour)))
), both_kinds AS (
    SELECT cluster, partition, pool, coalesce(hour_of_week, -1) AS hour_of_week, jobs, unknown, p50, p95, NULL::numeric AS gpu_hours FROM asked
    UNION ALL
    SELECT cluster, partition, pool, coalesce(hour_of_week, -1), 0, 0, NULL, NULL, gpu_hours FROM waited
)
SELECT audit.this_audit(), cluster, partition, pool, nullif(hour_of_week, -1), sum(jobs), sum(unknown), max(p50), max(p95),
       trim_scale(round(coalesce(sum(gpu_hours), 0), 6))
FROM both_kinds
GROUP BY cluster, partition, pool, hour_of_week;

-- A pool's own week beside that of the jobs that waited for it.
INSERT INTO audit.audit_shortage
WITH job AS (
    SELECT pool, count(*) AS jobs, percentile_disc(0.50) WITHIN GROUP (ORDER BY wait_seconds) AS p50,
           percentile_disc(0.95) WITHIN GROUP (ORDER BY wait_seconds) AS p95
    FROM run_queued WHERE pool <> '' GROUP BY pool
), scope AS (
    SELECT o.scope_no, j.* FROM job j JOIN audit.audit_scope o ON o.audit_id = audit.this_audit() AND o.dimension = 'pool' AND o.key = j.pool
), week AS (
    SELECT s.pool, audit.hour_of_week(h.hour) AS hour_of_week, count(*) AS hours, sum(h.running_gpus)::numeric AS running, sum(h.busy_gpus)::numeric AS busy,
           max(h.busy_gpus)::numeric AS peak
    FROM scope s
    JOIN audit.scope_hour h ON h.audit_id = audit.this_audit() AND h.scope_no = s.scope_no
    GROUP BY s.pool, audit.hour_of_week(h.hour)
), waited AS (
    SELECT pool, hour_of_week, sum(gpu_hours_waiting) AS gpu_hours FROM audit.audit_queue WHERE audit_id = audit.this_audit() AND pool <> '' GROUP BY pool, hour_of_week
), busiest AS (
    SELECT w.*, w.busy * sum(w.hours) OVER p > sum(w.busy) OVER p * w.hours AS is_busy FROM week w WINDOW p AS (PARTITION BY w.pool)
), pool AS (
    SELECT b.pool, sum(b.running) / sum(b.hours) AS running, sum(b.busy) / sum(b.hours) AS busy, max(b.peak) AS peak,
           count(*) FILTER (WHERE b.is_busy) AS busy_hours, sum(b.busy) FILTER (WHERE b.is_busy) / sum(b.hours) FILTER (WHERE b.is_busy) AS busy_then,
           coalesce(sum(w.gpu_hours) FILTER (WHERE b.is_busy), 0) / sum(b.hours) FILTER (WHERE b.is_busy) AS waiting_then
    FROM busiest b
    LEFT JOIN waited w ON w.pool = b.pool AND w.hour_of_week = b.hour_of_week
    GROUP BY b.pool
), supply AS (
    SELECT s.pool, sum(u.running_gpu_hours) AS running, sum(u.covered_gpu_hours) AS covered, sum(u.idle_gpu_hours) AS idle
    FROM audit.audit_use u
    JOIN audit.audit_subject s USING (audit_id, subject_no)
    WHERE u.audit_id = audit.this_audit() AND s.pool IN (SELECT pool FROM job)
    GROUP BY s.pool
)
SELECT audit.this_audit(), j.pool, j.jobs, j.p50, j.p95, trim_scale(w.gpu_hours), trim_scale(round(p.running, 6)), trim_scale(round(p.busy, 6)),
       trim_scale(round(p.peak, 6)), (100 * u.idle / nullif(u.covered, 0))::float8, (100 * u.covered / nullif(u.running, 0))::float8, p.busy_hours::int,
       trim_scale(round(p.busy_then, 6)), trim_scale(round(p.waiting_then, 6)),
       CASE WHEN u.covered >= 0.8 * u.running THEN u.idle >= 0.2 * u.covered AND coalesce(p.waiting_then, 0) >= 1 END
FROM job j
JOIN waited w ON w.pool = j.pool AND w.hour_of_week IS NULL
LEFT JOIN pool p ON p.pool = j.pool
LEFT JOIN supply u ON u.pool = j.pool;
