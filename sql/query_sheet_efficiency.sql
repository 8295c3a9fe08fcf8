-- Which GPUs were held back, or held for nothing, and what did that cost? $1 = audit_id. Grain: one row per GPU, kind
-- and stretch, dearest first. The kinds overlap, so they have no sum.
SELECT kind, coalesce(nullif(team, ''), '(none named)') AS team, coalesce(nullif(project, ''), '(none named)') AS project, round(cost, 2) AS cost,
       hours, round(gpu_hours, 1) AS gpu_hours, to_char(from_time, 'YYYY-MM-DD HH24:MI') AS from_time, to_char(to_time, 'YYYY-MM-DD HH24:MI') AS to_time,
       measured, coalesce(model, '') AS model, concat_ws(' ', provider, resource_id) AS instance, coalesce(host, '') AS host, gpu_uuid
FROM audit.audit_efficiency
WHERE audit_id = $1::int
ORDER BY stretch_no;
