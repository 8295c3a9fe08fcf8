-- Why does a revision differ from the one before it? One row per cause: an object that is new, is another than
-- before, or is gone; a setting; the program. What an audit reads stands in audit_input.
CREATE VIEW audit.restatement_cause AS
WITH step AS (
    SELECT n.audit_id, b.audit_id AS before_id, n.program_version, b.program_version AS program_before
    FROM audit.audit n
    JOIN audit.audit b ON b.estate = n.estate AND b.quarter = n.quarter AND b.revision = n.revision - 1
)
SELECT s.audit_id, CASE WHEN o.is_known THEN 'delivered again' ELSE 'new' END AS what, r.kind || ' ' || r.name AS source, l.period, i.object,
       i.rows_read AS rows, o.rows_before
FROM step s
JOIN audit.audit_input i ON i.audit_id = s.audit_id
JOIN audit.source r USING (source_id)
JOIN audit.slice l ON l.slice_id = i.slice_id
CROSS JOIN LATERAL (SELECT count(*) > 0 AS is_known, sum(p.rows_read) AS rows_before, coalesce(bool_or(p.sha256 IS NOT DISTINCT FROM i.sha256 AND p.rows_read = i.rows_read
                              AND p.rows_kept = i.rows_kept), false) AS is_same
                    FROM audit.audit_input p WHERE p.audit_id = s.before_id AND p.slice_id = i.slice_id AND p.object = i.object) o
WHERE NOT o.is_same
UNION ALL
SELECT s.audit_id, 'gone', r.kind || ' ' || r.name, l.period, p.object, NULL, p.rows_read
FROM step s
JOIN audit.audit_input p ON p.audit_id = s.before_id
JOIN audit.source r USING (source_id)
JOIN audit.slice l ON l.slice_id = p.slice_id
WHERE NOT EXISTS (SELECT 1 FROM audit.audit_input i WHERE i.audit_id = s.audit_id AND i.slice_id = p.slice_id AND i.object = p.object)
UNION ALL
SELECT s.audit_id, 'setting', NULL, NULL, format('%s: %s, before: %s', k.key, coalesce(y.value, 'none'), coalesce(x.value, 'none')), NULL, NULL
FROM step s
CROSS JOIN LATERAL (SELECT DISTINCT key FROM audit.audit_setting WHERE audit_id IN (s.audit_id, s.before_id)) k
LEFT JOIN audit.audit_setting x ON x.audit_id = s.before_id AND x.key = k.key
LEFT JOIN audit.audit_setting y ON y.audit_id = s.audit_id AND y.key = k.key
WHERE x.value IS DISTINCT FROM y.value
UNION ALL
SELECT s.audit_id, 'program', NULL, NULL, format('gpu-audit %s, before: %s', s.program_version, s.program_before), NULL, NULL
FROM step s WHERE s.program_version <> s.program_before;
COMMENT ON VIEW audit.restatement_cause IS 'One row is a reason why a revision differs from the one before it';
COMMENT ON COLUMN audit.restatement_cause.what IS 'new, delivered again, gone: an object; setting; program';
