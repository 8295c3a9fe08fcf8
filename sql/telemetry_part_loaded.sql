-- Whether a part of a slice has been loaded before: then it has rows to take away.
-- $1 slice_id, $2 from, $3 to (unix seconds). A row when it has.
SELECT load_id
FROM audit.load
WHERE slice_id = $1::int AND status = 'done'
  AND from_time < to_timestamp($3::bigint) AND to_time > to_timestamp($2::bigint)
LIMIT 1
