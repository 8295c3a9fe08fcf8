-- When a time zone changed its distance from UTC; the first row is how far away it was at the beginning.
-- $1 name of the zone, $2 from, $3 to (unix seconds). One row per change: instant, seconds east of UTC. None: no such zone.
WITH instant AS (
    SELECT g AS at, extract(epoch FROM (to_timestamp(g) AT TIME ZONE $1) - (to_timestamp(g) AT TIME ZONE 'UTC'))::int AS offset_seconds
    FROM generate_series($2::bigint, $3::bigint, 1800) g
    WHERE EXISTS (SELECT 1 FROM pg_timezone_names WHERE name = $1)
), change AS (
    SELECT at, offset_seconds, lag(offset_seconds) OVER (ORDER BY at) AS before FROM instant
)
SELECT at, offset_seconds FROM change WHERE before IS DISTINCT FROM offset_seconds ORDER BY at
