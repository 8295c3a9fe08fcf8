-- Analysis, step 3: what the GPUs did, per resource and hour.
--   run_series  telemetry series with the physical GPU and slices they stand for
--   run_span    which resource a series' GPU was, and when (whole hours)
--   run_alone   series that are a whole GPU's only one in their month, with their span
--   run_piece   the others, with their spans and the gaps between
--   run_cell    one GPU in one hour: samples and sums
--   run_seen    a resource in an hour: its cells added up
-- Sums of samples are in 1/28,000,000 of a percent: millionths, times 28 so that the sevenths and
-- quarters of MIG chips stay whole. A chip's slice counts slices / slices of the chip.

CREATE TEMP TABLE run_gpu ON COMMIT DROP AS
SELECT row_number() OVER (ORDER BY gpu_uuid)::int AS gpu_no, gpu_uuid, max(model_name) AS model_name
FROM audit.gpu_series
WHERE slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'telemetry'))
GROUP BY gpu_uuid;

ANALYZE run, run_gpu;

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
       r.resource_no, s.mig_profile IS NULL AND count(*) OVER (PARTITION BY g.gpu_no, l.period) = 1 AS is_only
FROM audit.gpu_series s
JOIN run_slice l USING (slice_id)
JOIN run_interval i USING (slice_id)
JOIN run_gpu g USING (gpu_uuid)
-- the id the telemetry itself carries is exact: the first step of the join ladder
LEFT JOIN (SELECT resource_key, min(resource_no) AS resource_no FROM run_resource GROUP BY resource_key) r
       ON r.resource_key = lower(btrim(s.instance_id))
WHERE s.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'telemetry'));

ANALYZE run_interval, run_series;

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

ANALYZE run_span;

-- A slice holds an hour of a series once, and its hours lie in its month: a whole GPU's only series of
-- a month, with one span at most, needs no adding up: its hours are cells as they are. Nearly all are such.
CREATE TEMP TABLE run_alone ON COMMIT DROP AS
SELECT s.slice_id, s.series_no, s.gpu_no, s.seconds, s.weight, s.full_hour, p.resource_no, p.from_hour, p.to_hour, r.tdp_w
FROM run_series s
LEFT JOIN (SELECT *, count(*) OVER (PARTITION BY slice_id, series_no) AS spans FROM run_span) p USING (slice_id, series_no)
LEFT JOIN run_resource r ON r.resource_no = p.resource_no
WHERE s.is_only AND coalesce(p.spans, 1) = 1;

