-- The GPU-hour ledger of every scope, from its frozen figures: where each provisioned GPU-hour went.
-- One row per audit, scope and line. Lines in_sum add up to provisioned GPU-hours and GPU cost; the
-- lines beneath stand outside the sum. What no scheduler knows stays idle, allocation unknown.
CREATE VIEW audit.ledger AS
SELECT f.audit_id, f.dimension, f.key, v.line_no, v.line, v.in_sum, v.gpu_hours, v.cost
FROM audit.audit_figure f
CROSS JOIN LATERAL (VALUES
    (1, 'busy', true, f.busy_gpu_hours, f.effective_cost - coalesce(f.correction_cost, 0) - f.unknown_cost - f.idle_cost),
    (2, 'idle while allocated', true, f.idle_allocated_gpu_hours, f.idle_allocated_cost),
    (3, 'idle and unallocated', true, f.idle_unallocated_gpu_hours, f.idle_unallocated_cost),
    (4, 'idle, allocation unknown', true, f.idle_gpu_hours - coalesce(f.idle_allocated_gpu_hours + f.idle_unallocated_gpu_hours, 0),
     f.idle_cost - coalesce(f.idle_allocated_cost + f.idle_unallocated_cost, 0)),
    (5, 'unknown', true, f.unknown_gpu_hours, f.unknown_cost),
    (6, 'unused commitment', true, f.unused_commitment_gpu_hours, f.unused_commitment_cost),
    (7, 'corrected', true, f.corrected_gpu_hours, f.correction_cost)) v(line_no, line, in_sum, gpu_hours, cost)
UNION ALL
SELECT f.audit_id, f.dimension, f.key, 8, 'observed, known to no bill or inventory', false,
       (SELECT coalesce(sum(u.gpu_hours), 0) FROM audit.audit_unbilled u WHERE u.audit_id = f.audit_id), NULL
FROM audit.audit_figure f
WHERE f.dimension = 'total';
COMMENT ON VIEW audit.ledger IS 'One row is a line of the GPU-hour ledger of a scope, worked out now; audit_ledger is the frozen copy';
