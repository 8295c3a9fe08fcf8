-- What was paid for a GPU-hour of each model, by provider and price class, beside the list price?
SELECT a.quarter, s.model, s.provider, s.pricing, a.currency,
       round(sum(h.running_gpu_hours), 1) AS running_gpu_hours,
       round(sum(h.effective_cost), 2) AS effective_cost,
       -- money and hours of the same GPUs, or no price
       CASE WHEN count(h.effective_cost) = count(*) AND count(h.running_gpu_hours) = count(*)
            THEN round(sum(h.effective_cost) / nullif(sum(h.running_gpu_hours), 0), 4) END AS cost_per_gpu_hour,
       CASE WHEN count(h.list_cost) = count(*)
            THEN round(sum(h.list_cost) / nullif(sum(h.running_gpu_hours), 0), 4) END AS list_cost_per_gpu_hour
FROM audit.audit_subject s
JOIN (SELECT * FROM audit.audit ORDER BY audit_id DESC LIMIT 1) a ON a.audit_id = s.audit_id
JOIN audit.audit_hour h ON h.audit_id = s.audit_id AND h.subject_no = s.subject_no
GROUP BY a.quarter, a.currency, s.model, s.provider, s.pricing
HAVING sum(h.running_gpu_hours) > 0
ORDER BY s.model, s.provider, s.pricing;
