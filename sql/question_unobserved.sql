-- Which paid resources has no telemetry ever seen, or not for part of the quarter?
SELECT a.quarter, u.provider, u.resource_id, u.instance_type, u.team, u.project, a.currency,
       round(u.gpu_hours, 1) AS gpu_hours, round(u.cost, 2) AS cost,
       CASE WHEN u.is_never_seen THEN 'never' ELSE 'in part' END AS seen
FROM audit.audit_unobserved u
JOIN (SELECT * FROM audit.audit ORDER BY audit_id DESC LIMIT 1) a ON a.audit_id = u.audit_id
ORDER BY u.cost DESC, u.provider, u.resource_id;
