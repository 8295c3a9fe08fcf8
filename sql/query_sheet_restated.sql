-- What did this revision change of the one before it? $1 = audit_id.
-- Grain: one row per figure of the whole audit that differs.
SELECT r.revision_before, CASE WHEN r.was_final THEN 'final' ELSE 'draft' END AS state_before, replace(r.figure, '_', ' ') AS figure,
       CASE WHEN r.figure LIKE '%cost' THEN a.currency ELSE 'GPU-hours' END AS unit,
       round(r.before, 2) AS before, round(r.after, 2) AS after, round(r.after - r.before, 2) AS change
FROM audit.restatement r
JOIN audit.audit a USING (audit_id)
WHERE r.audit_id = $1::int AND r.dimension = 'total'
ORDER BY array_position(ARRAY['gpu_cost', 'billed_cost', 'effective_cost', 'correction_cost'], r.figure), r.figure;
