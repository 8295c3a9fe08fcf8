-- Every headline figure of every scope: the definitions of the figures, in one place.
-- One row per audit and scope. audit_figure holds the same rows, frozen.
CREATE VIEW audit.figure AS
WITH use AS (
    SELECT g.audit_id, g.scope_no,
           sum(u.running_gpu_hours) AS running_gpu_hours,
           sum(u.running_gpu_hours) FILTER (WHERE s.provider <> 'on-prem') AS billed_gpu_hours,
           sum(u.running_gpu_hours) FILTER (WHERE s.provider = 'on-prem') AS owned_gpu_hours,
           sum(u.covered_gpu_hours) AS covered_gpu_hours, sum(u.idle_gpu_hours) AS idle_gpu_hours,
           sum(u.sm_covered_gpu_hours) AS sm_covered_gpu_hours, sum(u.effective_gpu_hours) AS effective_gpu_hours,
           sum(u.observed_seconds * s.gpus / s.chips) / 3600 AS observed_gpu_hours,
           sum(u.billed_cost) AS billed_cost, sum(u.effective_cost) AS effective_cost, sum(u.list_cost) AS list_cost,
           sum(u.covered_cost) AS covered_cost, sum(u.idle_cost) AS idle_cost,
           CASE WHEN count(*) FILTER (WHERE NOT s.is_tagged) = 0 THEN 0 ELSE sum(u.effective_cost) FILTER (WHERE NOT s.is_tagged) END AS untagged_cost,
           sum(u.samples) AS samples, sum(u.util_sum) AS util_sum, sum(u.sm_samples) AS sm_samples, sum(u.sm_sum) AS sm_sum,
           sum(u.idle_samples) AS idle_samples, sum(u.idle_samples_of) AS idle_samples_of
    FROM audit.audit_use u
    JOIN audit.audit_subject s ON s.audit_id = u.audit_id AND s.subject_no = u.subject_no
    JOIN audit.subject_scope g ON g.audit_id = s.audit_id AND g.subject_no = s.subject_no
    GROUP BY g.audit_id, g.scope_no
), resource AS (
    SELECT audit_id, scope_no, sum(gpus) AS gpus, count(*) AS instances
    FROM (SELECT g.audit_id, g.scope_no, s.provider, s.resource_key, max(s.gpus * u.machines) AS gpus
          FROM audit.audit_subject s
          JOIN audit.subject_scope g ON g.audit_id = s.audit_id AND g.subject_no = s.subject_no
          JOIN audit.audit_use u ON u.audit_id = s.audit_id AND u.subject_no = s.subject_no
          WHERE u.running_gpu_hours > 0 OR u.running_gpu_hours IS NULL
          GROUP BY g.audit_id, g.scope_no, s.provider, s.resource_key) r
    GROUP BY audit_id, scope_no
), correction AS (
    SELECT c.audit_id, g.scope_no, sum(c.corrected_gpu_hours) AS corrected_gpu_hours, sum(c.billed_cost) AS billed_cost,
           sum(c.effective_cost) AS effective_cost, true AS is_there
    FROM audit.audit_correction c
    JOIN audit.audit_subject s ON s.audit_id = c.audit_id AND s.subject_no = c.subject_no
    JOIN audit.subject_scope g ON g.audit_id = s.audit_id AND g.subject_no = s.subject_no
    GROUP BY c.audit_id, g.scope_no
), unused AS (
    SELECT c.audit_id, o.scope_no, sum(c.unused_gpu_hours) AS gpu_hours, sum(c.unused_cost) AS cost, true AS is_there, bool_or(c.unused_cost IS NULL) AS lacks_cost
    FROM audit.audit_commitment c
    JOIN audit.audit_scope o ON o.audit_id = c.audit_id
        AND o.key = CASE o.dimension WHEN 'provider' THEN c.provider WHEN 'model' THEN c.model WHEN 'region' THEN c.region
                                     WHEN 'pool' THEN c.pool WHEN 'pricing' THEN 'committed' ELSE '' END
    GROUP BY c.audit_id, o.scope_no
), gap AS (
    SELECT p.audit_id, g.scope_no, bool_or(p.kind <> 'gpu count') AS lacks_cost, bool_or(p.kind = 'gpu count') AS lacks_gpu_hours
    FROM audit.audit_gap p
    JOIN audit.subject_scope g ON g.audit_id = p.audit_id AND g.subject_no = p.subject_no
    GROUP BY p.audit_id, g.scope_no
), held AS (
    SELECT h.audit_id, g.scope_no, sum(h.known_gpu_hours) AS known, sum(h.known_covered_gpu_hours) AS known_covered, sum(h.allocated_gpu_hours) AS allocated,
           sum(h.busy_allocated_gpu_hours) AS busy, sum(h.idle_allocated_gpu_hours) AS idle, sum(h.idle_unallocated_gpu_hours) AS free,
           sum(h.allocated_cost) AS allocated_cost, sum(h.unallocated_cost) AS unallocated_cost, sum(h.idle_allocated_cost) AS idle_cost,
           sum(h.idle_unallocated_cost) AS free_cost
    FROM audit.audit_held h
    JOIN audit.subject_scope g ON g.audit_id = h.audit_id AND g.subject_no = h.subject_no
    GROUP BY h.audit_id, g.scope_no
), peak AS (
    SELECT audit_id, scope_no, round(max(running_gpus)::numeric, 6) AS peak_running_gpus,
           CASE WHEN sum(util_chips) > 0 THEN round(max(busy_gpus)::numeric, 6) END AS peak_busy_gpus,
           -- the highest, and of equal ones the earliest
           max(ARRAY[cell_util_sum / util_chips, -extract(epoch FROM hour)]) FILTER (WHERE util_chips > 0) AS highest
    FROM audit.scope_hour
    GROUP BY audit_id, scope_no
), percentile AS (
    -- Cumulated twice: over coarse bins (2^30 of 1e-10 %), then over the values of the bins that hold a percentile.
    SELECT audit_id, scope_no, min(util_sum) FILTER (WHERE part = 0.50 AND upto >= needed) AS p50,
           min(util_sum) FILTER (WHERE part = 0.95 AND upto >= needed) AS p95,
           min(util_sum) FILTER (WHERE part = 0.99 AND upto >= needed) AS p99, max(highest) AS highest
    FROM (
        SELECT t.audit_id, t.scope_no, t.part, t.needed, t.highest, c.util_sum,
               t.before + sum(sum(c.cells)) OVER (PARTITION BY t.audit_id, t.scope_no, t.part ORDER BY c.util_sum) AS upto
        FROM (
            SELECT d.audit_id, d.scope_no, v.part, v.part * d.cells AS needed, max(d.highest) AS highest,
                   min(d.bin) FILTER (WHERE d.upto >= v.part * d.cells) AS bin,
                   coalesce(max(d.upto) FILTER (WHERE d.upto < v.part * d.cells), 0) AS before
            FROM (
                SELECT g.audit_id, g.scope_no, b.bin, max(b.highest) AS highest, sum(sum(b.cells)) OVER (w ORDER BY b.bin) AS upto,
                       sum(sum(b.cells)) OVER w AS cells
                FROM (SELECT audit_id, group_no, util_sum >> 30 AS bin, sum(cells) AS cells, max(util_sum) AS highest
                      FROM audit.audit_cell GROUP BY audit_id, group_no, util_sum >> 30) b
                JOIN audit.audit_scope_group g ON g.audit_id = b.audit_id AND g.group_no = b.group_no
                GROUP BY g.audit_id, g.scope_no, b.bin
                WINDOW w AS (PARTITION BY g.audit_id, g.scope_no)) d
            CROSS JOIN (VALUES (0.50), (0.95), (0.99)) v(part)
            GROUP BY d.audit_id, d.scope_no, v.part, d.cells) t
        JOIN audit.audit_scope_group g ON g.audit_id = t.audit_id AND g.scope_no = t.scope_no
        JOIN audit.audit_cell c ON c.audit_id = g.audit_id AND c.group_no = g.group_no AND c.util_sum >> 30 = t.bin
        GROUP BY t.audit_id, t.scope_no, t.part, t.needed, t.highest, t.before, c.util_sum) u
    GROUP BY audit_id, scope_no
), figure AS (
    SELECT o.audit_id, o.dimension, o.key, greatest(r.gpus, k.peak_running_gpus, 0) AS gpus, coalesce(r.instances, 0) AS instances,
           -- a scope without any use has nothing running: a true 0; an unknown GPU count leaves NULL
           CASE WHEN r.instances IS NULL THEN 0 ELSE u.running_gpu_hours END AS running_gpu_hours,
           coalesce(u.billed_gpu_hours, CASE WHEN u.owned_gpu_hours IS NOT NULL OR r.instances IS NULL THEN 0 END) AS billed_gpu_hours,
           coalesce(u.owned_gpu_hours, 0) AS owned_gpu_hours,
           coalesce(c.corrected_gpu_hours, 0) AS corrected_gpu_hours,
           CASE WHEN n.is_there THEN n.gpu_hours ELSE 0 END AS unused_gpu_hours,
           CASE WHEN r.instances IS NULL THEN 0 ELSE u.covered_gpu_hours END AS covered_gpu_hours,
           u.observed_gpu_hours, u.idle_gpu_hours, u.sm_covered_gpu_hours, u.effective_gpu_hours,
           u.samples, u.util_sum, u.sm_samples, u.sm_sum, u.idle_samples, u.idle_samples_of,
           p.p50, p.p95, p.p99, p.highest, CASE WHEN r.instances IS NULL THEN 0 ELSE k.peak_running_gpus END AS peak_running_gpus, k.peak_busy_gpus, k.highest[1] AS peak_util, to_timestamp(-k.highest[2]) AS peak_hour,
           -- money: parts without a rate or a cost are left out of a sum and said on the data-quality
           -- list; where no part has any, the sum is unknown
           CASE WHEN c.is_there AND c.billed_cost IS NULL AND u.billed_cost IS NULL THEN NULL
                ELSE CASE WHEN u.scope_no IS NULL THEN 0 ELSE u.billed_cost END + coalesce(c.billed_cost, 0) END AS billed_cost,
           CASE WHEN c.is_there AND c.effective_cost IS NULL AND u.effective_cost IS NULL THEN NULL
                ELSE CASE WHEN u.scope_no IS NULL THEN 0 ELSE u.effective_cost END + coalesce(c.effective_cost, 0) END AS effective_cost,
           CASE WHEN c.is_there THEN c.effective_cost ELSE 0 END AS correction_cost,
           CASE WHEN n.is_there THEN n.cost ELSE 0 END AS unused_cost,
           CASE WHEN u.scope_no IS NULL THEN 0 ELSE u.effective_cost - u.covered_cost END AS unknown_cost,
           u.idle_cost, u.list_cost, CASE WHEN u.scope_no IS NULL THEN 0 ELSE u.untagged_cost END AS untagged_cost,
           a.known AS known_gpu_hours, a.allocated AS allocated_gpu_hours, a.allocated_cost, a.unallocated_cost,
           -- where nothing that a scheduler knows was measured, nobody knows what was idle of it
           CASE WHEN a.known_covered > 0 THEN a.busy END AS busy_held, CASE WHEN a.known_covered > 0 THEN a.idle END AS idle_held,
           CASE WHEN a.known_covered > 0 THEN a.free END AS idle_free, CASE WHEN a.known_covered > 0 THEN a.idle_cost END AS idle_held_cost,
           CASE WHEN a.known_covered > 0 THEN a.free_cost END AS idle_free_cost,
           coalesce(w.lacks_cost, false) OR coalesce(n.lacks_cost, false) AS lacks_cost, coalesce(w.lacks_gpu_hours, false) AS lacks_gpu_hours
    FROM audit.audit_scope o
    LEFT JOIN use u ON u.audit_id = o.audit_id AND u.scope_no = o.scope_no
    LEFT JOIN resource r ON r.audit_id = o.audit_id AND r.scope_no = o.scope_no
    LEFT JOIN correction c ON c.audit_id = o.audit_id AND c.scope_no = o.scope_no
    LEFT JOIN unused n ON n.audit_id = o.audit_id AND n.scope_no = o.scope_no
    LEFT JOIN held a ON a.audit_id = o.audit_id AND a.scope_no = o.scope_no
    LEFT JOIN gap w ON w.audit_id = o.audit_id AND w.scope_no = o.scope_no
    LEFT JOIN peak k ON k.audit_id = o.audit_id AND k.scope_no = o.scope_no
    LEFT JOIN percentile p ON p.audit_id = o.audit_id AND p.scope_no = o.scope_no
), ratio AS (
    SELECT *, running_gpu_hours + corrected_gpu_hours + coalesce(unused_gpu_hours, 0) AS provisioned_gpu_hours,
           covered_gpu_hours > 0 AS is_covered,
           -- a price is money and hours of the same GPUs: where one of them lacks a part, it is unknown
           NOT (lacks_cost OR lacks_gpu_hours) AS is_priced,
           CASE WHEN running_gpu_hours = 0 AND effective_cost = 0 THEN unused_cost ELSE effective_cost + coalesce(unused_cost, 0) END AS gpu_cost
    FROM figure
)
SELECT audit_id, dimension, key, trim_scale(gpus) AS gpus, instances,
       trim_scale(provisioned_gpu_hours) AS provisioned_gpu_hours,
       trim_scale(running_gpu_hours) AS running_gpu_hours,
       trim_scale(billed_gpu_hours) AS billed_gpu_hours,
       trim_scale(corrected_gpu_hours) AS corrected_gpu_hours,
       trim_scale(unused_gpu_hours) AS unused_commitment_gpu_hours,
       trim_scale(owned_gpu_hours) AS owned_gpu_hours,
       CASE WHEN is_covered THEN trim_scale(round(observed_gpu_hours, 12)) END AS observed_gpu_hours,
       trim_scale(covered_gpu_hours) AS covered_gpu_hours,
       (100 * covered_gpu_hours / nullif(running_gpu_hours, 0))::float8 AS coverage_pct,
       trim_scale(running_gpu_hours - covered_gpu_hours) AS unknown_gpu_hours,
       CASE WHEN is_covered THEN trim_scale(idle_gpu_hours) END AS idle_gpu_hours,
       CASE WHEN is_covered THEN (100 * idle_gpu_hours / covered_gpu_hours)::float8 END AS idle_pct,
       (100 * idle_samples / nullif(idle_samples_of, 0))::float8 AS idle_time_pct,
       CASE WHEN is_covered THEN trim_scale(covered_gpu_hours - idle_gpu_hours) END AS busy_gpu_hours,
       trim_scale(round(effective_gpu_hours, 12)) AS effective_gpu_hours,
       CASE WHEN sm_samples > 0 THEN trim_scale(sm_covered_gpu_hours) END AS sm_covered_gpu_hours,
       trim_scale(allocated_gpu_hours) AS allocated_gpu_hours,
       (util_sum / nullif(samples, 0) / 28000000)::float8 AS avg_util_pct,
       p50 / 1e10::float8 AS p50_cell_util_pct, p95 / 1e10::float8 AS p95_cell_util_pct, p99 / 1e10::float8 AS p99_cell_util_pct,
       highest / 1e10::float8 AS max_cell_util_pct,
       (peak_util / 1e10)::float8 AS peak_hour_util_pct, peak_hour,
       (sm_sum / nullif(sm_samples, 0) / 28000000)::float8 AS avg_sm_pct,
       trim_scale(peak_running_gpus) AS peak_running_gpus, trim_scale(peak_busy_gpus) AS peak_busy_gpus,
       trim_scale(billed_cost) AS billed_cost, trim_scale(effective_cost) AS effective_cost, trim_scale(correction_cost) AS correction_cost,
       trim_scale(unused_cost) AS unused_commitment_cost,
       CASE WHEN is_covered THEN trim_scale(idle_cost) END AS idle_cost,
       trim_scale(unknown_cost) AS unknown_cost, trim_scale(gpu_cost) AS gpu_cost, trim_scale(list_cost) AS list_cost,
       CASE WHEN is_priced THEN trim_scale(round(gpu_cost / nullif(provisioned_gpu_hours, 0), 10)) END AS cost_per_provisioned_gpu_hour,
       CASE WHEN is_covered AND is_priced THEN trim_scale(round(gpu_cost / nullif(covered_gpu_hours - idle_gpu_hours, 0), 10)) END AS cost_per_busy_gpu_hour,
       CASE WHEN is_priced THEN trim_scale(round(gpu_cost / nullif(effective_gpu_hours, 0), 10)) END AS cost_per_effective_gpu_hour,
       trim_scale(untagged_cost) AS untagged_cost, lacks_cost, lacks_gpu_hours,
       trim_scale(known_gpu_hours) AS allocation_known_gpu_hours, trim_scale(busy_held + idle_held) AS covered_allocated_gpu_hours,
       trim_scale(busy_held) AS busy_allocated_gpu_hours, trim_scale(idle_held) AS idle_allocated_gpu_hours,
       trim_scale(idle_free) AS idle_unallocated_gpu_hours, trim_scale(allocated_cost) AS allocated_cost,
       trim_scale(unallocated_cost) AS unallocated_cost, trim_scale(idle_held_cost) AS idle_allocated_cost,
       trim_scale(idle_free_cost) AS idle_unallocated_cost
FROM ratio;
COMMENT ON VIEW audit.figure IS 'One row is every headline figure of one scope, worked out now; audit_figure is the frozen copy';