-- Every other series, and where its GPU was, gaps between spans included: there resource_no is NULL.
CREATE TEMP TABLE run_piece ON COMMIT DROP AS
WITH series AS (
    SELECT s.* FROM run_series s WHERE NOT EXISTS (SELECT 1 FROM run_alone a WHERE a.slice_id = s.slice_id AND a.series_no = s.series_no)
), span AS (
    SELECT *, max(to_hour) OVER (PARTITION BY slice_id, series_no ORDER BY from_hour, to_hour ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_to
    FROM run_span WHERE from_hour < to_hour
), piece AS (
    SELECT slice_id, series_no, resource_no, from_hour, to_hour FROM span
    UNION ALL
    SELECT slice_id, series_no, NULL, coalesce(before_to, '-infinity'), from_hour FROM span WHERE from_hour > coalesce(before_to, '-infinity')
    UNION ALL
    SELECT s.slice_id, s.series_no, NULL, coalesce(max(p.to_hour), '-infinity'), 'infinity'
    FROM series s LEFT JOIN span p USING (slice_id, series_no)
    GROUP BY s.slice_id, s.series_no HAVING coalesce(max(p.to_hour), '-infinity') < 'infinity'
)
SELECT p.slice_id, p.series_no, p.from_hour, p.to_hour, p.resource_no, r.tdp_w, CASE r.mig_slices WHEN 4 THEN 4 WHEN 2 THEN 2 ELSE 7 END AS chip_slices,
       s.gpu_no, s.mig_id, s.slices, s.seconds, s.weight, s.full_hour
FROM piece p
JOIN series s USING (slice_id, series_no)
LEFT JOIN run_resource r ON r.resource_no = p.resource_no;

ANALYZE run_alone, run_piece;

-- A profiling counter stuck at zero beside a busy second signal (utilization of 20 %, half the rated
-- power) is no measurement. Of an hour and a twentieth more samples than an hour has, an hour's.
-- util is the cell's mean in 1e-10 percent. Sums are whole numbers far below 2^53: a double adds them
-- exactly, and many times faster than numeric.
CREATE TEMP TABLE run_cell ON COMMIT DROP AS
WITH measured AS (
    SELECT a.gpu_no, h.hour, CASE WHEN h.hour >= a.from_hour AND h.hour < a.to_hour THEN a.resource_no END AS resource_no,
           CASE WHEN h.hour >= a.from_hour AND h.hour < a.to_hour THEN a.tdp_w END AS tdp_w, a.full_hour,
           least(3600, h.samples * a.seconds) AS observed_seconds, h.util_samples > 0 AS has_util,
           coalesce(h.util_samples, h.sm_samples) * a.weight AS samples,
           CASE WHEN h.util_samples IS NULL THEN h.sm_sum ELSE h.util_sum END * a.weight AS util_sum,
           h.sm_samples * a.weight AS sm_samples, h.sm_sum * a.weight AS sm_sum, h.idle_samples * a.weight AS idle_samples,
           h.util_sum AS own_util_sum, h.util_samples AS own_util_samples, h.power_mean_w
    FROM audit.gpu_hour h
    JOIN run_alone a ON a.slice_id = h.slice_id AND a.series_no = h.series_no
    WHERE h.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'telemetry')) AND h.samples > 0
      AND h.hour >= (SELECT from_time FROM run) AND h.hour < (SELECT to_time FROM run)
), trusted AS (
    SELECT gpu_no, hour, resource_no, observed_seconds, has_util, samples, util_sum, sm_samples, sm_sum, idle_samples,
           sm_sum = 0 AND coalesce(own_util_sum >= 20000000::bigint * own_util_samples OR power_mean_w >= 0.5 * tdp_w, false) AS has_no_sm,
           CASE WHEN samples > 1.05::float8 * full_hour + 1 THEN full_hour::float8 / samples END AS part
    FROM measured
), cell AS (
    SELECT gpu_no, hour, resource_no, observed_seconds,
           CASE WHEN has_util OR has_no_sm IS NOT TRUE THEN CASE WHEN part IS NULL THEN samples ELSE round(samples * part)::int END END AS util_samples,
           CASE WHEN part IS NULL THEN util_sum ELSE round(util_sum * part)::bigint END * 28 AS util_sum,
           CASE WHEN has_no_sm IS NOT TRUE THEN CASE WHEN part IS NULL THEN sm_samples ELSE round(sm_samples * part)::int END END AS sm_samples,
           CASE WHEN part IS NULL THEN sm_sum ELSE round(sm_sum * part)::bigint END * 28 AS sm_sum,
           CASE WHEN part IS NULL THEN idle_samples ELSE round(idle_samples * part)::int END AS idle_samples
    FROM trusted
)
SELECT gpu_no, resource_no, hour, observed_seconds, false AS is_mig, util_samples, sm_samples, idle_samples, util_sum, sm_sum,
       CASE WHEN util_samples > 0 THEN round(util_sum::float8 / util_samples / 28e6 * 1e10)::bigint END AS util
FROM cell;

