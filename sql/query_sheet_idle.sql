-- Which instances ran for more than 24 hours on end with next to nothing to do, whose are they, and
-- what did that cost? $1 = audit_id. Grain: one row per idle stretch, dearest first; then their sum.
SELECT team, project, provider, instance, model, region, pricing, gpus, from_time, to_time, hours, gpu_hours, cost, util_share,
       signal, still_going, row_style
FROM (
    SELECT coalesce(nullif(team, ''), '(none named)') AS team,
           coalesce(nullif(project, ''), '(none named)') AS project,
           provider, resource_id AS instance, model, region, pricing, gpus::float8::text AS gpus,
           to_char(from_time, 'YYYY-MM-DD HH24:MI') AS from_time,
           to_char(to_time, 'YYYY-MM-DD HH24:MI') AS to_time,
           hours::bigint AS hours, round(gpu_hours, 1) AS gpu_hours, round(cost, 2) AS cost,
           round((util_pct / 100)::numeric, 6)::text AS util_share, signal,
           CASE WHEN is_open THEN 'yes' ELSE '' END AS still_going,
           NULL AS row_style, cost AS exact_cost, stretch_no
    FROM audit.audit_idle_stretch WHERE audit_id = $1::int
    UNION ALL
    SELECT 'all', '', '', '', '', '', '', NULL, '', '', sum(hours), round(sum(gpu_hours), 1), round(sum(cost), 2), NULL, '', '', 'total',
           NULL, NULL
    FROM audit.audit_idle_stretch WHERE audit_id = $1::int HAVING count(*) > 0
) stretch
ORDER BY row_style NULLS FIRST, exact_cost DESC, stretch_no;
