-- What is this audit, and what does it come to in a dozen figures? The headline, the sentences and
-- the mail are made of these columns. $1 = audit_id. Grain: one row.
-- Column names end in _cost, _saving, _rate, _hours, _count or _share where they are such a figure.
SELECT a.quarter,
       a.revision::text AS revision,
       a.is_final,
       CASE WHEN a.is_final THEN 'final' ELSE 'DRAFT: ' || coalesce('bills may still change or are missing: '
           || (SELECT string_agg(c.source_name || ' ' || c.period, ', ' ORDER BY c.source_name, c.period) FROM audit.audit_completeness c
               WHERE c.audit_id = a.audit_id AND c.in_window AND c.state IN ('open', 'missing')), 'a bill of this window may still change') END AS state,
       a.currency,
       -- what sums leave out, as sentences of the summary; empty where nothing is
       coalesce(' Missing in every figure of money, for want of a rate: ' || (
           SELECT string_agg(format('%s %s of %s', to_char(g.cost, 'FM999,999,999,990.00'), g.currency, g.month), ', ' ORDER BY g.month, g.currency)
           FROM (SELECT month, currency, sum(effective_cost) AS cost FROM audit.audit_gap
                 WHERE audit_id = a.audit_id AND kind = 'rate' GROUP BY month, currency) g) || '.', '')
       || coalesce(' Machines of unknown types have cost but no GPU-hours here: ' || (
           SELECT string_agg(DISTINCT coalesce(t.instance_type, 'no type named'), ', ') FROM audit.audit_unknown_type t
           WHERE t.audit_id = a.audit_id AND t.gpu_hours IS NULL) || '.', '') AS lacking,
       to_char(a.from_time, 'FMDD FMMonth YYYY') AS first_day,
       to_char(a.to_time - interval '1 second', 'FMDD FMMonth YYYY') AS last_day,
       extract(epoch FROM a.created)::bigint::text AS created_unix,
       to_char(a.created, 'YYYY-MM-DD HH24:MI') AS created,
       a.program_version,
       a.inputs_sha256,
       a.idle_threshold_pct::float8::text AS idle_threshold_pct,
       f.gpus AS gpu_count,
       f.instances AS instance_count,
       f.peak_running_gpus AS peak_count,
       round(f.gpu_cost, 2) AS gpu_cost,
       round(f.provisioned_gpu_hours, 1) AS provisioned_hours,
       round(f.busy_gpu_hours / nullif(f.provisioned_gpu_hours, 0), 6) AS busy_share,
       round(f.idle_cost, 2) AS idle_cost,
       round((f.idle_pct / 100)::numeric, 6) AS idle_share,
       round(f.unknown_cost, 2) AS unknown_cost,
       round(f.unknown_gpu_hours / nullif(f.running_gpu_hours, 0), 6) AS unknown_share,
       round((f.coverage_pct / 100)::numeric, 6) AS coverage_share,
       round(f.unused_commitment_cost, 2) AS unused_cost,
       round(f.cost_per_busy_gpu_hour, 4) AS busy_rate,
       v.holds::text AS holds_count,
       v.deviates::text AS deviates_count,
       v.unproven::text AS unproven_count,
       (v.holds + v.deviates + v.unproven)::text AS assumption_count,
       r.recommendations::text AS recommendation_count,
       round(r.saving_low, 2) AS low_saving,
       round(r.saving, 2) AS month_saving,
       round(r.saving_high, 2) AS high_saving,
       i.stretches::text AS stretch_count,
       round(i.cost, 2) AS stretch_cost
FROM audit.audit a
LEFT JOIN audit.audit_figure f ON f.audit_id = a.audit_id AND f.dimension = 'total'
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE verdict = 'holds') AS holds,
           count(*) FILTER (WHERE verdict = 'deviates') AS deviates,
           count(*) FILTER (WHERE verdict = 'not enough evidence') AS unproven
    FROM audit.audit_assumption WHERE audit_id = a.audit_id) v
CROSS JOIN LATERAL (
    SELECT count(*) AS recommendations, coalesce(sum(saving_low), 0) AS saving_low, coalesce(sum(saving), 0) AS saving,
           coalesce(sum(saving_high), 0) AS saving_high
    FROM audit.recommendation WHERE audit_id = a.audit_id) r
CROSS JOIN LATERAL (
    SELECT count(*) AS stretches, coalesce(sum(cost), 0) AS cost
    FROM audit.audit_idle_stretch WHERE audit_id = a.audit_id) i
WHERE a.audit_id = $1::int;
