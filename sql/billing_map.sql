-- Notes by what map and rate card the bills of a source are read. Last row: is_remapped, t when it
-- was another at the last load.
-- $1 source_id, $2 fingerprint, '' where nothing beside the files decides
WITH before AS (
    SELECT fingerprint FROM audit.billing_map WHERE source_id = $1::int
), noted AS (
    INSERT INTO audit.billing_map AS m (source_id, fingerprint)
    SELECT $1::int, $2::text WHERE $2::text <> '' OR EXISTS (SELECT 1 FROM before)
    ON CONFLICT (source_id) DO UPDATE SET fingerprint = excluded.fingerprint
)
SELECT coalesce((SELECT fingerprint FROM before), '') <> $2::text AS is_remapped
