-- GPU-hours that jobs held, by month, account and partition
SELECT o.name AS source, u.month, u.account, u.partition, sum(u.jobs_started) AS jobs, round(sum(u.gpu_hours), 2) AS gpu_hours,
       round(sum(u.gpu_hours_waited), 2) AS gpu_hours_waited, sum(u.jobs_gpus_unknown) AS jobs_gpus_unknown
FROM audit.allocation_use u
JOIN audit.source o USING (source_id)
GROUP BY o.name, u.month, u.account, u.partition
ORDER BY o.name, u.month, sum(u.gpu_hours) DESC NULLS LAST;
