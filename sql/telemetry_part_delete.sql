-- Takes the hours of a part out of a slice.
-- $1 slice_id, $2 from, $3 to (unix seconds).
DELETE FROM audit.gpu_hour
WHERE slice_id = $1::int AND hour >= to_timestamp($2::bigint) AND hour < to_timestamp($3::bigint)
