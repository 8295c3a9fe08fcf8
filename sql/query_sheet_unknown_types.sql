-- Which instance types with GPUs does no catalog know, and what line makes them known? $1 = audit_id.
-- Grain: one row per provider, instance type and number of GPUs by the bill's own word.
SELECT provider, coalesce(instance_type, 'no type named') AS instance_type, trim_scale(gpu_count) AS gpu_count, resources,
       round(instance_hours, 1) AS instance_hours, round(gpu_hours, 1) AS gpu_hours, round(effective_cost, 2) AS effective_cost,
       coalesce(catalog_line, 'The bill names no type: have its export say one.') AS catalog_line
FROM audit.audit_unknown_type
WHERE audit_id = $1::int
ORDER BY effective_cost DESC NULLS LAST, provider, instance_type;
