-- What did this audit read? $1 = audit_id. Grain: one row per delivered object.
SELECT s.kind, s.name, s.format, l.period, i.object, i.rows_read, i.rows_kept, i.rows_totalled, i.rows_rejected,
       CASE WHEN i.is_complete THEN 'yes' ELSE 'no' END AS complete, coalesce(i.sha256, 'none') AS sha256
FROM audit.audit_input i
JOIN audit.source s USING (source_id)
JOIN audit.slice l ON l.slice_id = i.slice_id
WHERE i.audit_id = $1::int
ORDER BY s.kind, s.name, l.period, i.object;