-- Whole GPUs with several series: pods that share it at the same time each report it, and their hour
-- still counts as one hour of samples.
INSERT INTO run_cell
WITH added AS (
    SELECT s.gpu_no, h.hour, s.resource_no, max(s.full_hour) AS full_hour, least(3600, sum(h.samples * s.seconds)) AS observed_seconds,
           sum(coalesce(h.util_samples, h.sm_samples) * s.weight)::int AS samples, sum(h.util_samples) > 0 AS has_util,
           sum(CASE WHEN h.util_samples IS NULL THEN h.sm_sum ELSE h.util_sum END::float8 * s.weight) AS util_sum,
           sum(h.sm_samples * s.weight)::int AS sm_samples, sum(h.sm_sum::float8 * s.weight) AS sm_sum,
           sum(h.sm_sum::float8) = 0 AND sum(h.util_sum::float8) >= 20e6 * sum(h.util_samples) AS is_stuck,
           sum(h.sm_sum::float8) = 0 AS is_zero, max(h.power_mean_w) AS power_w, sum(h.idle_samples * s.weight)::int AS idle_samples, s.tdp_w
    FROM audit.gpu_hour h
    JOIN run_piece s ON s.slice_id = h.slice_id AND s.series_no = h.series_no AND h.hour >= s.from_hour AND h.hour < s.to_hour
        AND s.slices IS NULL
    WHERE h.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'telemetry')) AND h.samples > 0
      AND h.hour >= (SELECT from_time FROM run) AND h.hour < (SELECT to_time FROM run)
    GROUP BY s.gpu_no, h.hour, s.resource_no, s.tdp_w
), trusted AS (
    SELECT a.*, coalesce(is_stuck OR is_zero AND power_w >= 0.5 * tdp_w, false) AS has_no_sm,
           CASE WHEN samples > 1.05 * full_hour + 1 THEN full_hour::float8 / samples ELSE 1 END AS part
    FROM added a
), cell AS (
    SELECT gpu_no, hour, resource_no, observed_seconds,
           CASE WHEN has_util OR NOT has_no_sm THEN round(samples * part)::int END AS util_samples, round(util_sum * part)::bigint * 28 AS util_sum,
           CASE WHEN NOT has_no_sm THEN round(sm_samples * part)::int END AS sm_samples, round(sm_sum * part)::bigint * 28 AS sm_sum,
           round(idle_samples * part)::int AS idle_samples
    FROM trusted
)
SELECT gpu_no, resource_no, hour, observed_seconds, false, util_samples, sm_samples, idle_samples, util_sum, sm_sum,
       CASE WHEN util_samples > 0 THEN round(util_sum::float8 / util_samples / 28e6 * 1e10)::bigint END
FROM cell;

-- MIG: a partition's mean counts by its slices; the GPU's samples are those of its best-seen partition.
INSERT INTO run_cell
WITH partition AS (
    SELECT s.gpu_no, h.hour, s.resource_no, s.chip_slices, s.mig_id, s.slices, least(3600, sum(h.samples * s.seconds)) AS observed_seconds,
           sum(coalesce(h.util_samples, h.sm_samples) * s.weight)::int AS util_samples,
           sum(CASE WHEN h.util_samples IS NULL THEN h.sm_sum ELSE h.util_sum END::float8 * s.weight)::bigint AS util_sum,
           CASE WHEN sum(h.sm_sum::float8) = 0 AND sum(h.util_sum::float8) >= 20e6 * sum(h.util_samples) THEN NULL
                ELSE sum(h.sm_samples * s.weight) END::int AS sm_samples, sum(h.sm_sum::float8 * s.weight)::bigint AS sm_sum
    FROM audit.gpu_hour h
    JOIN run_piece s ON s.slice_id = h.slice_id AND s.series_no = h.series_no AND h.hour >= s.from_hour AND h.hour < s.to_hour
        AND s.slices IS NOT NULL
    WHERE h.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'telemetry')) AND h.samples > 0
      AND h.hour >= (SELECT from_time FROM run) AND h.hour < (SELECT to_time FROM run)
    GROUP BY s.gpu_no, h.hour, s.resource_no, s.chip_slices, s.mig_id, s.slices
), best AS (
    SELECT *, max(util_samples) OVER c AS most_util, max(sm_samples) OVER c AS most_sm
    FROM partition WINDOW c AS (PARTITION BY gpu_no, hour, resource_no)
), cell AS (
    SELECT b.gpu_no, b.hour, b.resource_no, max(b.observed_seconds) AS observed_seconds, max(b.most_util) AS util_samples,
           sum(CASE WHEN b.util_samples = b.most_util THEN b.util_sum * b.slices * (28 / b.chip_slices)
                    ELSE round(b.util_sum::numeric * b.slices * (28 / b.chip_slices) * b.most_util / b.util_samples) END)::bigint AS util_sum,
           max(b.most_sm) AS sm_samples,
           sum(CASE WHEN b.sm_samples = b.most_sm THEN b.sm_sum * b.slices * (28 / b.chip_slices)
                    ELSE round(b.sm_sum::numeric * b.slices * (28 / b.chip_slices) * b.most_sm / b.sm_samples) END)::bigint AS sm_sum
    FROM best b
    GROUP BY b.gpu_no, b.hour, b.resource_no
)
SELECT gpu_no, resource_no, hour, observed_seconds, true, util_samples, sm_samples, NULL::int, util_sum, sm_sum,
       CASE WHEN util_samples > 0 THEN round(util_sum::float8 / util_samples / 28e6 * 1e10)::bigint END
FROM cell;

