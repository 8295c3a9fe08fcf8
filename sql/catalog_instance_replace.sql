-- The instance types of a source, whole, from their stage. Of two sources that give the same type of
-- one origin the one loaded last wins.
DELETE FROM audit.instance_type WHERE source_id = current_setting('gpu_audit.source_id')::int;

INSERT INTO audit.instance_type (source_id, origin, provider, instance_type, gpu_model, gpu_count, gpu_memory_gib,
                                 mig_capable, vcpus, memory_gib, note)
SELECT current_setting('gpu_audit.source_id')::int, current_setting('gpu_audit.origin'), provider, instance_type, gpu_model,
       gpu_count, gpu_memory_gib,
       CASE WHEN lower(mig_capable) IN ('true', 'yes', '1') THEN true WHEN lower(mig_capable) IN ('false', 'no', '0') THEN false END,
       vcpus, memory_gib, note
FROM stage_instance_type
ON CONFLICT (provider, instance_type, source_id) DO UPDATE SET
    source_id = excluded.source_id, gpu_model = excluded.gpu_model, gpu_count = excluded.gpu_count,
    gpu_memory_gib = excluded.gpu_memory_gib, mig_capable = excluded.mig_capable, vcpus = excluded.vcpus,
    memory_gib = excluded.memory_gib, note = excluded.note
