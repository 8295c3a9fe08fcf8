-- Notes that a slice could not be loaded; its rows stand as they were. One failed load per slice is
-- kept, the latest.
-- $1 slice_id, $2 object, $3 problem, $4 started (unix seconds), $5 program version.
WITH gone AS (
    UPDATE audit.load SET status = 'replaced' WHERE slice_id = $1::int AND status = 'failed'
)
INSERT INTO audit.load (slice_id, object, status, is_complete, problem, started, finished, program_version)
VALUES ($1::int, coalesce($2, ''), 'failed', false, $3, to_timestamp($4::bigint), clock_timestamp(), $5)
