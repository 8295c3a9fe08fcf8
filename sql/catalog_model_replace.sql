-- The GPU models of a source, whole, from their stage. Of two sources that give the same model of
-- one origin the one loaded last wins.
DELETE FROM audit.gpu_model WHERE source_id = current_setting('gpu_audit.source_id')::int;

INSERT INTO audit.gpu_model (source_id, origin, model, family, architecture, memory_gib, dense_fp16_tflops,
                             memory_bandwidth_gb_s, tdp_w, mig_slices_max, release_year, note)
SELECT current_setting('gpu_audit.source_id')::int, current_setting('gpu_audit.origin'), model, family, architecture,
       memory_gib, dense_fp16_tflops, memory_bandwidth_gb_s, tdp_w, coalesce(mig_slices_max, 0)::int, release_year::int, note
FROM stage_gpu_model
ON CONFLICT (model, source_id) DO UPDATE SET
    source_id = excluded.source_id, family = excluded.family, architecture = excluded.architecture,
    memory_gib = excluded.memory_gib, dense_fp16_tflops = excluded.dense_fp16_tflops,
    memory_bandwidth_gb_s = excluded.memory_bandwidth_gb_s, tdp_w = excluded.tdp_w,
    mig_slices_max = excluded.mig_slices_max, release_year = excluded.release_year, note = excluded.note
