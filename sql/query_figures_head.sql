-- The headline figures of an audit ($1), one a row, as people read them.
SELECT v.figure, v.value, v.unit
FROM audit.audit_figure f
JOIN audit.audit a USING (audit_id)
CROSS JOIN LATERAL (VALUES
    ('audit', format('%s revision %s%s', a.quarter, a.revision, CASE WHEN a.is_final THEN '' ELSE ' (draft)' END), ''),
    ('GPUs', trim_scale(f.gpus)::text, ''),
    ('provisioned', to_char(f.provisioned_gpu_hours, 'FM999,999,999,990.0'), 'GPU-hours'),
    ('coverage', round(f.coverage_pct::numeric, 1)::text, '%'),
    ('average utilization', round(f.avg_util_pct::numeric, 1)::text, '%'),
    ('average SM activity', round(f.avg_sm_pct::numeric, 1)::text, '%'),
    ('idle', round(f.idle_pct::numeric, 1)::text, '% of covered'),
    ('peak hour utilization', round(f.peak_hour_util_pct::numeric, 1)::text, '% at ' || to_char(f.peak_hour, 'YYYY-MM-DD HH24:MI')),
    ('p95 of GPU-hours', round(f.p95_cell_util_pct::numeric, 1)::text, '%'),
    ('peak running', f.peak_running_gpus::text, 'GPUs'),
    ('peak busy', f.peak_busy_gpus::text, 'GPUs'),
    ('billed cost', to_char(f.billed_cost, 'FM999,999,999,990.00'), a.currency),
    ('GPU cost', to_char(f.gpu_cost, 'FM999,999,999,990.00'), a.currency),
    ('of it by rate card', to_char((SELECT q.cost FROM audit.audit_quality q WHERE q.audit_id = f.audit_id AND q.check_name = 'priced by rate card'), 'FM999,999,999,990.00'), a.currency || ', computed'),
    ('without a price', to_char((SELECT q.gpu_hours FROM audit.audit_quality q WHERE q.audit_id = f.audit_id AND q.check_name = 'no price'), 'FM999,999,999,990.0'), 'GPU-hours'),
    ('without a rate', (SELECT string_agg(format('%s %s of %s', trim_scale(g.cost), g.currency, g.month), ', ' ORDER BY g.month, g.currency)
                        FROM (SELECT month, currency, sum(effective_cost) AS cost FROM audit.audit_gap
                              WHERE audit_id = f.audit_id AND kind = 'rate' GROUP BY month, currency) g), 'missing in every figure of money'),
    ('of unknown types', (SELECT string_agg(format('%s %s', t.provider, coalesce(t.instance_type, 'no type named')), ', ' ORDER BY t.provider, t.instance_type)
                          FROM audit.audit_unknown_type t WHERE t.audit_id = f.audit_id AND t.gpu_hours IS NULL), 'GPU-hours missing, cost is in'),
    ('cost of idle', to_char(f.idle_cost, 'FM999,999,999,990.00'), a.currency),
    ('cost of unknown', to_char(f.unknown_cost, 'FM999,999,999,990.00'), a.currency),
    ('per provisioned GPU-hour', to_char(f.cost_per_provisioned_gpu_hour, 'FM999,990.0000'), a.currency),
    ('per busy GPU-hour', to_char(f.cost_per_busy_gpu_hour, 'FM999,990.0000'), a.currency),
    ('per effective GPU-hour', to_char(f.cost_per_effective_gpu_hour, 'FM999,990.0000'), a.currency),
    ('without a team tag', to_char(f.untagged_cost, 'FM999,999,999,990.00'), a.currency)) v(figure, value, unit)
WHERE f.audit_id = $1::int AND f.dimension = 'total'
  AND (v.value IS NOT NULL OR v.figure NOT IN ('of it by rate card', 'without a price', 'without a rate', 'of unknown types'));
