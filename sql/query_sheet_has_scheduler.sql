-- Does the audit read a scheduler? $1 = audit_id. One row if it does, none otherwise.
SELECT true AS has_scheduler
FROM audit.audit_input i
JOIN audit.source s USING (source_id)
WHERE i.audit_id = $1::int AND s.kind = 'scheduler'
LIMIT 1;
