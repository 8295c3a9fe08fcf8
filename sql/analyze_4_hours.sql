-- Analysis, step 4: supply and money per subject and hour, beside what the samples say.
--   run_rate     currency and month -> factor into the audit's currency
--   run_charge   kept rows that overlap the window, in the audit's currency
--   run_hour     subject and hour -> GPU-hours and money, before they are added up
--   run_total    one row per subject and hour
-- and from them audit_hour, audit_cell, audit_correction.

CREATE TEMP TABLE run_rate ON COMMIT DROP AS
SELECT u.currency, u.month, coalesce(f.rate, CASE WHEN u.currency = run.currency THEN 1 END) AS rate
FROM (SELECT DISTINCT i.currency, l.period AS month FROM audit.billing_item i JOIN run_slice l USING (slice_id)
      WHERE i.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing'))
      UNION SELECT DISTINCT t.currency, l.period FROM audit.billing_total t JOIN run_slice l USING (slice_id)) u
CROSS JOIN run
LEFT JOIN LATERAL (
    SELECT f.rate FROM audit.fx_rate f JOIN run_slice s ON s.source_id = f.source_id
    WHERE f.from_currency = u.currency AND f.to_currency = run.currency AND to_char(f.month, 'YYYY-MM') = u.month
      AND u.currency <> run.currency
    LIMIT 1) f ON true;

CREATE TEMP TABLE run_hour (
    subject_no int, resource_no int, hour timestamptz, is_placed boolean,
    running_gpu_hours numeric, billed_cost numeric, effective_cost numeric, list_cost numeric
) ON COMMIT DROP;

-- A row that lies in one clock hour is that hour's. Rows of one machine (cores, memory, GPU) add up.
-- A row that bills the accelerator itself is in GPU time already, any other in machine time.
INSERT INTO run_hour
SELECT i.subject_no, i.resource_no, date_trunc('hour', c.charge_from), false,
       sum(CASE WHEN i.role = 'gpu_use'
                THEN CASE i.unit_seconds WHEN 3600 THEN c.quantity ELSE c.quantity * i.unit_seconds / 3600 END
                     * CASE WHEN i.counts_gpus THEN 1 ELSE i.gpus END END),
       sum(c.billed_cost) * r.rate, sum(c.effective_cost) * r.rate, sum(c.list_cost) * r.rate
FROM audit.billing_charge c
JOIN run_item i USING (slice_id, item_no)
JOIN run_slice l USING (slice_id)
JOIN run_rate r ON r.currency = i.currency AND r.month = l.period
CROSS JOIN run
WHERE c.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing'))
  AND i.role IN ('gpu_use', 'gpu_money') AND c.charge_from >= run.from_time AND c.charge_from < run.to_time
  AND c.charge_to <= date_trunc('hour', c.charge_from) + interval '1 hour'
GROUP BY i.subject_no, i.resource_no, date_trunc('hour', c.charge_from), r.rate;

-- Longer rows. Hours that fill the period: every hour whole. Fewer: first the hours in which the
-- resource has a sample, earliest first, each at most one hour; the rest into the earliest others.
-- Money follows the hours; differences of a rounded running total keep its sum exact.
CREATE TEMP TABLE run_long ON COMMIT DROP AS
SELECT i.subject_no, i.resource_no, c.charge_from, c.charge_to, i.gpus,
       sum(CASE WHEN i.role = 'gpu_use' THEN c.quantity * i.unit_seconds / 3600 * CASE WHEN i.counts_gpus THEN 1 ELSE i.gpus END END)
           AS gpu_hours,
       sum(c.billed_cost * r.rate) AS billed_cost, sum(c.effective_cost * r.rate) AS effective_cost,
       sum(c.list_cost * r.rate) AS list_cost
FROM audit.billing_charge c
JOIN run_item i USING (slice_id, item_no)
JOIN run_slice l USING (slice_id)
JOIN run_rate r ON r.currency = i.currency AND r.month = l.period
CROSS JOIN run
WHERE c.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing'))
  AND i.role IN ('gpu_use', 'gpu_money') AND c.charge_from < run.to_time AND c.charge_to > run.from_time
  AND c.charge_to > date_trunc('hour', c.charge_from) + interval '1 hour'
GROUP BY i.subject_no, i.resource_no, c.charge_from, c.charge_to, i.gpus;

