-- Names the audit ($1) that the steps of this session's analysis work on.
SELECT set_config('gpu_audit.audit_id', $1, false);
