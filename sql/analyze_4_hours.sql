-- Analysis, step 4: supply and money per subject and hour, beside what the samples say.
--   run_priced   items with the rate of their bill's month
--   run_hour     subject and hour -> GPU-hours and money of long rows and owned machines
--   run_total    one row per subject and hour
--   run_outside  seen hours of a resource in which it did not run
--   run_unplaced, run_known  cells without a resource, and those of their GPUs that others have one for
--   run_shared   those that share a resource's hour
-- and from them audit_hour, audit_cell, audit_correction.

CREATE TEMP TABLE run_priced ON COMMIT DROP AS
SELECT i.slice_id, i.item_no, i.role, i.subject_no, i.resource_no, i.gpus, i.counts_gpus, i.unit_seconds, r.rate,
       l.from_time AS booked_from
FROM run_item i
JOIN run_slice l USING (slice_id)
JOIN run_rate r ON r.slice_id = i.slice_id AND r.currency = i.currency
WHERE l.kind = 'billing';

ANALYZE run_priced;

CREATE TEMP TABLE run_hour (
    subject_no int, resource_no int, hour timestamptz, is_placed boolean,
    running_gpu_hours numeric, billed_cost numeric, effective_cost numeric, list_cost numeric
) ON COMMIT DROP;

-- Longer rows. Hours that fill the period: every hour whole. Fewer: first the hours in which the
-- resource has a sample, earliest first, each at most one hour; the rest into the earliest others.
-- Rows of one resource and period (price classes, owners) follow each other, as long as all of them
-- fit. Money follows the hours; differences of a rounded running total keep its sum exact.
CREATE TEMP TABLE run_long ON COMMIT DROP AS
SELECT i.subject_no, i.resource_no, c.charge_from, c.charge_to, i.gpus,
       extract(epoch FROM c.charge_to - c.charge_from) AS period_seconds,
       sum(CASE WHEN i.role = 'gpu_use' THEN c.quantity * i.unit_seconds * CASE WHEN i.counts_gpus THEN 1 ELSE i.gpus END END) AS gpu_seconds,
       sum(CASE WHEN i.role = 'gpu_use' THEN c.quantity * i.unit_seconds / 3600 * CASE WHEN i.counts_gpus THEN 1 ELSE i.gpus END END) AS gpu_hours,
       sum(c.billed_cost * i.rate) AS billed_cost, sum(c.effective_cost * i.rate) AS effective_cost,
       sum(c.list_cost * i.rate) AS list_cost
FROM audit.billing_charge c
JOIN run_priced i USING (slice_id, item_no)
WHERE c.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing')) AND i.role IN ('gpu_use', 'gpu_money')
  AND c.charge_from < (SELECT to_time FROM run) AND c.charge_to > (SELECT from_time FROM run)
  AND c.charge_to > date_bin('1 hour', c.charge_from, 'epoch') + interval '1 hour'
GROUP BY i.subject_no, i.resource_no, c.charge_from, c.charge_to, i.gpus;

-- The share of a Capacity Block's fee that such a row bears.
UPDATE run_long l SET effective_cost = l.effective_cost + b.cost
FROM (SELECT i.subject_no, c.charge_from, c.charge_to, i.gpus, sum(c.effective_cost * i.rate) AS cost
      FROM run_block_charge c JOIN run_priced i USING (slice_id, item_no)
      WHERE c.role IS NULL GROUP BY 1, 2, 3, 4) b
WHERE b.subject_no = l.subject_no AND b.charge_from = l.charge_from AND b.charge_to = l.charge_to AND b.gpus IS NOT DISTINCT FROM l.gpus;

