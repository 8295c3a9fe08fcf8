-- GPUs of a scope in each hour: how many were there, how many busy, and their mean util.
-- One row per audit, scope and hour, from the scope's groups. A scope of one group is that group:
-- most issues and many pools are, and need no adding up.
CREATE VIEW audit.scope_hour AS
WITH scope_group AS NOT MATERIALIZED (
    SELECT audit_id, scope_no, group_no, count(*) OVER (PARTITION BY audit_id, scope_no) AS groups FROM audit.audit_scope_group
)
SELECT g.audit_id, g.scope_no, h.hour, h.running_gpus, h.busy_gpus, h.cell_util_sum::numeric AS cell_util_sum, h.util_chips::bigint AS util_chips
FROM scope_group g
JOIN audit.audit_group_hour h ON h.audit_id = g.audit_id AND h.group_no = g.group_no
WHERE g.groups = 1
UNION ALL
SELECT g.audit_id, g.scope_no, h.hour, sum(h.running_gpus), sum(h.busy_gpus), sum(h.cell_util_sum), sum(h.util_chips)
FROM scope_group g
JOIN audit.audit_group_hour h ON h.audit_id = g.audit_id AND h.group_no = g.group_no
WHERE g.groups > 1
GROUP BY g.audit_id, g.scope_no, h.hour;
COMMENT ON VIEW audit.scope_hour IS 'One row is a scope in an hour: GPUs running and busy, and the util of its covered cells';
