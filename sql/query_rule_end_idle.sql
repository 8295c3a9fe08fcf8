-- Idle stretches of an audit ($1) by resource and price class, with what ending them would save a
-- month of 730 hours. One row per resource and price class, dearest first.
-- low: only what lies beyond the 48th hour of each stretch; expected: beyond the 24th, the hour a
-- stretch can be known as such; high: the whole stretch. What is committed or owned is paid for
-- whether idle or not: it saves nothing until other work moves there. Nor does an hour in which a
-- GPU of the machine went unmeasured: unknown is no ground to stop it.
WITH avoidable AS MATERIALIZED (
    SELECT s.stretch_no, sum(h.effective_cost) AS cost
    FROM audit.audit_idle_stretch s
    JOIN audit.audit_subject j ON j.audit_id = s.audit_id AND j.provider = s.provider AND j.resource_key = s.resource_key
    JOIN audit.audit_hour h ON h.audit_id = j.audit_id AND h.subject_no = j.subject_no AND h.hour >= s.from_time AND h.hour < s.to_time
    WHERE s.audit_id = $1::int AND h.audit_id = $1::int AND j.pricing IN ('on-demand', 'spot', 'other') AND h.covered_chips = h.chips
    GROUP BY s.stretch_no
), stretch AS (
    SELECT s.*, 730 / (extract(epoch FROM a.to_time - a.from_time) / 3600) AS month, coalesce(v.cost, 0) AS avoidable_cost
    FROM audit.audit_idle_stretch s JOIN audit.audit a USING (audit_id) LEFT JOIN avoidable v USING (stretch_no)
    WHERE s.audit_id = $1::int
), resource AS MATERIALIZED (
    SELECT j.provider, j.resource_key, sum(u.effective_cost) AS effective_cost
    FROM audit.audit_use u JOIN audit.audit_subject j ON j.audit_id = u.audit_id AND j.subject_no = u.subject_no
    WHERE u.audit_id = $1::int
    GROUP BY j.provider, j.resource_key
)
SELECT s.provider, s.pool, s.resource_id, s.team, s.project, s.pricing, coalesce(s.instance_type, s.model) AS shape, trim_scale(s.gpus) AS gpus,
       count(*) AS stretches, sum(s.hours) AS hours, trim_scale(sum(s.gpu_hours)) AS gpu_hours, round(sum(s.cost), 2) AS idle_cost,
       round(sum(s.avoidable_cost * greatest(s.hours - 48, 0) / s.hours) * max(s.month), 2) AS saving_low,
       round(sum(s.avoidable_cost * (s.hours - 24) / s.hours) * max(s.month), 2) AS saving,
       round(sum(s.avoidable_cost) * max(s.month), 2) AS saving_high,
       round(max(u.effective_cost) * max(s.month), 2) AS cost_acted_on,
       round(sum(s.util_pct * s.hours)::numeric / sum(s.hours), 1) AS util_pct, max(s.signal) AS signal, bool_or(s.is_open) AS is_open,
       to_char(max(s.to_time), 'YYYY-MM-DD HH24:MI') AS last_end,
       coalesce((SELECT i.assignee FROM audit.issue i JOIN audit.audit_input n ON n.source_id = i.source_id AND n.audit_id = $1::int
                 WHERE i.key = max(s.issue) LIMIT 1), nullif(max(s.team), ''), 'unknown') AS owner
FROM stretch s
JOIN resource u ON u.provider = s.provider AND u.resource_key = s.resource_key
GROUP BY s.provider, s.pool, s.resource_id, s.team, s.project, s.pricing, coalesce(s.instance_type, s.model), s.gpus
ORDER BY saving DESC, idle_cost DESC, s.resource_id;
