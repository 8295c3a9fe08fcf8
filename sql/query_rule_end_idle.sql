-- Idle stretches of an audit ($1) by resource and price class, with what ending them would save a
-- month of 730 hours. One row per resource and price class, dearest first.
-- low: only what lies beyond the 48th hour of each stretch; expected: beyond the 24th, the hour a
-- stretch can be known as such; high: the whole stretch. What is committed or owned is paid for
-- whether idle or not: it saves nothing until other work moves there.
WITH stretch AS (
    SELECT s.*, 730 / (extract(epoch FROM a.to_time - a.from_time) / 3600) AS month, a.from_time AS window_from, a.to_time AS window_to,
           CASE WHEN s.pricing IN ('on-demand', 'spot', 'other') THEN 1 ELSE 0 END AS is_avoidable
    FROM audit.audit_idle_stretch s JOIN audit.audit a USING (audit_id)
    WHERE s.audit_id = $1::int
), resource AS MATERIALIZED (
    SELECT j.provider, j.resource_key, sum(u.effective_cost) AS effective_cost
    FROM audit.subject_use u JOIN audit.audit_subject j ON j.audit_id = u.audit_id AND j.subject_no = u.subject_no
    WHERE u.audit_id = $1::int
    GROUP BY j.provider, j.resource_key
)
SELECT s.provider, s.pool, s.resource_id, s.team, s.project, s.pricing, coalesce(s.instance_type, s.model) AS shape, trim_scale(s.gpus) AS gpus,
       count(*) AS stretches, sum(s.hours) AS hours, trim_scale(sum(s.gpu_hours)) AS gpu_hours, round(sum(s.cost), 2) AS idle_cost,
       round(sum(s.cost * s.is_avoidable * greatest(s.hours - 48, 0) / s.hours) * max(s.month), 2) AS saving_low,
       round(sum(s.cost * s.is_avoidable * (s.hours - 24) / s.hours) * max(s.month), 2) AS saving,
       round(sum(s.cost * s.is_avoidable) * max(s.month), 2) AS saving_high,
       round(max(u.effective_cost) * max(s.month), 2) AS cost_acted_on,
       round(sum(s.util_pct * s.hours)::numeric / sum(s.hours), 1) AS util_pct, max(s.signal) AS signal, bool_or(s.is_open) AS is_open,
       to_char(max(s.to_time), 'YYYY-MM-DD HH24:MI') AS last_end,
       coalesce((SELECT i.assignee FROM audit.issue i JOIN audit.audit_input n ON n.source_id = i.source_id AND n.audit_id = $1::int
                 WHERE i.key = max(s.issue) LIMIT 1), nullif(max(s.team), ''), 'unknown') AS owner
FROM stretch s
JOIN resource u ON u.provider = s.provider AND u.resource_key = s.resource_key
GROUP BY s.provider, s.pool, s.resource_id, s.team, s.project, s.pricing, coalesce(s.instance_type, s.model), s.gpus
ORDER BY saving DESC, idle_cost DESC, s.resource_id;
