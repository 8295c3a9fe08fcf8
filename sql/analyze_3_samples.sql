-- Analysis, step 3: what the GPUs did, per resource and hour.
--   run_series  telemetry series with the physical GPU and slices they stand for
--   run_span    which resource a series' GPU was, and when (whole hours)
--   run_cell    one GPU in one hour: samples and sums
--   run_seen    a resource in an hour: its cells added up
-- Sums of samples are in 1/28,000,000 of a percent: millionths, times 28 so that the sevenths and
-- quarters of MIG chips stay whole. A chip's slice counts slices / slices of the chip.

CREATE TEMP TABLE run_gpu ON COMMIT DROP AS
SELECT row_number() OVER (ORDER BY gpu_uuid)::int AS gpu_no, gpu_uuid, max(model_name) AS model_name
FROM audit.gpu_series
WHERE slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'telemetry'))
GROUP BY gpu_uuid;

-- Seconds a sample stands for: as configured, else 3600 over the most frequent count of an hour.
-- Means are weighted by time: a sample counts as many of the shortest interval as its own has.
CREATE TEMP TABLE run_interval ON COMMIT DROP AS
SELECT slice_id, seconds, greatest(1, round(seconds / min(seconds) OVER ()))::int AS weight, round(3600 / min(seconds) OVER ())::int AS full_hour
FROM (
    SELECT l.slice_id, coalesce(
               (SELECT t.value::float8 FROM audit.audit_setting t JOIN run USING (audit_id)
                WHERE t.key = 'sample_interval_seconds/' || l.name),
               (SELECT 3600.0 / mode() WITHIN GROUP (ORDER BY h.samples) FROM audit.gpu_hour h
                WHERE h.slice_id = l.slice_id AND h.samples > 0)) AS seconds
    FROM run_slice l WHERE l.kind = 'telemetry') i;

CREATE TEMP TABLE run_series ON COMMIT DROP AS
SELECT s.slice_id, s.series_no, i.seconds, i.weight, i.full_hour, g.gpu_no, s.mig_id, s.host, s.instance_id, s.gpu_uuid,
       CASE WHEN s.mig_profile IS NULL THEN NULL ELSE substring(s.mig_profile FROM '^[0-9]+')::int END AS slices,
       r.resource_no
FROM audit.gpu_series s
JOIN run_interval i USING (slice_id)
JOIN run_gpu g USING (gpu_uuid)
LEFT JOIN LATERAL (
    -- the id the telemetry itself carries is exact: the first step of the join ladder
    SELECT min(resource_no) AS resource_no FROM run_resource r WHERE r.resource_key = lower(btrim(s.instance_id))
) r ON true
WHERE s.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'telemetry'));

-- A host's spans on whole hours. In an hour that two spans share, the longer part has the hour.
CREATE TEMP TABLE run_host ON COMMIT DROP AS
WITH span AS (
    SELECT lower(b.host) AS host, r.resource_no, b.valid_from, b.valid_to,
           lag(b.valid_to) OVER w AS before_to, lead(b.valid_from) OVER w AS after_from
    FROM audit.host_binding b
    JOIN run_slice s ON s.source_id = b.source_id
    LEFT JOIN run_resource r ON r.resource_key = b.resource_key
        AND regexp_replace(r.provider, '[^a-z0-9]', '', 'g') = regexp_replace(lower(b.provider), '[^a-z0-9]', '', 'g')
    WINDOW w AS (PARTITION BY lower(b.host) ORDER BY b.valid_from)
), edge AS (
    SELECT *, date_trunc('hour', valid_from) AS first_hour,
           date_trunc('hour', valid_to - interval '1 microsecond') + interval '1 hour' AS last_hour
    FROM span
)
SELECT host, resource_no,
       CASE WHEN before_to > first_hour AND before_to - first_hour >= first_hour + interval '1 hour' - valid_from
            THEN first_hour + interval '1 hour' ELSE first_hour END AS from_hour,
       CASE WHEN after_from < last_hour AND after_from > last_hour - interval '1 hour'
                 AND last_hour - after_from > valid_to - (last_hour - interval '1 hour')
            THEN last_hour - interval '1 hour' ELSE last_hour END AS to_hour
FROM edge;

CREATE TEMP TABLE run_span ON COMMIT DROP AS
SELECT slice_id, series_no, resource_no, '-infinity'::timestamptz AS from_hour, 'infinity'::timestamptz AS to_hour
FROM run_series WHERE resource_no IS NOT NULL
UNION ALL
SELECT s.slice_id, s.series_no, h.resource_no, h.from_hour, h.to_hour
FROM run_series s JOIN run_host h ON h.host = lower(s.host) AND h.resource_no IS NOT NULL
WHERE s.resource_no IS NULL;

-- Owned machines that no mapping names: by GPU UUID, else by host, while in service.
INSERT INTO run_span
SELECT DISTINCT s.slice_id, s.series_no, r.resource_no, date_trunc('hour', o.in_service_from),
       date_trunc('hour', o.in_service_to - interval '1 microsecond') + interval '1 hour'
