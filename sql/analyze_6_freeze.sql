-- Analysis, step 6: freeze figures, ledger and verdicts from their views, and say what the data lacks.

INSERT INTO audit.audit_figure
SELECT f.audit_id, f.dimension, f.key, f.gpus, f.instances, f.provisioned_gpu_hours, f.running_gpu_hours, f.billed_gpu_hours,
       f.corrected_gpu_hours, f.unused_commitment_gpu_hours, f.owned_gpu_hours, f.observed_gpu_hours, f.covered_gpu_hours, f.coverage_pct,
       f.unknown_gpu_hours, f.idle_gpu_hours, f.idle_pct, f.idle_time_pct, f.busy_gpu_hours, f.effective_gpu_hours, f.sm_covered_gpu_hours,
       f.allocated_gpu_hours, f.avg_util_pct, f.p50_cell_util_pct, f.p95_cell_util_pct, f.p99_cell_util_pct, f.max_cell_util_pct,
       f.peak_hour_util_pct, f.peak_hour, f.avg_sm_pct, f.peak_running_gpus, f.peak_busy_gpus, f.billed_cost, f.effective_cost,
       f.correction_cost, f.unused_commitment_cost, f.idle_cost, f.unknown_cost, f.gpu_cost, f.list_cost, f.cost_per_provisioned_gpu_hour,
       f.cost_per_busy_gpu_hour, f.cost_per_effective_gpu_hour, f.untagged_cost, f.lacks_cost, f.lacks_gpu_hours,
       f.allocation_known_gpu_hours, f.covered_allocated_gpu_hours, f.busy_allocated_gpu_hours, f.idle_allocated_gpu_hours, f.idle_unallocated_gpu_hours,
       f.allocated_cost, f.unallocated_cost, f.idle_allocated_cost, f.idle_unallocated_cost
FROM audit.figure f
WHERE f.audit_id = audit.this_audit();

INSERT INTO audit.audit_ledger
SELECT l.audit_id, l.dimension, l.key, l.line_no, l.line, l.in_sum, trim_scale(l.gpu_hours), trim_scale(l.cost)
FROM audit.ledger l
WHERE l.audit_id = audit.this_audit();

-- Beneath the line: samples in hours, or parts of hours, in which the GPU was not billed. A GPU billed
-- for its whole hour has none: only the others are worked out.
INSERT INTO audit.audit_ledger
WITH weight AS (
    -- a fraction of a GPU is observed as a fraction
    SELECT resource_no, coalesce(min(gpus / chips), 1) AS weight FROM run_item GROUP BY resource_no
), subject AS (
    SELECT DISTINCT i.subject_no, w.weight FROM run_item i JOIN weight w USING (resource_no)
), shared AS (
    SELECT d.resource_no, d.hour, sum(audit.cell_share(h.running_gpu_hours, h.covered_chips, h.chips)) AS covered_gpu_hours
    FROM run_shared d
    JOIN audit.audit_hour h ON h.audit_id = audit.this_audit() AND h.subject_no = d.subject_no AND h.hour = d.hour
    GROUP BY d.resource_no, d.hour
), beyond AS (
    SELECT greatest(0, h.observed_seconds / 3600.0 * w.weight
                       - coalesce(audit.cell_share(h.running_gpu_hours, h.covered_chips, h.chips), 0)) AS hours
    FROM audit.audit_hour h
    JOIN subject w USING (subject_no)
    WHERE h.audit_id = audit.this_audit() AND h.running_gpu_hours IS DISTINCT FROM 0 AND h.observed_seconds > 0
      AND (h.observed_seconds > 3600 * h.covered_chips OR (h.running_gpu_hours >= h.chips * w.weight) IS NOT TRUE)
      AND NOT EXISTS (SELECT 1 FROM run_shared d WHERE d.subject_no = h.subject_no AND d.hour = h.hour)
    UNION ALL
    SELECT greatest(0, s.observed_seconds / 3600.0 * w.weight - coalesce(d.covered_gpu_hours, 0))
    FROM shared d
    JOIN run_seen s ON s.resource_no = d.resource_no AND s.hour = d.hour
    JOIN weight w ON w.resource_no = d.resource_no
    UNION ALL
    SELECT o.observed_seconds / 3600.0 * coalesce(w.weight, 1) FROM run_outside o LEFT JOIN weight w USING (resource_no)
    UNION ALL
    -- a GPU that is known, in hours in which no resource was bound to it
    SELECT observed_seconds::numeric / 3600 FROM run_unplaced WHERE gpu_no IN (SELECT gpu_no FROM run_known)
)
SELECT audit.this_audit(), 'total', '', 9, 'observed beyond the billed time', false, trim_scale(round(coalesce(sum(hours), 0), 6)), NULL
FROM beyond;

INSERT INTO audit.audit_assumption
SELECT v.audit_id, v.line, v.metric, v.scope_kind, v.scope_key, v.assumed, v.measured, v.deviation, v.deviation_pct, v.tolerance_pct,
       v.coverage_pct, v.unit, v.verdict, v.why, v.set_by, v.valid_from, v.reason
