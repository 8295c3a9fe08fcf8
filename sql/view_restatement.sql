-- What did a revision change of the one before it? One row per audit, scope and figure that differs: money and
-- GPU-hours, before and after. A scope that only one of them has differs from unknown (NULL).
CREATE VIEW audit.restatement AS
SELECT n.audit_id, n.revision, b.revision AS revision_before, b.is_final AS was_final, f.dimension, f.key, v.figure, v.before, v.after
FROM audit.audit n
JOIN audit.audit b ON b.estate = n.estate AND b.quarter = n.quarter AND b.revision = n.revision - 1
CROSS JOIN LATERAL (
    SELECT dimension, key FROM audit.audit_figure WHERE audit_id = n.audit_id
    UNION SELECT dimension, key FROM audit.audit_figure WHERE audit_id = b.audit_id) f
LEFT JOIN audit.audit_figure x ON x.audit_id = b.audit_id AND x.dimension = f.dimension AND x.key = f.key
LEFT JOIN audit.audit_figure y ON y.audit_id = n.audit_id AND y.dimension = f.dimension AND y.key = f.key
CROSS JOIN LATERAL (VALUES
    ('provisioned_gpu_hours', x.provisioned_gpu_hours, y.provisioned_gpu_hours), ('running_gpu_hours', x.running_gpu_hours, y.running_gpu_hours),
    ('corrected_gpu_hours', x.corrected_gpu_hours, y.corrected_gpu_hours), ('covered_gpu_hours', x.covered_gpu_hours, y.covered_gpu_hours),
    ('idle_gpu_hours', x.idle_gpu_hours, y.idle_gpu_hours),
    ('unused_commitment_gpu_hours', x.unused_commitment_gpu_hours, y.unused_commitment_gpu_hours),
    ('billed_cost', x.billed_cost, y.billed_cost), ('effective_cost', x.effective_cost, y.effective_cost),
    ('correction_cost', x.correction_cost, y.correction_cost), ('unused_commitment_cost', x.unused_commitment_cost, y.unused_commitment_cost),
    ('gpu_cost', x.gpu_cost, y.gpu_cost), ('idle_cost', x.idle_cost, y.idle_cost)) v(figure, before, after)
WHERE v.before IS DISTINCT FROM v.after;
COMMENT ON VIEW audit.restatement IS 'One row is a figure that a revision changed of the one before it; what caused it: restatement_cause';
