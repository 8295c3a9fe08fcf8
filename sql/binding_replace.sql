-- The bindings of a source, whole, from their stage. An empty valid_from or valid_to is open: the
-- year 1970, the year 9999.
DELETE FROM audit.host_binding WHERE source_id = current_setting('gpu_audit.source_id')::int;

INSERT INTO audit.host_binding (source_id, host, provider, resource_id, resource_key, instance_type, valid_from, valid_to)
SELECT current_setting('gpu_audit.source_id')::int, host, provider, resource_id, resource_key, instance_type,
       coalesce(valid_from, '1970-01-01Z'), coalesce(valid_to, '9999-01-01Z')
FROM stage_binding
ORDER BY file_no, line
