-- What the newest revision of each quarter over the sources ($1, int[]) changed of the one before it. One row per figure.
SELECT a.quarter, r.revision_before || ' -> ' || r.revision AS revision, replace(r.figure, '_', ' ') AS figure, round(r.before, 2) AS before, round(r.after, 2) AS after,
       CASE WHEN r.figure LIKE '%cost' THEN a.currency ELSE 'GPU-hours' END AS unit,
       (SELECT string_agg(concat_ws(' ', c.what || ':', c.source, c.period, regexp_replace(c.object, '^.*/', '')), '; ' ORDER BY c.what, c.source, c.period, c.object)
        FROM (SELECT * FROM audit.restatement_cause c WHERE c.audit_id = r.audit_id ORDER BY what, source, period, object LIMIT 5) c) AS because
FROM audit.restatement r
JOIN audit.audit a USING (audit_id)
WHERE r.dimension = 'total' AND r.figure IN ('gpu_cost', 'billed_cost', 'correction_cost', 'provisioned_gpu_hours')
  AND a.audit_id IN (SELECT max(x.audit_id) FROM audit.audit x
                     WHERE EXISTS (SELECT 1 FROM audit.audit_input i WHERE i.audit_id = x.audit_id AND i.source_id = ANY ($1::int[]))
                       AND NOT EXISTS (SELECT 1 FROM audit.audit_input i WHERE i.audit_id = x.audit_id AND i.source_id <> ALL ($1::int[]))
                     GROUP BY x.estate, x.quarter)
ORDER BY a.quarter DESC, r.figure;
