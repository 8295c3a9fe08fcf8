-- Days at the beginning of the window without any sample, while later days have some: the server kept
-- no more, or nothing was measured yet. Says so on their loads.
-- $1 source_id, $2 from, $3 to of the window (unix seconds).
-- One row: first day with data (NULL: none), empty days before it.
WITH day AS (
    SELECT l.load_id, l.from_time, l.to_time, l.rows_read, l.is_complete
    FROM audit.load l JOIN audit.slice s USING (slice_id)
    WHERE s.source_id = $1::int AND l.status = 'done'
      AND l.from_time >= to_timestamp($2::bigint) AND l.to_time <= to_timestamp($3::bigint)
), first AS (
    SELECT min(from_time) AS from_time FROM day WHERE rows_read > 0
), said AS (
    UPDATE audit.load SET problem = 'no samples before ' || to_char(first.from_time AT TIME ZONE 'UTC', 'YYYY-MM-DD')
                                    || ': the server keeps no more, or nothing was measured yet'
    FROM day, first
    WHERE load.load_id = day.load_id AND day.rows_read = 0 AND day.is_complete AND day.to_time <= first.from_time
    RETURNING load.load_id
)
SELECT to_char(first.from_time AT TIME ZONE 'UTC', 'YYYY-MM-DD'), (SELECT count(*) FROM said) FROM first