INSERT INTO run_hour
WITH machine AS (
    SELECT *, round(gpu_seconds / gpus, 6) AS machine_seconds, coalesce(round(gpu_seconds / gpus, 6) < period_seconds, false) AS is_part
    FROM run_long
), queue AS (
    SELECT *, CASE WHEN is_part THEN machine_seconds ELSE period_seconds END AS all_seconds,
           CASE WHEN is_part AND sum(machine_seconds) OVER (PARTITION BY resource_no, charge_from, charge_to) <= period_seconds
                THEN sum(machine_seconds) OVER (PARTITION BY resource_no, charge_from, charge_to ORDER BY subject_no, gpus) - machine_seconds
                ELSE 0 END AS begins
    FROM machine
), slot AS (
    SELECT q.*, h.hour, coalesce(sum(t.seconds) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS slot_from, t.seconds
    FROM queue q
    CROSS JOIN LATERAL generate_series(date_trunc('hour', q.charge_from), q.charge_to - interval '1 microsecond', interval '1 hour') h(hour)
    CROSS JOIN LATERAL (SELECT extract(epoch FROM least(h.hour + interval '1 hour', q.charge_to) - greatest(h.hour, q.charge_from)) AS seconds) t
    LEFT JOIN run_seen s ON s.resource_no = q.resource_no AND s.hour = h.hour
    -- where every hour is filled, the order does not matter
    WINDOW w AS (PARTITION BY q.subject_no, q.charge_from, q.charge_to, q.gpus ORDER BY s.hour IS NULL, h.hour)
), placed AS (
    SELECT *, greatest(0, least(slot_from + seconds, begins + all_seconds) - greatest(slot_from, begins)) AS placed_seconds
    FROM slot
), share AS (
    SELECT *, sum(placed_seconds) OVER w AS upto, sum(placed_seconds) OVER w - placed_seconds AS before
    FROM placed
    WINDOW w AS (PARTITION BY subject_no, charge_from, charge_to, gpus ORDER BY hour)
)
SELECT subject_no, resource_no, hour, is_part,
       audit.running_share(gpu_hours, upto, all_seconds) - audit.running_share(gpu_hours, before, all_seconds),
       audit.running_share(billed_cost, upto, all_seconds) - audit.running_share(billed_cost, before, all_seconds),
       audit.running_share(effective_cost, upto, all_seconds) - audit.running_share(effective_cost, before, all_seconds),
       audit.running_share(list_cost, upto, all_seconds) - audit.running_share(list_cost, before, all_seconds)
FROM share CROSS JOIN run
WHERE placed_seconds > 0 AND hour >= run.from_time AND hour < run.to_time;

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
LEFT JOIN run_rate r ON r.slice_id = i.slice_id AND r.currency = o.currency AND r.month = to_char(h.hour, 'YYYY-MM');

-- Capacity Blocks: what each hour of use bears of the fee.
INSERT INTO run_hour
SELECT i.subject_no, i.resource_no, date_bin('1 hour', c.charge_from, 'epoch'), false, NULL, 0, c.effective_cost * i.rate, NULL
FROM run_block_charge c
JOIN run_priced i USING (slice_id, item_no)
CROSS JOIN run
WHERE c.role IS NULL AND i.role = 'gpu_use' AND c.charge_from >= run.from_time AND c.charge_from < run.to_time
  AND c.charge_to <= date_bin('1 hour', c.charge_from, 'epoch') + interval '1 hour';

-- A row that lies in one clock hour is that hour's. Rows of one machine (cores, memory, GPU) add up.
-- A row that bills the accelerator itself is in GPU time already, any other in machine time.
-- Sums of numeric are wide: sorted they need one at a time, hashed all at once.
SET LOCAL enable_sort = on;
SET LOCAL enable_hashagg = off;

CREATE TEMP TABLE run_total ON COMMIT DROP AS
WITH part AS (
    SELECT i.subject_no, date_bin('1 hour', c.charge_from, 'epoch') AS hour, false AS is_placed,
           CASE WHEN i.role = 'gpu_use'
                THEN CASE WHEN i.unit_seconds = 3600 THEN c.quantity ELSE c.quantity * i.unit_seconds / 3600 END
                     * CASE WHEN i.counts_gpus THEN 1 ELSE i.gpus END END AS running_gpu_hours,
           c.billed_cost * i.rate AS billed_cost, c.effective_cost * i.rate AS effective_cost, c.list_cost * i.rate AS list_cost
    FROM audit.billing_charge c
    JOIN run_priced i USING (slice_id, item_no)
    WHERE c.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing')) AND i.role IN ('gpu_use', 'gpu_money')
      AND c.charge_from >= (SELECT from_time FROM run) AND c.charge_from < (SELECT to_time FROM run)
      AND c.charge_to <= date_bin('1 hour', c.charge_from, 'epoch') + interval '1 hour'
    UNION ALL
    SELECT subject_no, hour, is_placed, running_gpu_hours, billed_cost, effective_cost, list_cost FROM run_hour
), total AS (
    SELECT subject_no, hour, bool_or(is_placed) AS is_placed, sum(running_gpu_hours) AS running_gpu_hours, sum(billed_cost) AS billed_cost,
           sum(effective_cost) AS effective_cost, sum(list_cost) AS list_cost
    FROM part
    GROUP BY subject_no, hour
), machine AS (
    SELECT t.*, r.resource_no, a.group_no, a.owner_no, a.chips AS machine_chips,
           -- more machine-hours than the hour has: several machines under one id, such as a scale set
           CASE WHEN t.running_gpu_hours > a.gpus * 1.01 THEN ceil(t.running_gpu_hours / a.gpus - 0.01) ELSE 1 END::int AS machines
    FROM total t
    JOIN audit.audit_subject a ON a.audit_id = audit.this_audit() AND a.subject_no = t.subject_no
    JOIN (SELECT DISTINCT subject_no, resource_no FROM run_item) r ON r.subject_no = t.subject_no
)
SELECT subject_no, resource_no, group_no, owner_no, hour, true AS is_main, is_placed, running_gpu_hours, billed_cost, effective_cost, list_cost,
       running_gpu_hours IS DISTINCT FROM 0 AS is_running, machines, machine_chips, machines * machine_chips AS chips
FROM machine;

SET LOCAL enable_hashagg = on;
SET LOCAL enable_sort = off;

ANALYZE run_total (subject_no, resource_no, hour, is_running);

-- Resources that several subjects had, one after the other or in the same hour.
CREATE TEMP TABLE run_several ON COMMIT DROP AS
SELECT resource_no FROM run_item GROUP BY resource_no HAVING count(DISTINCT subject_no) > 1;

-- A resource's hour may be shared by subjects (retagged, repriced): the one with most of it is the
-- main row. Together they are no more machines than their hours come to.
CREATE TEMP TABLE run_shared ON COMMIT DROP AS
SELECT t.subject_no, t.resource_no, t.hour, t.group_no, t.owner_no, t.machines * t.machine_chips AS chips,
       row_number() OVER (w ORDER BY t.running_gpu_hours DESC NULLS LAST, t.subject_no) AS place,
       first_value(t.group_no) OVER (w ORDER BY t.running_gpu_hours DESC NULLS LAST, t.subject_no) AS main_group_no,
       first_value(t.owner_no) OVER (w ORDER BY t.running_gpu_hours DESC NULLS LAST, t.subject_no) AS main_owner_no,
       (greatest(1, ceil(sum(t.running_gpu_hours / a.gpus) OVER w - 0.01)) * t.machine_chips)::int AS all_chips,
       count(*) OVER w AS subjects, coalesce(a.gpus / a.chips, 1)::float8 AS weight
FROM run_total t
CROSS JOIN run
JOIN audit.audit_subject a ON a.audit_id = run.audit_id AND a.subject_no = t.subject_no
WHERE t.is_running AND t.resource_no IN (SELECT resource_no FROM run_several)
WINDOW w AS (PARTITION BY t.resource_no, t.hour);

DELETE FROM run_shared WHERE subjects = 1;

UPDATE run_total t SET is_main = s.place = 1, chips = s.all_chips
FROM run_shared s
WHERE t.subject_no = s.subject_no AND t.hour = s.hour;

-- Money without hours is no GPU beside the row that has them.
UPDATE run_total t SET is_main = false
WHERE NOT t.is_running AND t.resource_no IN (SELECT resource_no FROM run_several) AND EXISTS (SELECT 1 FROM run_total o WHERE o.resource_no = t.resource_no AND o.hour = t.hour AND o.is_running);

ANALYZE run_shared;

-- Cells of GPUs in hours in which no resource was bound to them, and which of those GPUs another hour knows.
CREATE TEMP TABLE run_unplaced ON COMMIT DROP AS
SELECT gpu_no, hour, observed_seconds FROM run_cell WHERE resource_no IS NULL;

ANALYZE run_unplaced;

CREATE TEMP TABLE run_known ON COMMIT DROP AS
SELECT DISTINCT gpu_no FROM run_cell WHERE resource_no IS NOT NULL AND gpu_no IN (SELECT gpu_no FROM run_unplaced);

CREATE TEMP TABLE run_outside ON COMMIT DROP AS
SELECT s.resource_no, s.hour, s.observed_seconds
FROM run_seen s
WHERE NOT EXISTS (SELECT 1 FROM run_total t WHERE t.resource_no = s.resource_no AND t.hour = s.hour AND t.is_running);

ANALYZE run_outside;

-- More GPUs measured than billed: the busy ones are billed first.
INSERT INTO audit.audit_hour
SELECT audit.this_audit(), h.subject_no, h.hour, h.is_main, h.is_placed, h.chips,
       least(coalesce(s.covered_chips, 0), h.chips),
       least(coalesce(s.covered_chips, 0), h.chips) - least(coalesce(s.covered_chips - s.idle_chips, 0), h.chips),
       coalesce(s.util_chips, 0), least(coalesce(s.sm_chips, 0), h.chips),
       CASE WHEN h.is_main THEN coalesce(s.samples, 0) ELSE 0 END, CASE WHEN h.is_main THEN s.idle_samples END,
       CASE WHEN h.is_main THEN coalesce(s.observed_seconds, 0) ELSE 0 END, CASE WHEN h.is_main THEN coalesce(s.util_sum, 0) ELSE 0 END,
       CASE WHEN h.is_main THEN coalesce(s.cell_util_sum, 0) ELSE 0 END, CASE WHEN h.is_main THEN coalesce(s.sm_samples, 0) ELSE 0 END,
       CASE WHEN h.is_main THEN coalesce(s.sm_sum, 0) ELSE 0 END,
       CASE WHEN s.sm_chips > h.chips THEN s.cell_sm_sum * h.chips / s.sm_chips ELSE coalesce(s.cell_sm_sum, 0) END,
       h.running_gpu_hours, h.billed_cost, h.effective_cost, h.list_cost
FROM run_total h
LEFT JOIN run_seen s ON s.resource_no = h.resource_no AND s.hour = h.hour;

DO $$
BEGIN
    EXECUTE format('ANALYZE audit.audit_hour_a%s (audit_id, subject_no, hour, running_gpu_hours)', audit.this_audit());
END
$$;

-- What two groups counted of the same GPUs in one resource's hour is taken back where they meet: in
-- a group of its own that belongs to the scopes that both belong to, or in the one group they share.
CREATE TEMP TABLE run_meeting ON COMMIT DROP AS
SELECT kind, a_no, b_no,
       CASE WHEN a_no = b_no THEN a_no
            WHEN kind = 1 THEN (SELECT max(group_no) FROM audit.audit_subject WHERE audit_id = audit.this_audit()) + row_number() OVER (ORDER BY kind, a_no = b_no, a_no, b_no)
            ELSE (SELECT min(owner_no) FROM audit.audit_subject WHERE audit_id = audit.this_audit()) - row_number() OVER (ORDER BY kind, a_no = b_no, a_no, b_no)
            END::int AS meeting_no
FROM (SELECT DISTINCT 1 AS kind, main_group_no AS a_no, group_no AS b_no FROM run_shared WHERE place > 1
      UNION SELECT DISTINCT 2, main_owner_no, owner_no FROM run_shared WHERE place > 1) m;

INSERT INTO audit.audit_scope_group
SELECT a.audit_id, m.meeting_no, a.scope_no
FROM run_meeting m
JOIN audit.audit_scope_group a ON a.audit_id = audit.this_audit() AND a.group_no = m.a_no
JOIN audit.audit_scope_group b ON b.audit_id = a.audit_id AND b.scope_no = a.scope_no AND b.group_no = m.b_no
WHERE m.a_no <> m.b_no;

-- A subject that had its resource's hour alone has in audit_hour what its groups need.
INSERT INTO audit.audit_group_hour
WITH whole AS (
    SELECT a.group_no, a.owner_no, h.hour, h.chips * a.weight AS running_gpus, (h.covered_chips - h.idle_chips) * a.weight AS busy_gpus,
           h.cell_util_sum, h.util_chips
    FROM audit.audit_hour h
    JOIN (SELECT subject_no, group_no, owner_no, coalesce(gpus / chips, 1)::float8 AS weight
          FROM audit.audit_subject WHERE audit_id = audit.this_audit()) a USING (subject_no)
    WHERE h.audit_id = audit.this_audit() AND h.running_gpu_hours IS DISTINCT FROM 0
      AND NOT EXISTS (SELECT 1 FROM run_shared d WHERE d.subject_no = h.subject_no AND d.hour = h.hour)
    UNION ALL
    SELECT h.group_no, h.owner_no, h.hour, h.machines * h.machine_chips * d.weight,
           least(coalesce(s.covered_chips - s.idle_chips, 0), h.machines * h.machine_chips) * d.weight, s.cell_util_sum, s.util_chips
    FROM run_shared d
    JOIN run_total h ON h.subject_no = d.subject_no AND h.hour = d.hour
    LEFT JOIN run_seen s ON s.resource_no = h.resource_no AND s.hour = h.hour
), added AS (
    SELECT h.*, s.cell_util_sum, s.util_chips, coalesce(s.covered_chips - s.idle_chips, 0) AS busy_chips,
           least(coalesce(s.covered_chips - s.idle_chips, 0), h.chips) AS own_busy,
           sum(h.chips) OVER w AS upto, sum(least(coalesce(s.covered_chips - s.idle_chips, 0), h.chips)) OVER w AS busy_upto
    FROM run_shared h
    LEFT JOIN run_seen s ON s.resource_no = h.resource_no AND s.hour = h.hour
    WINDOW w AS (PARTITION BY h.resource_no, h.hour ORDER BY h.place)
), twice AS (
    SELECT main_group_no, group_no, main_owner_no, owner_no, hour, cell_util_sum, util_chips,
           (greatest(upto - all_chips, 0) - greatest(upto - chips - all_chips, 0)) * weight AS running_gpus,
           (greatest(busy_upto - busy_chips, 0) - greatest(busy_upto - own_busy - busy_chips, 0)) * weight AS busy_gpus
    FROM added WHERE place > 1
), both_kinds AS (
    SELECT v.group_no, w.hour, w.running_gpus, w.busy_gpus, w.cell_util_sum, w.util_chips
    FROM whole w CROSS JOIN LATERAL (VALUES (w.group_no), (w.owner_no)) v(group_no)
    UNION ALL
    SELECT m.meeting_no, t.hour, -t.running_gpus, -t.busy_gpus, -t.cell_util_sum, -t.util_chips
    FROM twice t JOIN run_meeting m ON m.kind = 1 AND m.a_no = t.main_group_no AND m.b_no = t.group_no
    UNION ALL
    SELECT m.meeting_no, t.hour, -t.running_gpus, -t.busy_gpus, -t.cell_util_sum, -t.util_chips
    FROM twice t JOIN run_meeting m ON m.kind = 2 AND m.a_no = t.main_owner_no AND m.b_no = t.owner_no
), part AS (
    SELECT group_no, hour, sum(running_gpus) AS running_gpus, sum(busy_gpus) AS busy_gpus, sum(cell_util_sum::float8) AS cell_util_sum,
           sum(util_chips) AS util_chips
    FROM both_kinds
    GROUP BY group_no, hour
)
SELECT audit.this_audit(), group_no, hour, running_gpus, coalesce(busy_gpus, 0), coalesce(cell_util_sum, 0)::bigint, coalesce(util_chips, 0)::int
FROM part;

INSERT INTO audit.audit_cell
WITH cell AS (
    SELECT r.group_no, r.owner_no, c.util, count(*)::int AS cells
    FROM run_cell c
    JOIN (SELECT DISTINCT resource_no, group_no, owner_no FROM run_total
          WHERE is_running AND resource_no NOT IN (SELECT resource_no FROM run_several)) r ON r.resource_no = c.resource_no
    WHERE c.util_samples > 0
      AND NOT EXISTS (SELECT 1 FROM run_outside o WHERE o.resource_no = c.resource_no AND o.hour = c.hour)
    GROUP BY r.group_no, r.owner_no, c.util
    UNION ALL
    SELECT h.group_no, h.owner_no, c.util, count(*)::int
    FROM run_cell c
    JOIN run_total h ON h.resource_no = c.resource_no AND h.hour = c.hour AND h.is_running
    WHERE c.util_samples > 0 AND c.resource_no IN (SELECT resource_no FROM run_several)
    GROUP BY h.group_no, h.owner_no, c.util
), twice AS (
    SELECT h.group_no, h.main_group_no, h.owner_no, h.main_owner_no, c.util, count(*)::int AS cells
    FROM run_cell c
    JOIN run_shared h ON h.resource_no = c.resource_no AND h.hour = c.hour AND h.place > 1
    WHERE c.util_samples > 0
    GROUP BY h.group_no, h.main_group_no, h.owner_no, h.main_owner_no, c.util
), part AS (
    SELECT g.group_no, c.util, c.cells FROM cell c CROSS JOIN LATERAL (VALUES (c.group_no), (c.owner_no)) g(group_no)
    UNION ALL
    SELECT m.meeting_no, t.util, -t.cells FROM twice t JOIN run_meeting m ON m.kind = 1 AND m.a_no = t.main_group_no AND m.b_no = t.group_no
    UNION ALL
    SELECT m.meeting_no, t.util, -t.cells FROM twice t JOIN run_meeting m ON m.kind = 2 AND m.a_no = t.main_owner_no AND m.b_no = t.owner_no
)
SELECT audit.this_audit(), p.group_no, p.util, sum(p.cells)
FROM part p
GROUP BY p.group_no, p.util;

DO $$
DECLARE
    this int := audit.this_audit();
BEGIN
    EXECUTE format('ANALYZE audit.audit_group_hour_a%s (audit_id, group_no, hour), audit.audit_cell_a%s (audit_id, group_no, util_sum)', this, this);
END
$$;

INSERT INTO audit.audit_use
SELECT u.audit_id, u.subject_no, u.running_gpu_hours, u.covered_gpu_hours, u.idle_gpu_hours, u.sm_covered_gpu_hours, u.effective_gpu_hours,
       u.billed_cost, u.effective_cost, u.list_cost, u.covered_cost, u.idle_cost, u.observed_seconds, u.samples, u.util_sum, u.sm_samples,
       u.sm_sum, u.idle_samples, u.idle_samples_of, u.placed_hours, m.machines
FROM audit.subject_use u
JOIN (SELECT subject_no, max(machines) AS machines FROM run_total GROUP BY subject_no) m USING (subject_no)
WHERE u.audit_id = audit.this_audit();

-- What later bills corrected of this window's use; a period that crosses its edge counts by time.
INSERT INTO audit.audit_correction
SELECT run.audit_id, i.subject_no,
       coalesce(sum(c.quantity * i.unit_seconds / 3600 * CASE WHEN i.counts_gpus THEN 1 ELSE i.gpus END * w.share), 0),
       sum(c.billed_cost * i.rate * w.share), sum(c.effective_cost * i.rate * w.share), i.booked_from
FROM audit.billing_charge c
JOIN run_priced i USING (slice_id, item_no)
CROSS JOIN run
CROSS JOIN LATERAL (
    SELECT CASE WHEN c.charge_from >= run.from_time AND c.charge_to <= run.to_time THEN 1
                ELSE extract(epoch FROM least(c.charge_to, run.to_time) - greatest(c.charge_from, run.from_time))
                     / nullif(extract(epoch FROM c.charge_to - c.charge_from), 0) END AS share) w
WHERE c.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing')) AND i.role = 'correction'
  AND c.charge_from < run.to_time AND (c.charge_to > run.from_time OR c.charge_from >= run.from_time)
GROUP BY run.audit_id, i.subject_no, i.booked_from;
