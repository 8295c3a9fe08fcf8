-- Who held GPUs, and what did they cost in that time? What nobody held of a pool stands beside it, and what no
-- scheduler knows. One row per audit, state, account, user, team, project and pool.
CREATE VIEW audit.held_by AS
SELECT h.audit_id, h.state, h.account, h.user_name, h.team, h.project, h.pool, trim_scale(sum(h.gpu_hours)) AS gpu_hours,
       CASE WHEN count(*) = count(h.cost) THEN trim_scale(sum(h.cost)) END AS cost,
       trim_scale(round(sum(h.cost) / nullif(sum(CASE WHEN h.cost IS NOT NULL THEN h.gpu_hours END), 0), 6)) AS cost_per_gpu_hour
FROM audit.audit_holder h
GROUP BY h.audit_id, h.state, h.account, h.user_name, h.team, h.project, h.pool;
COMMENT ON VIEW audit.held_by IS 'One row is what an account and user held of a pool, what nobody held of it, or what no scheduler knows: GPU-hours and effective cost';
COMMENT ON COLUMN audit.held_by.state IS 'held, unallocated, or allocation unknown';
COMMENT ON COLUMN audit.held_by.cost IS 'NULL: a part of it has no known cost';
