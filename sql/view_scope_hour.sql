-- GPUs of a scope in each hour: how many were there, how many busy, and their mean util.
-- One row per audit, scope and hour. GPUs and samples stand on a resource's main row only. Whole
-- GPUs are counted as integers, fractions of one (g6f.large: 0.125) apart, for speed.
CREATE VIEW audit.scope_hour AS
SELECT g.audit_id, g.scope_no, h.hour,
       coalesce(sum(h.chips) FILTER (WHERE s.is_whole), 0)
           + coalesce(sum(h.chips * s.weight) FILTER (WHERE NOT s.is_whole), 0) AS running_gpus,
       coalesce(sum(h.covered_chips - h.idle_chips) FILTER (WHERE s.is_whole), 0)
           + coalesce(sum((h.covered_chips - h.idle_chips) * s.weight) FILTER (WHERE NOT s.is_whole), 0) AS busy_gpus,
       sum(h.cell_util_sum) AS cell_util_sum, sum(h.util_chips) AS util_chips
FROM audit.audit_hour h
JOIN (SELECT audit_id, subject_no, group_no, coalesce(gpus = chips, true) AS is_whole, gpus / chips AS weight
      FROM audit.audit_subject) s ON s.audit_id = h.audit_id AND s.subject_no = h.subject_no
JOIN audit.audit_scope_group g ON g.audit_id = s.audit_id AND g.group_no = s.group_no
WHERE h.is_main
GROUP BY g.audit_id, g.scope_no, h.hour;
COMMENT ON VIEW audit.scope_hour IS 'One row is a scope in an hour: GPUs running and busy, and the util of its covered cells';
