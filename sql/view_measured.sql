-- What was measured for each metric an assumption may name. One row per audit, scope and metric.
-- is_use: the figure rests on telemetry, so coverage decides whether it is evidence. A sum that leaves money or
-- hours out (audit_gap) is no measurement.
CREATE VIEW audit.measured AS
SELECT f.audit_id, f.dimension, f.key, v.metric, v.value, v.unit, v.is_use, f.coverage_pct
FROM audit.audit_figure f
CROSS JOIN LATERAL (VALUES
    ('util_pct', f.avg_util_pct::numeric, '%', true),
    ('sm_pct', f.avg_sm_pct::numeric, '%', true),
    ('idle_pct', f.idle_pct::numeric, '%', true),
    ('coverage_pct', f.coverage_pct::numeric, '%', false),
    ('gpu_hours', CASE WHEN NOT f.lacks_gpu_hours THEN f.provisioned_gpu_hours END, 'GPU-hours', false),
    ('peak_busy_gpus', f.peak_busy_gpus, 'GPUs', true),
    ('peak_running_gpus', f.peak_running_gpus, 'GPUs', false),
    ('price_per_gpu_hour', CASE WHEN NOT f.lacks_cost AND NOT f.lacks_gpu_hours
                                THEN trim_scale(round((f.effective_cost - f.correction_cost) / nullif(f.running_gpu_hours, 0), 6)) END, 'per GPU-hour', false),
    ('cost', CASE WHEN NOT f.lacks_cost THEN f.gpu_cost END, 'money', false),
    ('effective_cost', CASE WHEN NOT f.lacks_cost THEN f.effective_cost END, 'money', false)) v(metric, value, unit, is_use)
UNION ALL
SELECT c.audit_id, d.dimension, d.key, 'commitment_discount_pct',
       round(100 * (1 - sum(c.used_cost) / nullif(sum(c.used_cost / (1 - c.discount_pct::numeric / 100)), 0)), 6), '%', false, NULL
FROM audit.audit_commitment c
CROSS JOIN LATERAL (VALUES ('total', ''), ('provider', c.provider)) d(dimension, key)
WHERE c.discount_pct < 100 AND c.used_cost > 0
GROUP BY c.audit_id, d.dimension, d.key;
COMMENT ON VIEW audit.measured IS 'One row is a measured metric of a scope, as the cost model names it';
