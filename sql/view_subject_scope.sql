-- The scopes a subject counts in: those of its supply group and of its owner group. One row per
-- audit, subject and scope.
CREATE VIEW audit.subject_scope AS
SELECT s.audit_id, s.subject_no, g.scope_no
FROM audit.audit_subject s
JOIN audit.audit_scope_group g ON g.audit_id = s.audit_id AND g.group_no = s.group_no
UNION ALL
SELECT s.audit_id, s.subject_no, g.scope_no
FROM audit.audit_subject s
JOIN audit.audit_scope_group g ON g.audit_id = s.audit_id AND g.group_no = s.owner_no;
COMMENT ON VIEW audit.subject_scope IS 'One row is a subject in a scope it counts in';
