-- What was bought ahead, and how much of it was used? $1 = audit_id. Grain: one row per commitment.
SELECT provider, coalesce(commitment_name, commitment_id) AS commitment, coalesce(commitment_type, 'unknown') AS type,
       round(bought, 2) AS bought, round(used_cost, 2) AS used_cost, round(unused_cost, 2) AS unused_cost,
       round(used_gpu_hours, 1) AS used_gpu_hours, round(unused_gpu_hours, 1) AS unused_gpu_hours,
       round(gpu_share, 6) AS gpu_share, round((discount_pct / 100)::numeric, 6) AS discount_share
FROM audit.audit_commitment
WHERE audit_id = $1::int
ORDER BY provider, commitment_id;