FROM run_series s
JOIN (SELECT o.*, u.uuid FROM audit.owned_gpu o JOIN run_slice l ON l.source_id = o.source_id
      LEFT JOIN LATERAL unnest(o.gpu_uuids) u(uuid) ON true) o ON o.uuid = s.gpu_uuid
      OR (cardinality(o.gpu_uuids) = 0 AND lower(o.host) = lower(s.host))
JOIN run_resource r ON r.provider = 'on-prem' AND r.resource_key = lower(o.asset)
WHERE s.resource_no IS NULL AND NOT EXISTS (SELECT 1 FROM run_span p WHERE p.slice_id = s.slice_id AND p.series_no = s.series_no);

CREATE INDEX ON run_span (slice_id, series_no);
ANALYZE run_series, run_span;

-- Whole GPUs: series of one GPU (its pods) add up. Pods that share it at the same time each report it:
-- their hour still counts as one hour of samples. A profiling counter stuck at zero beside a busy
-- second signal (utilization of 20 %, half the rated power) is no measurement.
CREATE TEMP TABLE run_cell ON COMMIT DROP AS
WITH added AS (
    SELECT s.gpu_no, h.hour, p.resource_no, max(s.full_hour) AS full_hour, least(3600, sum(h.samples * s.seconds)) AS observed_seconds,
           sum(coalesce(h.util_samples, h.sm_samples) * s.weight)::int AS samples, sum(h.util_samples) > 0 AS has_util,
           -- whole numbers far below 2^53: a double adds them exactly, and many times faster than int128
           sum(CASE WHEN h.util_samples IS NULL THEN h.sm_sum ELSE h.util_sum END::float8 * s.weight) AS util_sum,
           sum(h.sm_samples * s.weight)::int AS sm_samples, sum(h.sm_sum::float8 * s.weight) AS sm_sum,
           sum(h.sm_sum::float8) = 0 AND sum(h.util_sum::float8) >= 20e6 * sum(h.util_samples) AS is_stuck,
           sum(h.sm_sum::float8) = 0 AS is_zero, max(h.power_mean_w) AS power_w, sum(h.idle_samples * s.weight)::int AS idle_samples
    FROM audit.gpu_hour h
    JOIN run ON h.hour >= run.from_time AND h.hour < run.to_time
    JOIN run_series s ON s.slice_id = h.slice_id AND s.series_no = h.series_no AND s.slices IS NULL
    LEFT JOIN run_span p ON p.slice_id = h.slice_id AND p.series_no = h.series_no AND h.hour >= p.from_hour AND h.hour < p.to_hour
    WHERE h.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'telemetry')) AND h.samples > 0
    GROUP BY s.gpu_no, h.hour, p.resource_no
), trusted AS (
    SELECT a.*, coalesce(is_stuck OR is_zero AND power_w >= 0.5 * r.tdp_w, false) AS has_no_sm,
           -- of an hour and a twentieth more samples than an hour has, an hour's
           CASE WHEN samples > 1.05 * full_hour + 1 THEN full_hour::float8 / samples ELSE 1 END AS part
    FROM added a LEFT JOIN run_resource r USING (resource_no)
)
SELECT gpu_no, hour, resource_no, false AS is_mig, observed_seconds,
       CASE WHEN has_util OR NOT has_no_sm THEN round(samples * part)::int END AS util_samples, round(util_sum * part)::bigint * 28 AS util_sum,
       CASE WHEN NOT has_no_sm THEN round(sm_samples * part)::int END AS sm_samples, round(sm_sum * part)::bigint * 28 AS sm_sum,
       round(idle_samples * part)::int AS idle_samples
FROM trusted;

-- MIG: a partition's mean counts by its slices; the GPU's samples are those of its best-seen partition.
INSERT INTO run_cell
WITH partition AS (
    SELECT s.gpu_no, h.hour, p.resource_no, s.mig_id, s.slices, least(3600, sum(h.samples * s.seconds)) AS observed_seconds,
           sum(coalesce(h.util_samples, h.sm_samples) * s.weight)::int AS util_samples,
           sum(CASE WHEN h.util_samples IS NULL THEN h.sm_sum ELSE h.util_sum END::float8 * s.weight)::bigint AS util_sum,
           CASE WHEN sum(h.sm_sum::float8) = 0 AND sum(h.util_sum::float8) >= 20e6 * sum(h.util_samples) THEN NULL
                ELSE sum(h.sm_samples * s.weight) END::int AS sm_samples, sum(h.sm_sum::float8 * s.weight)::bigint AS sm_sum
    FROM audit.gpu_hour h
    JOIN run ON h.hour >= run.from_time AND h.hour < run.to_time
    JOIN run_series s ON s.slice_id = h.slice_id AND s.series_no = h.series_no AND s.slices IS NOT NULL
    LEFT JOIN run_span p ON p.slice_id = h.slice_id AND p.series_no = h.series_no AND h.hour >= p.from_hour AND h.hour < p.to_hour
    WHERE h.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'telemetry')) AND h.samples > 0
    GROUP BY s.gpu_no, h.hour, p.resource_no, s.mig_id, s.slices
), best AS (
    SELECT *, max(util_samples) OVER c AS most_util, max(sm_samples) OVER c AS most_sm
    FROM partition WINDOW c AS (PARTITION BY gpu_no, hour, resource_no)
)
SELECT b.gpu_no, b.hour, b.resource_no, true, max(b.observed_seconds), max(b.most_util),
       sum(CASE WHEN b.util_samples = b.most_util THEN b.util_sum * b.slices * (28 / c.slices)
                ELSE round(b.util_sum::numeric * b.slices * (28 / c.slices) * b.most_util / b.util_samples) END)::bigint,
       max(b.most_sm),
       sum(CASE WHEN b.sm_samples = b.most_sm THEN b.sm_sum * b.slices * (28 / c.slices)
                ELSE round(b.sm_sum::numeric * b.slices * (28 / c.slices) * b.most_sm / b.sm_samples) END)::bigint,
       NULL
