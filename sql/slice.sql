-- The slice of a source and period, made if new. One row: slice_id.
-- $1 source_id, $2 period ("2026-07", or "all" of a small source), $3 first instant (unix seconds) or NULL,
-- $4 first instant after it or NULL.
WITH made AS (
    INSERT INTO audit.slice (source_id, period, from_time, to_time)
    VALUES ($1::int, $2, to_timestamp($3::bigint), to_timestamp($4::bigint))
    ON CONFLICT (source_id, period) DO NOTHING
    RETURNING slice_id
)
SELECT slice_id FROM made
UNION ALL
SELECT slice_id FROM audit.slice WHERE source_id = $1::int AND period = $2
LIMIT 1
