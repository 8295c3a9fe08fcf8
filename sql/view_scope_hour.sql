-- GPUs of a scope in each hour: how many were there, how many busy, and their mean util.
-- One row per audit, scope and hour, from the scope's groups.
CREATE VIEW audit.scope_hour AS
SELECT g.audit_id, g.scope_no, h.hour, sum(h.running_gpus) AS running_gpus, sum(h.busy_gpus) AS busy_gpus,
       sum(h.cell_util_sum) AS cell_util_sum, sum(h.util_chips) AS util_chips
FROM audit.audit_group_hour h
JOIN audit.audit_scope_group g ON g.audit_id = h.audit_id AND g.group_no = h.group_no
GROUP BY g.audit_id, g.scope_no, h.hour;
COMMENT ON VIEW audit.scope_hour IS 'One row is a scope in an hour: GPUs running and busy, and the util of its covered cells';