-- A GPU that reports itself beside its partitions is one cell: theirs. In an hour in which it was
-- whole for a part and partitioned for the other, the parts add up.
CREATE TEMP TABLE run_mixed ON COMMIT DROP AS
SELECT gpu_no FROM run_series GROUP BY gpu_no HAVING count(*) > count(slices) AND count(slices) > 0;

ANALYZE run_mixed;

CREATE TEMP TABLE run_both ON COMMIT DROP AS
SELECT w.gpu_no, w.hour, w.resource_no, w.util_samples, w.util_sum, w.sm_samples, w.sm_sum, w.observed_seconds,
       w.observed_seconds + m.observed_seconds <= 3780 AS is_part
FROM run_mixed g
JOIN run_cell m ON m.gpu_no = g.gpu_no
JOIN run_cell w ON w.gpu_no = m.gpu_no AND w.hour = m.hour AND w.resource_no IS NOT DISTINCT FROM m.resource_no AND NOT w.is_mig
WHERE m.is_mig;

DELETE FROM run_cell w USING run_both b
WHERE NOT w.is_mig AND w.gpu_no = b.gpu_no AND w.hour = b.hour AND w.resource_no IS NOT DISTINCT FROM b.resource_no;

UPDATE run_cell m
SET util_samples = coalesce(m.util_samples + b.util_samples, m.util_samples, b.util_samples),
    util_sum = coalesce(m.util_sum + b.util_sum, m.util_sum, b.util_sum),
    sm_samples = coalesce(m.sm_samples + b.sm_samples, m.sm_samples, b.sm_samples),
    sm_sum = CASE WHEN b.sm_samples IS NULL THEN m.sm_sum WHEN m.sm_samples IS NULL THEN b.sm_sum ELSE m.sm_sum + b.sm_sum END,
    observed_seconds = least(3600, m.observed_seconds + b.observed_seconds),
    util = CASE WHEN coalesce(m.util_samples + b.util_samples, m.util_samples, b.util_samples) > 0
                THEN round(coalesce(m.util_sum + b.util_sum, m.util_sum, b.util_sum)::float8
                           / coalesce(m.util_samples + b.util_samples, m.util_samples, b.util_samples) / 28e6 * 1e10)::bigint END
FROM run_both b
WHERE b.is_part AND m.is_mig AND m.gpu_no = b.gpu_no AND m.hour = b.hour AND m.resource_no IS NOT DISTINCT FROM b.resource_no;

ANALYZE run_cell (gpu_no, resource_no, hour);

-- A cell without a trusted sample of util is unknown: neither idle nor busy. work is for idle
-- stretches: of each GPU its sm, or its util where sm is not measured.
CREATE TEMP TABLE run_seen ON COMMIT DROP AS
WITH seen AS (
    SELECT c.resource_no, c.hour, count(*)::int AS covered_chips,
           count(*) FILTER (WHERE c.util_sum < (SELECT idle_threshold_pct::float8 * 28000000 FROM run) * c.util_samples)::int AS idle_chips,
           count(c.sm_samples)::int AS sm_chips, sum(c.util_samples)::int AS samples, sum(c.idle_samples)::int AS idle_samples,
           sum(round(c.observed_seconds))::int AS observed_seconds, sum(c.util_sum::float8)::bigint AS util_sum,
           sum(c.util::float8)::bigint AS cell_util_sum, coalesce(sum(c.sm_samples), 0)::int AS sm_samples,
           coalesce(sum(c.sm_sum::float8) FILTER (WHERE c.sm_samples IS NOT NULL), 0)::bigint AS sm_sum,
           coalesce(sum(round(c.sm_sum::float8 / c.sm_samples / 28e6 * 1e10)), 0)::bigint AS cell_sm_sum,
           coalesce(sum(c.util_samples) FILTER (WHERE c.sm_samples IS NULL), 0)::int AS util_only_samples,
           coalesce(sum(c.util_sum::float8) FILTER (WHERE c.sm_samples IS NULL), 0)::bigint AS util_only_sum
    FROM run_cell c
    WHERE c.resource_no IS NOT NULL AND c.util_samples > 0
    GROUP BY c.resource_no, c.hour
)
SELECT resource_no, hour, covered_chips, idle_chips, covered_chips AS util_chips, sm_chips, samples, idle_samples, observed_seconds, util_sum,
       cell_util_sum, sm_samples, sm_sum, cell_sm_sum, sm_samples + util_only_samples AS work_samples, sm_sum + util_only_sum AS work_sum
FROM seen;

ANALYZE run_seen (resource_no, hour);
