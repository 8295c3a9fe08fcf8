-- A new load takes the place of earlier ones of the same part, and of failed ones of the slice.
-- $1 slice_id, $2 from, $3 to (unix seconds).
UPDATE audit.load SET status = 'replaced'
WHERE slice_id = $1::int
  AND (status = 'failed' OR (status = 'done' AND from_time < to_timestamp($3::bigint) AND to_time > to_timestamp($2::bigint)))