FROM best b
LEFT JOIN run_resource r USING (resource_no)
CROSS JOIN LATERAL (SELECT CASE r.mig_slices WHEN 4 THEN 4 WHEN 2 THEN 2 ELSE 7 END AS slices) c
GROUP BY b.gpu_no, b.hour, b.resource_no;

-- A GPU that reports itself beside its partitions is one cell: theirs. In an hour in which it was
-- whole for a part and partitioned for the other, the parts add up.
CREATE TEMP TABLE run_both ON COMMIT DROP AS
SELECT w.gpu_no, w.hour, w.resource_no, w.util_samples, w.util_sum, w.sm_samples, w.sm_sum, w.observed_seconds,
       w.observed_seconds + m.observed_seconds <= 3780 AS is_part
FROM run_cell m
JOIN run_cell w ON w.gpu_no = m.gpu_no AND w.hour = m.hour AND w.resource_no IS NOT DISTINCT FROM m.resource_no AND NOT w.is_mig
WHERE m.is_mig;

DELETE FROM run_cell w USING run_both b
WHERE NOT w.is_mig AND w.gpu_no = b.gpu_no AND w.hour = b.hour AND w.resource_no IS NOT DISTINCT FROM b.resource_no;

UPDATE run_cell m
SET util_samples = coalesce(m.util_samples + b.util_samples, m.util_samples, b.util_samples),
    util_sum = coalesce(m.util_sum + b.util_sum, m.util_sum, b.util_sum),
    sm_samples = coalesce(m.sm_samples + b.sm_samples, m.sm_samples, b.sm_samples),
    sm_sum = CASE WHEN b.sm_samples IS NULL THEN m.sm_sum WHEN m.sm_samples IS NULL THEN b.sm_sum ELSE m.sm_sum + b.sm_sum END,
    observed_seconds = least(3600, m.observed_seconds + b.observed_seconds)
FROM run_both b
WHERE b.is_part AND m.is_mig AND m.gpu_no = b.gpu_no AND m.hour = b.hour AND m.resource_no IS NOT DISTINCT FROM b.resource_no;

ANALYZE run_cell;

-- A cell without a trusted sample of util is unknown: neither idle nor busy.
CREATE TEMP TABLE run_seen ON COMMIT DROP AS
SELECT c.resource_no, c.hour, count(*)::int AS covered_chips,
       count(*) FILTER (WHERE c.util_sum < run.idle_threshold_pct * 28000000 * c.util_samples)::int AS idle_chips,
       count(c.util_samples)::int AS util_chips, count(c.sm_samples)::int AS sm_chips,
       sum(c.util_samples)::int AS samples, sum(c.idle_samples)::int AS idle_samples,
       sum(round(c.observed_seconds))::int AS observed_seconds,
       sum(c.util_sum::float8)::bigint AS util_sum,
       sum(round(c.util_sum::float8 / c.util_samples / 28e6 * 1e10))::bigint AS cell_util_sum,
       coalesce(sum(c.sm_samples), 0)::int AS sm_samples,
       coalesce(sum(c.sm_sum::float8) FILTER (WHERE c.sm_samples IS NOT NULL), 0)::bigint AS sm_sum,
       coalesce(sum(round(c.sm_sum::float8 / c.sm_samples / 28e6 * 1e10)), 0)::bigint AS cell_sm_sum,
       -- for idle stretches: of each GPU its sm, or its util where sm is not measured
       sum(coalesce(c.sm_samples, c.util_samples))::int AS work_samples,
       sum(CASE WHEN c.sm_samples IS NULL THEN c.util_sum ELSE c.sm_sum END::float8)::bigint AS work_sum
FROM run_cell c
CROSS JOIN (SELECT audit_id, idle_threshold_pct::float8 AS idle_threshold_pct FROM run) run
WHERE c.resource_no IS NOT NULL AND c.util_samples > 0
GROUP BY c.resource_no, c.hour;

ANALYZE run_seen;
