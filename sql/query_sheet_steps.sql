-- How do the provisioned GPU-hours shrink to useful work, step by step? For the waterfall: each bar
-- begins where the one before ended. $1 = audit_id. Grain: one row per bar.
-- A whole (provisioned, running, covered, busy, effective) begins at 0; a loss hangs from the whole before it.
WITH f AS (
    SELECT * FROM audit.audit_figure WHERE audit_id = $1::int AND dimension = 'total'
), step (place, step, begins_at, gpu_hours, what) AS (
    SELECT 1, 'provisioned', 0, provisioned_gpu_hours, 'all that was paid for or owned' FROM f
    UNION ALL
    SELECT 2, 'unused commitment', running_gpu_hours + least(corrected_gpu_hours, 0), unused_commitment_gpu_hours, 'paid for, ran nothing' FROM f
    UNION ALL
    SELECT 3, 'corrected', least(running_gpu_hours, running_gpu_hours + corrected_gpu_hours), abs(corrected_gpu_hours),
           'given back by later bills, no hour named' FROM f WHERE corrected_gpu_hours <> 0
    UNION ALL
    SELECT 4, 'running', 0, running_gpu_hours, 'there to be used' FROM f
    UNION ALL
    SELECT 5, 'unknown', covered_gpu_hours, unknown_gpu_hours, 'ran, but nobody measured it' FROM f
    UNION ALL
    SELECT 6, 'covered', 0, covered_gpu_hours, 'ran and measured' FROM f
    UNION ALL
    -- where a scheduler knows every running GPU-hour
    SELECT 6.5, 'covered and allocated', 0, covered_allocated_gpu_hours, 'measured, and held by a job, pod or user' FROM f
    WHERE allocation_known_gpu_hours = running_gpu_hours AND covered_allocated_gpu_hours IS NOT NULL
    UNION ALL
    SELECT 7, 'idle', busy_gpu_hours, idle_gpu_hours, 'measured, below the idle threshold' FROM f
    UNION ALL
    SELECT 8, 'busy', 0, busy_gpu_hours, 'measured and in use' FROM f
    UNION ALL
    SELECT 8.5, 'busy and allocated', 0, busy_allocated_gpu_hours, 'in use, and held' FROM f
    WHERE allocation_known_gpu_hours = running_gpu_hours AND busy_allocated_gpu_hours IS NOT NULL
    UNION ALL
    SELECT 9, 'effective', 0, effective_gpu_hours, 'full-GPU hours of work, where SM activity is measured' FROM f
)
SELECT step.step, round(begins_at, 1) AS begins_at, round(gpu_hours, 1) AS gpu_hours,
       round(gpu_hours / nullif((SELECT provisioned_gpu_hours FROM f), 0), 6) AS share, what
FROM step ORDER BY place;
