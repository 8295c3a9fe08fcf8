-- Which teams left GPUs running idle for more than a day, and what did that cost?
SELECT a.quarter, CASE s.team WHEN '' THEN '(no team)' ELSE s.team END AS team, a.currency,
       count(*) AS stretches, count(DISTINCT (s.provider, s.resource_key)) AS resources, max(s.hours) AS longest_hours,
       round(sum(s.gpu_hours), 1) AS gpu_hours, round(sum(s.cost), 2) AS cost,
       count(*) FILTER (WHERE s.is_open) AS still_open
FROM audit.audit_idle_stretch s
JOIN (SELECT * FROM audit.audit ORDER BY audit_id DESC LIMIT 1) a ON a.audit_id = s.audit_id
GROUP BY a.quarter, a.currency, s.team
ORDER BY sum(s.cost) DESC, s.team;
