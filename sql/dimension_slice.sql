-- The one slice of a small source, made if new.
-- $1 source_id. One row: slice_id.
WITH made AS (
    INSERT INTO audit.slice (source_id, period) VALUES ($1::int, 'all')
    ON CONFLICT (source_id, period) DO NOTHING
    RETURNING slice_id
)
SELECT slice_id FROM made
UNION ALL
SELECT slice_id FROM audit.slice WHERE source_id = $1::int AND period = 'all'
LIMIT 1
