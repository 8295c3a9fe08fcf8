-- Analysis, step 5d: GPUs that were held back, or busy or full with nothing done. Where a signal was not measured,
-- nothing is said.
--   run_quiet   a quarter of the rated power of a resource's GPUs
--   run_signal  hours of series in which a signal says something
--   run_event   a GPU in such an hour, with what it was billed for and its price
-- Parked and hung are told of GPUs whose one series is the whole GPU: what slices and pods share cannot be told apart.

-- A family may have several boards: what is quiet for the one with the least rated power is quiet for all.
CREATE TEMP TABLE run_quiet ON COMMIT DROP AS
SELECT i.resource_no, 0.25 * min(m.tdp_w)::float8 AS quiet_w
FROM (SELECT DISTINCT resource_no, subject_no FROM run_item) i
JOIN audit.audit_subject s ON s.audit_id = audit.this_audit() AND s.subject_no = i.subject_no
JOIN audit.gpu_model m ON lower(m.family) = lower(s.model) AND (m.origin = 'shipped' OR m.source_id IN (SELECT source_id FROM run_slice))
GROUP BY i.resource_no HAVING count(*) = count(m.tdp_w);

ANALYZE run_quiet;

CREATE TEMP TABLE run_signal ON COMMIT DROP AS
SELECT h.slice_id, h.series_no, h.hour, CASE WHEN h.throttle_power_s > 3600 THEN 3600 ELSE h.throttle_power_s END AS power_s,
       CASE WHEN h.throttle_thermal_s > 3600 THEN 3600 ELSE h.throttle_thermal_s END AS heat_s, h.xid_changes,
       h.memory_max_mib / nullif(h.memory_total_mib, 0) > 0.5
           AND coalesce(h.util_max_pct, 0) < 1 AND coalesce(h.sm_max_pct, 0) < 1 AND coalesce(h.util_max_pct, h.sm_max_pct) IS NOT NULL AS is_parked,
       h.memory_max_mib, h.power_mean_w, h.util_sum / nullif(h.util_samples, 0) >= 90000000 AS is_loud
FROM audit.gpu_hour h
CROSS JOIN (SELECT max(quiet_w) AS quiet_w FROM run_quiet) r
WHERE h.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'telemetry'))
  AND h.hour >= (SELECT from_time FROM run) AND h.hour < (SELECT to_time FROM run)
  AND (h.memory_max_mib > 0.5 * h.memory_total_mib AND coalesce(h.util_max_pct, 0) < 1 AND coalesce(h.sm_max_pct, 0) < 1
       OR h.power_mean_w <= r.quiet_w AND h.util_sum >= 90000000::bigint * h.util_samples
       OR h.throttle_power_s > 0 OR h.throttle_thermal_s > 0 OR h.xid_changes > 0);

ANALYZE run_signal;

CREATE TEMP TABLE run_event ON COMMIT DROP AS
WITH place AS (
    SELECT slice_id, series_no, gpu_no, resource_no, from_hour, to_hour FROM run_alone WHERE resource_no IS NOT NULL
    UNION ALL
    SELECT slice_id, series_no, gpu_no, resource_no, from_hour, to_hour FROM run_piece WHERE resource_no IS NOT NULL
), gpu AS (
    SELECT s.gpu_no, g.hour, p.resource_no, max(g.power_s) AS power_s, max(g.heat_s) AS heat_s, max(g.xid_changes) AS xid_changes,
           bool_or(g.is_parked AND s.is_only) AS is_parked, max(g.memory_max_mib) AS memory_mib,
           bool_or(g.is_loud AND s.is_only AND g.power_mean_w <= q.quiet_w) AS is_hung, max(g.power_mean_w) AS power_w
    FROM run_signal g
    JOIN run_series s USING (slice_id, series_no)
    LEFT JOIN place p ON p.slice_id = g.slice_id AND p.series_no = g.series_no AND g.hour >= p.from_hour AND g.hour < p.to_hour
    LEFT JOIN run_quiet q ON q.resource_no = p.resource_no
    GROUP BY s.gpu_no, g.hour, p.resource_no
), priced AS (
    SELECT t.resource_no, t.hour, sum(t.running_gpu_hours) / max(t.chips) AS gpu_hours, max(t.subject_no) FILTER (WHERE t.is_main) AS subject_no,
           CASE WHEN count(*) = count(t.effective_cost) THEN sum(t.effective_cost) / max(t.chips) END AS cost
    FROM run_total t
    WHERE t.is_running AND EXISTS (SELECT FROM run_signal) AND t.resource_no IN (SELECT resource_no FROM gpu)
    GROUP BY t.resource_no, t.hour
)
SELECT v.kind, g.gpu_no, g.resource_no, g.hour, v.amount, v.part * p.gpu_hours AS gpu_hours, v.part * p.cost AS cost, p.subject_no
FROM gpu g
LEFT JOIN priced p ON p.resource_no = g.resource_no AND p.hour = g.hour
CROSS JOIN LATERAL (VALUES
    ('throttled by power', g.power_s, round(g.power_s::numeric, 3) / 3600, g.power_s > 0),
    ('throttled by heat', g.heat_s, round(g.heat_s::numeric, 3) / 3600, g.heat_s > 0),
    ('parked model', g.memory_mib, 1, g.is_parked),
    ('hung', g.power_w, 1, g.is_hung),
    ('driver errors', g.xid_changes, 1, g.xid_changes > 0)) v(kind, amount, part, holds)
