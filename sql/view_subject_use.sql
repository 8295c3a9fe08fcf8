-- What each subject of an audit was and did over the whole window. One row per audit and subject.
CREATE VIEW audit.subject_use AS
SELECT h.audit_id, h.subject_no,
       sum(h.running_gpu_hours) AS running_gpu_hours,
       sum(audit.cell_share(h.running_gpu_hours, h.covered_chips, h.chips)) AS covered_gpu_hours,
       sum(audit.cell_share(h.running_gpu_hours, h.idle_chips, h.chips)) AS idle_gpu_hours,
       sum(audit.cell_share(h.running_gpu_hours, h.sm_chips, h.chips)) AS sm_covered_gpu_hours,
       sum(CASE WHEN h.sm_chips > 0 THEN audit.cell_share(h.running_gpu_hours, 1::int, h.chips) * h.cell_sm_sum END) / 1e12
           AS effective_gpu_hours,
       sum(h.billed_cost) AS billed_cost,
       sum(h.effective_cost) AS effective_cost,
       sum(h.list_cost) AS list_cost,
       -- where nobody knows how many GPUs ran, nobody knows how many of them were measured
       sum(CASE WHEN h.running_gpu_hours IS NULL THEN 0 * h.effective_cost ELSE audit.cell_share(h.effective_cost, h.covered_chips, h.chips) END) AS covered_cost,
       sum(CASE WHEN h.running_gpu_hours IS NULL THEN 0 * h.effective_cost ELSE audit.cell_share(h.effective_cost, h.idle_chips, h.chips) END) AS idle_cost,
       sum(h.observed_seconds)::numeric AS observed_seconds,
       sum(h.samples)::numeric AS samples, sum(h.util_sum) AS util_sum,
       sum(h.sm_samples)::numeric AS sm_samples, sum(h.sm_sum) AS sm_sum,
       sum(h.idle_samples)::numeric AS idle_samples,
       sum(CASE WHEN h.idle_samples IS NOT NULL THEN h.samples END)::numeric AS idle_samples_of,
       count(*) FILTER (WHERE h.is_placed) AS placed_hours
FROM audit.audit_hour h
GROUP BY h.audit_id, h.subject_no;
COMMENT ON VIEW audit.subject_use IS 'One row is a subject over the whole window: supply, use and money before corrections';
