-- GPUs of a scope in each hour: how many were there, how many busy, and their mean util.
-- One row per audit, scope and hour. GPUs and samples stand on a resource's main row only. Rows add
-- up to groups first, since most scopes are made of few groups; the two kinds of group apart.
CREATE VIEW audit.scope_hour AS
WITH main AS (
    -- whole GPUs are counted as integers, fractions of one (g6f.large: 0.125) as they are
    SELECT h.audit_id, s.group_no, s.owner_no, h.hour, h.chips * s.weight AS running_gpus, (h.covered_chips - h.idle_chips) * s.weight AS busy_gpus,
           h.cell_util_sum, h.util_chips
    FROM audit.audit_hour h
    JOIN (SELECT audit_id, subject_no, group_no, owner_no, coalesce(gpus / chips, 1)::float8 AS weight
          FROM audit.audit_subject) s ON s.audit_id = h.audit_id AND s.subject_no = h.subject_no
    WHERE h.is_main
), grouped AS (
    SELECT audit_id, group_no, hour, sum(running_gpus) AS running_gpus, sum(busy_gpus) AS busy_gpus,
           sum(cell_util_sum)::bigint AS cell_util_sum, sum(util_chips)::int AS util_chips
    FROM main GROUP BY audit_id, group_no, hour
    UNION ALL
    SELECT audit_id, owner_no, hour, sum(running_gpus), sum(busy_gpus), sum(cell_util_sum)::bigint, sum(util_chips)::int
    FROM main GROUP BY audit_id, owner_no, hour
)
SELECT g.audit_id, g.scope_no, h.hour, round(sum(h.running_gpus)::numeric, 6) AS running_gpus, round(sum(h.busy_gpus)::numeric, 6) AS busy_gpus,
       sum(h.cell_util_sum) AS cell_util_sum, sum(h.util_chips) AS util_chips
FROM grouped h
JOIN audit.audit_scope_group g ON g.audit_id = h.audit_id AND g.group_no = h.group_no
GROUP BY g.audit_id, g.scope_no, h.hour;
COMMENT ON VIEW audit.scope_hour IS 'One row is a scope in an hour: GPUs running and busy, and the util of its covered cells';