WHERE v.holds;

ANALYZE run_event;

INSERT INTO audit.audit_efficiency
WITH host AS (
    SELECT gpu_no, max(host) AS host FROM run_series WHERE EXISTS (SELECT FROM run_event) GROUP BY gpu_no
), island AS (
    SELECT *, count(*) FILTER (WHERE is_new) OVER (PARTITION BY kind, gpu_no ORDER BY hour) AS stretch
    FROM (SELECT *, (hour - lag(hour) OVER (PARTITION BY kind, gpu_no ORDER BY hour)
                     <= CASE WHEN kind IN ('parked model', 'hung') THEN interval '1 hour' ELSE interval '24 hours' END) IS NOT TRUE AS is_new
          FROM run_event) e
), stretch AS (
    SELECT kind, gpu_no, min(hour) AS from_time, max(hour) + interval '1 hour' AS to_time, count(DISTINCT hour) AS hours, sum(gpu_hours) AS gpu_hours,
           CASE WHEN count(*) = count(cost) THEN sum(cost) END AS cost, max(subject_no) AS subject_no, sum(amount::numeric) AS total,
           max(amount) AS most
    FROM island
    GROUP BY kind, gpu_no, stretch
    HAVING count(DISTINCT hour) >= CASE kind WHEN 'parked model' THEN 24 WHEN 'hung' THEN 3 ELSE 1 END
)
SELECT audit.this_audit(), row_number() OVER (ORDER BY t.cost DESC NULLS LAST, t.kind, g.gpu_uuid, t.from_time), t.kind, g.gpu_uuid,
       h.host, s.provider, s.resource_id, coalesce(s.model, g.model_name), s.pool, s.team, s.project,
       t.from_time, t.to_time, t.hours, trim_scale(round(t.gpu_hours, 9)), trim_scale(round(t.cost, 9)),
       CASE t.kind WHEN 'parked model' THEN format('%s MiB of memory held', round(t.most::numeric))
                   WHEN 'hung' THEN format('at most %s W', round(t.most::numeric))
                   WHEN 'driver errors' THEN format('%s XID errors', round(t.total))
                   ELSE format('%s s at lower clocks', round(t.total)) END
FROM stretch t
JOIN run_gpu g USING (gpu_no)
LEFT JOIN host h USING (gpu_no)
LEFT JOIN audit.audit_subject s ON s.audit_id = audit.this_audit() AND s.subject_no = t.subject_no;

INSERT INTO run_quality
SELECT 14 + v.place, v.kind, format(v.finding, count(*)), count(DISTINCT e.gpu_uuid), trim_scale(sum(e.gpu_hours)), trim_scale(sum(e.cost)), v.remedy
FROM (VALUES
    (0.1, 'throttled by power', 'GPUs at lower clocks because of the power limit, in %s stretches', 'Check power limits and supplies of the machines on the list of idle stretches; what they cost then was not all delivered.'),
    (0.2, 'throttled by heat', 'GPUs at lower clocks because of heat, in %s stretches', 'Check their cooling.'),
    (0.3, 'parked model', 'GPUs with more than half their memory held and nothing run for a day or longer, in %s stretches', 'Unload models that nobody calls, or let several share a GPU.'),
    (0.4, 'hung', 'GPUs at 90 %% utilization or more and at a quarter of their rated power or less for three hours or longer, in %s stretches: processes that wait in a loop look like this', 'Look at the jobs of those hours; end hung collectives by a timeout.'),
    (0.5, 'driver errors', 'GPUs with XID errors, in %s stretches; GPU-hours are those of the hours in which errors appeared', 'Have the machines checked; the log of the driver names the errors.')) v(place, kind, finding, remedy)
JOIN audit.audit_efficiency e ON e.audit_id = audit.this_audit() AND e.kind = v.kind
GROUP BY v.place, v.kind, v.finding, v.remedy;
