-- Who held GPUs and what did they cost meanwhile; what did nobody hold? $1 = audit_id. Grain: one row per pool, account,
-- user, team and project; of each pool what nobody held and what no scheduler knows; then their sum.
SELECT pool, state, account, user_name, team, project, gpu_hours, cost, rate, row_style
FROM (
    SELECT coalesce(nullif(pool, ''), '(none named)') AS pool, state,
           CASE WHEN state = 'held' THEN coalesce(account, '(not told)') ELSE '' END AS account,
           CASE WHEN state = 'held' THEN coalesce(user_name, '(not told)') ELSE '' END AS user_name,
           CASE WHEN state = 'held' THEN coalesce(nullif(team, ''), '(none named)') ELSE '' END AS team,
           CASE WHEN state = 'held' THEN coalesce(nullif(project, ''), '(none named)') ELSE '' END AS project,
           round(gpu_hours, 1) AS gpu_hours, round(cost, 2) AS cost, cost_per_gpu_hour AS rate, NULL AS row_style, cost AS exact_cost
    FROM audit.held_by WHERE audit_id = $1::int
    UNION ALL
    SELECT 'all', '', '', '', '', '', round(sum(gpu_hours), 1), CASE WHEN count(*) = count(cost) THEN round(sum(cost), 2) END,
           CASE WHEN count(*) = count(cost) THEN round(sum(cost) / nullif(sum(gpu_hours), 0), 6) END, 'total', NULL
    FROM audit.held_by WHERE audit_id = $1::int HAVING count(*) > 0
) holder
ORDER BY row_style NULLS FIRST, pool, array_position(ARRAY['held', 'unallocated', 'allocation unknown'], state), exact_cost DESC NULLS LAST, account, user_name, project;