INSERT INTO run_hour
WITH slot AS (
    SELECT l.*, h.hour,
           extract(epoch FROM least(h.hour + interval '1 hour', l.charge_to) - greatest(h.hour, l.charge_from)) / 3600 AS hours,
           extract(epoch FROM l.charge_to - l.charge_from) / 3600 AS period_hours, l.gpu_hours / l.gpus AS machine_hours,
           s.hour IS NOT NULL AS is_seen
    FROM run_long l
    CROSS JOIN LATERAL generate_series(date_trunc('hour', l.charge_from), l.charge_to - interval '1 microsecond', interval '1 hour') h(hour)
    LEFT JOIN run_seen s ON s.resource_no = l.resource_no AND s.hour = h.hour
), placed AS (
    SELECT *, machine_hours < period_hours AS is_part,
           CASE WHEN machine_hours < period_hours
                THEN least(hours, greatest(0, machine_hours - coalesce(sum(hours) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)))
                ELSE hours END AS placed_hours,
           least(coalesce(machine_hours, period_hours), period_hours) AS all_hours
    FROM slot
    WINDOW w AS (PARTITION BY subject_no, charge_from, charge_to, gpus ORDER BY is_seen DESC, hour)
), share AS (
    SELECT *, sum(placed_hours) OVER w / nullif(all_hours, 0) AS upto, (sum(placed_hours) OVER w - placed_hours) / nullif(all_hours, 0) AS before
    FROM placed
    WINDOW w AS (PARTITION BY subject_no, charge_from, charge_to, gpus ORDER BY hour)
)
SELECT subject_no, resource_no, hour, coalesce(is_part, false),
       round(gpu_hours * upto, 12) - round(gpu_hours * before, 12), round(billed_cost * upto, 12) - round(billed_cost * before, 12),
       round(effective_cost * upto, 12) - round(effective_cost * before, 12), round(list_cost * upto, 12) - round(list_cost * before, 12)
FROM share CROSS JOIN run
WHERE placed_hours > 0 AND hour >= run.from_time AND hour < run.to_time;

-- Owned machines: in service is running; the cost is the machine's, by the hour.
INSERT INTO run_hour
SELECT i.subject_no, i.resource_no, h.hour, false, o.gpu_count * t.seconds / 3600, o.cost_per_hour * r.rate * t.seconds / 3600,
       o.cost_per_hour * r.rate * t.seconds / 3600, NULL
FROM audit.owned_gpu o
JOIN run_item i ON i.slice_id = -o.source_id AND i.item_no = o.line
CROSS JOIN run
CROSS JOIN LATERAL generate_series(date_trunc('hour', greatest(o.in_service_from, run.from_time)),
                                   least(o.in_service_to, run.to_time) - interval '1 microsecond', interval '1 hour') h(hour)
CROSS JOIN LATERAL (SELECT extract(epoch FROM least(h.hour + interval '1 hour', o.in_service_to) - greatest(h.hour, o.in_service_from)) AS seconds) t
LEFT JOIN LATERAL (
    SELECT CASE WHEN o.currency = run.currency THEN 1
                ELSE (SELECT f.rate FROM audit.fx_rate f JOIN run_slice s ON s.source_id = f.source_id
                      WHERE f.from_currency = o.currency AND f.to_currency = run.currency
                        AND to_char(f.month, 'YYYY-MM') = to_char(h.hour, 'YYYY-MM') LIMIT 1) END AS rate) r ON true;

CREATE TEMP TABLE run_total ON COMMIT DROP AS
SELECT t.subject_no, t.resource_no, a.group_no, a.owner_no, t.hour, true AS is_main, bool_or(t.is_placed) AS is_placed,
       sum(t.running_gpu_hours) AS running_gpu_hours, sum(t.billed_cost) AS billed_cost, sum(t.effective_cost) AS effective_cost,
       sum(t.list_cost) AS list_cost,
       -- more machine-hours than the hour has: several machines under one id, such as a scale set
       CASE WHEN sum(t.running_gpu_hours) > a.gpus * 1.01
            THEN a.chips * ceil(sum(t.running_gpu_hours) / a.gpus - 0.01) ELSE a.chips END::smallint AS chips
FROM run_hour t
CROSS JOIN run
JOIN audit.audit_subject a ON a.audit_id = run.audit_id AND a.subject_no = t.subject_no
GROUP BY t.subject_no, t.resource_no, a.group_no, a.owner_no, t.hour, a.chips, a.gpus;

-- A resource's hour may be shared by subjects (retagged, repriced): the one with most of it is the main row.
UPDATE run_total t SET is_main = false
FROM (SELECT subject_no, hour, row_number() OVER (PARTITION BY resource_no, hour ORDER BY running_gpu_hours DESC NULLS LAST, subject_no) AS place
      FROM run_total
      WHERE resource_no IN (SELECT resource_no FROM run_item GROUP BY resource_no HAVING count(DISTINCT subject_no) > 1)) p
WHERE p.place > 1 AND t.subject_no = p.subject_no AND t.hour = p.hour;

ANALYZE run_total;

