-- The offsets of a time zone between 2010 and 2050, to the quarter of an hour. One row per change:
-- the moment from which it holds (seconds since 1970, NULL for the first), the offset in seconds.
-- $1 name of the zone. No row: there is no such zone.
WITH zone AS (
    SELECT name FROM pg_catalog.pg_timezone_names WHERE lower(name) = lower($1::text) LIMIT 1
), day AS (
    SELECT d AS at, extract(epoch FROM (d AT TIME ZONE zone.name) - (d AT TIME ZONE 'UTC'))::int AS shift, zone.name,
           extract(epoch FROM ((d + interval '1 day') AT TIME ZONE zone.name) - ((d + interval '1 day') AT TIME ZONE 'UTC'))::int AS later
    FROM zone CROSS JOIN generate_series(timestamptz '2010-01-01 00:00Z', timestamptz '2050-01-01 00:00Z', interval '1 day') d
), step AS (
    SELECT h AS at, extract(epoch FROM (h AT TIME ZONE day.name) - (h AT TIME ZONE 'UTC'))::int AS shift,
           extract(epoch FROM ((h - interval '15 minutes') AT TIME ZONE day.name) - ((h - interval '15 minutes') AT TIME ZONE 'UTC'))::int AS before
    FROM day CROSS JOIN generate_series(day.at + interval '15 minutes', day.at + interval '1 day', interval '15 minutes') h
    WHERE day.shift <> day.later
)
SELECT NULL::bigint AS from_seconds, shift FROM day WHERE at = timestamptz '2010-01-01 00:00Z'
UNION ALL
SELECT extract(epoch FROM at)::bigint, shift FROM step WHERE shift <> before
ORDER BY from_seconds NULLS FIRST
