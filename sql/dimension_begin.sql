-- Tells the statements of this transaction whose rows they replace, and locks the slice against
-- another command that loads it.
-- $1 source_id, $2 origin (user or shipped), $3 slice_id.
SELECT set_config('gpu_audit.source_id', $1, true), set_config('gpu_audit.origin', $2, true)
FROM audit.slice WHERE slice_id = $3::int
FOR UPDATE
