-- The row of a source, made if new.
-- $1 kind, $2 name, $3 format, $4 location. One row: source_id.
WITH made AS (
    INSERT INTO audit.source (kind, name, format, location) VALUES ($1, $2, $3, $4)
    ON CONFLICT (kind, name, format, location) DO NOTHING
    RETURNING source_id
)
SELECT source_id FROM made
UNION ALL
SELECT source_id FROM audit.source WHERE kind = $1 AND name = $2 AND format = $3 AND location = $4
LIMIT 1
