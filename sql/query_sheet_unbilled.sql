-- Which GPUs send samples, but no bill or inventory knows them? $1 = audit_id. Grain: one row per GPU.
SELECT gpu_uuid, coalesce(host, 'unknown') AS host, coalesce(model_name, 'unknown') AS model_name,
       round(gpu_hours, 1) AS gpu_hours,
       to_char(from_time, 'YYYY-MM-DD HH24:MI') AS from_time, to_char(to_time, 'YYYY-MM-DD HH24:MI') AS to_time
FROM audit.audit_unbilled
WHERE audit_id = $1::int
ORDER BY audit_unbilled.gpu_hours DESC, gpu_uuid;
