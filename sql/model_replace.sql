-- The cost model of a source, whole, from its stage. A tolerance that is not given is 10 %.
DELETE FROM audit.assumption WHERE source_id = current_setting('gpu_audit.source_id')::int;

INSERT INTO audit.assumption (source_id, line, metric, scope_kind, scope_key, value, tolerance_pct, valid_from, set_by, reason)
SELECT current_setting('gpu_audit.source_id')::int, line::int, metric, scope_kind, scope_key, value,
       coalesce(abs(tolerance_pct), 10), valid_from, set_by, reason
FROM stage_model
ORDER BY file_no, line
