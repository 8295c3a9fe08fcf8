-- The row of a source, made if new. As in slice.sql, one that is just being made elsewhere is waited for.
-- $1 kind, $2 name, $3 format, $4 location. One row: source_id.
WITH there AS (
    SELECT source_id FROM audit.source WHERE kind = $1::text AND name = $2::text AND format = $3::text AND location = $4::text
), made AS (
    INSERT INTO audit.source (kind, name, format, location)
    SELECT $1::text, $2::text, $3::text, $4::text WHERE NOT EXISTS (SELECT 1 FROM there)
    ON CONFLICT (kind, name, format, location) DO UPDATE SET kind = excluded.kind
    RETURNING source_id
)
SELECT source_id FROM there UNION ALL SELECT source_id FROM made;
