-- Whether a part of a slice is loaded and complete, and was loaded three hours or more after its end,
-- when late samples are in.
-- $1 slice_id, $2 from, $3 to (unix seconds). A row when it is.
SELECT load_id
FROM audit.load
WHERE slice_id = $1::int AND status = 'done' AND is_complete
  AND from_time = to_timestamp($2::bigint) AND to_time = to_timestamp($3::bigint)
  AND finished >= to_time + interval '3 hours'
LIMIT 1
