-- Audits frozen over these sources ($1, int[]). One row per audit, newest first.
SELECT a.quarter, a.revision, CASE WHEN a.is_final THEN 'final' ELSE 'draft' END AS state, to_char(a.created, 'YYYY-MM-DD HH24:MI') AS created,
       trim_scale(f.gpus) AS gpus, round(f.gpu_cost, 2) AS gpu_cost, a.currency, a.program_version AS program
FROM audit.audit a
JOIN audit.audit_figure f ON f.audit_id = a.audit_id AND f.dimension = 'total'
WHERE EXISTS (SELECT 1 FROM audit.audit_input i WHERE i.audit_id = a.audit_id AND i.source_id = ANY ($1::int[]))
  AND NOT EXISTS (SELECT 1 FROM audit.audit_input i WHERE i.audit_id = a.audit_id AND i.source_id <> ALL ($1::int[]))
ORDER BY a.audit_id DESC;
