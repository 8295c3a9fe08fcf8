-- Identities that a live slice has numbered from a number on.
-- $1 slice_id, $2 first series_no. One row per series.
SELECT series_no, gpu_uuid, mig_id, mig_profile, host, instance_id, gpu_index, model_name, namespace, pod
FROM audit.gpu_series
WHERE slice_id = $1::int AND series_no >= $2::int