INSERT INTO audit.audit_hour
SELECT run.audit_id, h.subject_no, h.hour, h.is_main, h.is_placed, h.chips,
       least(coalesce(s.covered_chips, 0), h.chips), least(coalesce(s.idle_chips, 0), h.chips),
       coalesce(s.util_chips, 0), coalesce(s.sm_chips, 0),
       CASE WHEN h.is_main THEN coalesce(s.samples, 0) ELSE 0 END, CASE WHEN h.is_main THEN s.idle_samples END,
       CASE WHEN h.is_main THEN coalesce(s.observed_seconds, 0) ELSE 0 END, CASE WHEN h.is_main THEN coalesce(s.util_sum, 0) ELSE 0 END,
       CASE WHEN h.is_main THEN coalesce(s.cell_util_sum, 0) ELSE 0 END, CASE WHEN h.is_main THEN coalesce(s.sm_samples, 0) ELSE 0 END,
       CASE WHEN h.is_main THEN coalesce(s.sm_sum, 0) ELSE 0 END, coalesce(s.cell_sm_sum, 0),
       h.running_gpu_hours, h.billed_cost, h.effective_cost, h.list_cost
FROM run_total h
CROSS JOIN run
LEFT JOIN run_seen s ON s.resource_no = h.resource_no AND s.hour = h.hour;

INSERT INTO audit.audit_group_hour
WITH main AS MATERIALIZED (
    SELECT h.group_no, h.owner_no, h.hour, h.chips * a.weight AS running_gpus,
           (least(s.covered_chips, h.chips) - least(s.idle_chips, h.chips)) * a.weight AS busy_gpus, s.cell_util_sum, s.util_chips
    FROM run_total h
    CROSS JOIN run
    JOIN (SELECT audit_id, subject_no, coalesce(gpus / chips, 1)::float8 AS weight FROM audit.audit_subject) a
      ON a.audit_id = run.audit_id AND a.subject_no = h.subject_no
    LEFT JOIN run_seen s ON s.resource_no = h.resource_no AND s.hour = h.hour
    WHERE h.is_main
)
SELECT run.audit_id, g.*
FROM run CROSS JOIN (
    SELECT group_no, hour, sum(running_gpus), coalesce(sum(busy_gpus), 0), coalesce(sum(cell_util_sum::float8), 0)::bigint, coalesce(sum(util_chips), 0)::int
    FROM main GROUP BY group_no, hour
    UNION ALL
    SELECT owner_no, hour, sum(running_gpus), coalesce(sum(busy_gpus), 0), coalesce(sum(cell_util_sum::float8), 0)::bigint, coalesce(sum(util_chips), 0)::int
    FROM main GROUP BY owner_no, hour) g;

INSERT INTO audit.audit_cell
WITH cell AS (
    SELECT h.group_no, h.owner_no, round(c.util_sum::float8 / c.util_samples / 28e6 * 1e10)::bigint AS util, count(*)::int AS cells
    FROM run_cell c
    JOIN run_total h ON h.resource_no = c.resource_no AND h.hour = c.hour AND h.is_main
    WHERE c.util_samples > 0
    GROUP BY h.group_no, h.owner_no, util
)
SELECT run.audit_id, g.group_no, c.util, sum(c.cells)
FROM cell c CROSS JOIN LATERAL (VALUES (c.group_no), (c.owner_no)) g(group_no)
CROSS JOIN run
GROUP BY run.audit_id, g.group_no, c.util;

DO $$
DECLARE
    this int := audit.this_audit();
BEGIN
    EXECUTE format('ANALYZE audit.audit_hour_a%s, audit.audit_group_hour_a%s, audit.audit_cell_a%s', this, this, this);
END
$$;

INSERT INTO audit.audit_use
SELECT audit_id, subject_no, running_gpu_hours, covered_gpu_hours, idle_gpu_hours, sm_covered_gpu_hours, effective_gpu_hours, billed_cost,
       effective_cost, list_cost, covered_cost, idle_cost, observed_seconds, samples, util_sum, sm_samples, sm_sum, idle_samples,
       idle_samples_of, placed_hours
FROM audit.subject_use
WHERE audit_id = audit.this_audit();

-- What later bills corrected of this window's use; a period that crosses its edge counts by time.
INSERT INTO audit.audit_correction
SELECT run.audit_id, i.subject_no,
       coalesce(sum(c.quantity * i.unit_seconds / 3600 * CASE WHEN i.counts_gpus THEN 1 ELSE i.gpus END * w.share), 0),
       sum(c.billed_cost * r.rate * w.share), sum(c.effective_cost * r.rate * w.share), l.from_time
FROM audit.billing_charge c
JOIN run_item i USING (slice_id, item_no)
JOIN run_slice l USING (slice_id)
JOIN run_rate r ON r.currency = i.currency AND r.month = l.period
CROSS JOIN run
CROSS JOIN LATERAL (
    SELECT CASE WHEN c.charge_from >= run.from_time AND c.charge_to <= run.to_time THEN 1
                ELSE extract(epoch FROM least(c.charge_to, run.to_time) - greatest(c.charge_from, run.from_time))
                     / nullif(extract(epoch FROM c.charge_to - c.charge_from), 0) END AS share) w
WHERE c.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing')) AND i.role = 'correction'
  AND c.charge_from < run.to_time AND (c.charge_to > run.from_time OR c.charge_from >= run.from_time)
GROUP BY run.audit_id, i.subject_no, l.from_time;
