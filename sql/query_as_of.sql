-- What time it is, what window is asked about and for which sources, for the views that go by it
-- (billing_completeness) and the analysis. $1 now, $2 from, $3 to, $4 source ids (int[]). For this session.
SELECT set_config('gpu_audit.now', $1, false), set_config('gpu_audit.window_from', $2, false), set_config('gpu_audit.window_to', $3, false),
       set_config('gpu_audit.source_ids', $4, false);
