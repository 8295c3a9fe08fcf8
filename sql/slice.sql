-- The slice of a source and period, made if new. One row: slice_id.
-- $1 source_id, $2 period ("2026-07", or "all" of a small source), $3 first instant (unix seconds) or NULL,
-- $4 first instant after it or NULL.
-- A row that another command makes at this moment is not seen by the SELECT: the update, which changes
-- nothing, waits for it and returns it.
WITH there AS (
    SELECT slice_id FROM audit.slice WHERE source_id = $1::int AND period = $2::text
), made AS (
    INSERT INTO audit.slice (source_id, period, from_time, to_time)
    SELECT $1::int, $2::text, to_timestamp($3::bigint), to_timestamp($4::bigint) WHERE NOT EXISTS (SELECT 1 FROM there)
    ON CONFLICT (source_id, period) DO UPDATE SET from_time = coalesce(slice.from_time, excluded.from_time)
    RETURNING slice_id
)
SELECT slice_id FROM there UNION ALL SELECT slice_id FROM made;
