-- Which resources were paid for and have hours that nobody measured? $1 = audit_id.
-- Grain: one row per resource, dearest first.
SELECT provider, resource_id AS instance, coalesce(instance_type, 'unknown') AS instance_type,
       coalesce(nullif(team, ''), '(none named)') AS team, coalesce(nullif(project, ''), '(none named)') AS project,
       round(gpu_hours, 1) AS gpu_hours, round(cost, 2) AS cost,
       CASE WHEN is_never_seen THEN 'never seen' ELSE 'for part of the time' END AS seen
FROM audit.audit_unobserved
WHERE audit_id = $1::int
ORDER BY audit_unobserved.cost DESC, provider, resource_id;