FROM audit.verdict v
WHERE v.audit_id = audit.this_audit();

INSERT INTO audit.audit_quality
SELECT run.audit_id, row_number() OVER (ORDER BY q.place), q.check_name, q.finding, q.items, trim_scale(q.gpu_hours), trim_scale(q.cost), q.remedy
FROM run CROSS JOIN LATERAL (
    SELECT 1 AS place, 'coverage' AS check_name,
           CASE WHEN f.covered_gpu_hours > 0 THEN format('%s %% of running GPU-hours have telemetry', round(f.coverage_pct::numeric, 1))
                ELSE 'no telemetry for any running GPU' END AS finding,
           NULL::bigint AS items, f.unknown_gpu_hours AS gpu_hours, f.unknown_cost AS cost,
           'Unknown GPU-hours are neither idle nor busy. Install or repair exporters on the resources listed as unobserved.' AS remedy
    FROM audit.audit_figure f WHERE f.audit_id = run.audit_id AND f.dimension = 'total' AND coalesce(f.coverage_pct, 0) < 100
    UNION ALL
    SELECT 2, 'never observed', 'resources that ran without a single sample', count(*), sum(u.gpu_hours), sum(u.cost),
           'Check that an exporter runs there and that the host mapping names them.'
    FROM audit.audit_unobserved u WHERE u.audit_id = run.audit_id AND u.is_never_seen HAVING count(*) > 0
    UNION ALL
    SELECT 3, 'not billed', 'GPUs with samples that no bill or inventory knows', count(*), sum(u.gpu_hours), NULL,
           'Add them to the inventory, to the host mapping, or the missing bill to the configuration.'
    FROM audit.audit_unbilled u WHERE u.audit_id = run.audit_id HAVING count(*) > 0
    UNION ALL
    SELECT 5, 'rejected records', 'records that could not be used', sum(i.rows_rejected), NULL, NULL,
           'Run "gpu-audit sql rejects" to see them with file, line and reason; mend the source and ingest again.'
    FROM audit.audit_input i WHERE i.audit_id = run.audit_id HAVING sum(i.rows_rejected) > 0
    UNION ALL
    SELECT 6, 'incomplete load', 'loads whose source said that its answer was partial', count(*), NULL, NULL,
           'Ingest again when the source is whole; "gpu-audit status" names the loads.'
    FROM audit.audit_input i WHERE i.audit_id = run.audit_id AND NOT i.is_complete HAVING count(*) > 0
    UNION ALL
    SELECT 8.5, 'priced by rate card', 'costs computed from quantities and a rate card: no invoice says them', count(DISTINCT i.resource_key),
           sum(CASE WHEN i.role = 'gpu_use' THEN c.quantity * i.unit_seconds / 3600 * CASE WHEN i.counts_gpus THEN 1 ELSE r.gpus END END),
           sum(c.effective_cost * x.rate), 'Compare them with the provider''s invoice when it comes; keep the rate card up to date.'
    FROM audit.billing_item i
    JOIN run_item r USING (slice_id, item_no)
    JOIN run_slice l USING (slice_id)
    JOIN audit.billing_charge c USING (slice_id, item_no)
    JOIN run_rate x ON x.slice_id = i.slice_id AND x.currency = i.currency
    WHERE i.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing')) AND i.priced_by IS NOT NULL
      AND c.charge_from >= run.from_time AND c.charge_from < run.to_time HAVING count(*) > 0
    UNION ALL
    SELECT 8.6, 'no price', 'GPU use without a cost: its hours count, its money is missing in every figure; of '
               || string_agg(DISTINCT concat_ws(' ', i.provider, coalesce(i.instance_type, i.gpu_model, i.sku, 'unnamed'), i.region), ', '),
           count(DISTINCT i.resource_key),
           sum(c.quantity * i.unit_seconds / 3600 * CASE WHEN i.counts_gpus THEN 1 ELSE r.gpus END), NULL,
           'Add their price to the rate card of the bill and ingest again.'
    FROM audit.billing_item i
    JOIN run_item r USING (slice_id, item_no)
    JOIN audit.billing_charge c USING (slice_id, item_no)
    WHERE i.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing')) AND i.role = 'gpu_use' AND i.priced_by IS NULL
      AND c.billed_cost IS NULL AND c.charge_from >= run.from_time AND c.charge_from < run.to_time HAVING count(*) > 0
    UNION ALL
    SELECT 8.7, 'total without a price', 'rows that are no GPU use and have neither a cost nor a rate: their money is missing in the totals',
           sum(t.row_count), NULL, NULL, 'Add their prices to the rate card of the bill and ingest again.'
    FROM audit.billing_total t JOIN run_slice l USING (slice_id)
    WHERE t.charge_class = 'Unpriced' AND l.from_time < run.to_time HAVING count(*) > 0
    UNION ALL
    SELECT 9, 'owned without a cost', 'owned machines without a cost per hour', count(DISTINCT s.resource_key), sum(u.running_gpu_hours), NULL,
           'Give cost_per_hour, or capex and its life, in the inventory.'
    FROM audit.audit_use u JOIN audit.audit_subject s USING (audit_id, subject_no)
    WHERE u.audit_id = run.audit_id AND s.provider = 'on-prem' AND u.effective_cost IS NULL HAVING count(*) > 0
    UNION ALL
    SELECT 10, 'placed by rule', 'hours of rows longer than an hour, spread by rule', sum(u.placed_hours)::bigint, NULL, NULL,
           'Ask the provider for hourly rows.'
    FROM audit.audit_use u WHERE u.audit_id = run.audit_id HAVING sum(u.placed_hours) > 0
    UNION ALL
    SELECT 11, 'commitment without hours', 'commitments whose unused hours the bill does not tell', count(*), NULL, sum(c.unused_cost),
           'Their money is in the ledger, their hours are not.'
    FROM audit.audit_commitment c WHERE c.audit_id = run.audit_id AND c.unused_gpu_hours IS NULL HAVING count(*) > 0
    UNION ALL
    SELECT 11.5, 'commitment without use', 'commitments that covered nothing in the window; what they cover is not known, and their money counts as GPU',
           count(*), sum(c.unused_gpu_hours), sum(c.unused_cost), 'Check what they were bought for.'
    FROM audit.audit_commitment c WHERE c.audit_id = run.audit_id AND c.used_cost = 0 AND c.unused_cost > 0 AND lower(c.category) = 'spend'
    HAVING count(*) > 0
    UNION ALL
    SELECT 11.6, 'capacity block not spread', 'Capacity Blocks whose fee stays a purchase: no hour of them is known; of '
               || string_agg(DISTINCT coalesce(b.type_key, 'no type named'), ', '),
           count(*), NULL, sum(b.fee * r.rate), 'Add the capacity reservation to the columns of the export.'
    FROM run_block b
    JOIN run_slice l USING (slice_id)
    JOIN run_rate r ON r.currency = b.currency AND r.month = l.period
    WHERE b.fee <> 0 AND b.capacity_hours = 0 AND b.paid_from < run.to_time HAVING count(*) > 0
    UNION ALL
    SELECT 11.7, 'capacity block without a fee', 'hours in a Capacity Block whose fee is in no bill that was read: they cost nothing here',
           count(DISTINCT i.resource_key), sum(c.quantity * i.unit_seconds / 3600 * r.gpus), NULL,
           'Their fee was billed before the window. Count it beside this audit.'
    FROM audit.billing_item i
    JOIN run_item r USING (slice_id, item_no)
    JOIN audit.billing_charge c USING (slice_id, item_no)
    WHERE i.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing')) AND i.role = 'gpu_use'
      AND i.commitment_type = 'Capacity Block' AND c.charge_from >= run.from_time AND c.charge_from < run.to_time AND c.billed_cost = 0
      AND NOT EXISTS (SELECT 1 FROM run_block b WHERE b.provider = i.provider AND b.commitment_id = i.commitment_id)
    HAVING count(*) > 0
    UNION ALL
    SELECT 12, 'no team', 'cost that neither a tag nor an issue gives to a team', f.instances, f.running_gpu_hours, f.gpu_cost,
           'Tag the resources, or name their issue in a tag.'
    FROM audit.audit_figure f WHERE f.audit_id = run.audit_id AND f.dimension = 'team' AND f.key = '' AND f.gpu_cost <> 0
    UNION ALL
    SELECT 13, 'no team tag', 'cost of resources without a team tag of their own', NULL, NULL, f.untagged_cost,
           'Make the team tag mandatory where resources are created.'
    FROM audit.audit_figure f WHERE f.audit_id = run.audit_id AND f.dimension = 'total' AND f.untagged_cost > 0
    UNION ALL
    SELECT 14, 'no SM activity', 'covered GPU-hours without SM activity: effective GPU-hours leave them out', NULL,
           f.covered_gpu_hours - coalesce(f.sm_covered_gpu_hours, 0), NULL, 'Export DCGM_FI_PROF_SM_ACTIVE.'
    FROM audit.audit_figure f WHERE f.audit_id = run.audit_id AND f.dimension = 'total'
        AND f.covered_gpu_hours > coalesce(f.sm_covered_gpu_hours, 0)
    UNION ALL
    SELECT 15, 'unknown issue', 'issue keys on resources that the tracker does not know', count(*), sum(f.running_gpu_hours), sum(f.effective_cost),
           'Correct the tags, or widen the tracker''s query.'
    FROM audit.audit_figure f WHERE f.audit_id = run.audit_id AND f.dimension = 'issue' AND f.key <> ''
        AND NOT EXISTS (SELECT 1 FROM run_issue i WHERE i.key = f.key) HAVING count(*) > 0
    UNION ALL
    SELECT 16, 'in two bills', 'resources that more than one bill names', count(*), NULL, NULL,
           'Two exports of the same account count twice: take one out of the configuration.'
    FROM (SELECT f.provider, f.resource_key FROM run_full f JOIN run_slice l USING (slice_id) WHERE f.role = 'gpu_use'
          GROUP BY f.provider, f.resource_key HAVING count(DISTINCT l.source_id) > 1) d HAVING count(*) > 0
    UNION ALL
    SELECT * FROM run_quality
) q;
