-- What a month was loaded from by this version of the program, whole as far as it went.
-- $1 slice_id, $2 program version, $3 end of the part that is wanted (unix seconds; NULL: the whole month).
-- One row per object: object, sha256 (NULL where it must be read again), seconds between the end of the month and the load.
SELECT object,
       CASE WHEN program_version = $2 AND is_complete AND to_time IS NOT DISTINCT FROM to_timestamp($3::bigint) THEN coalesce(sha256, '') END,
       extract(epoch FROM finished - (SELECT to_time FROM audit.slice WHERE slice_id = $1::int))::bigint
FROM audit.load
WHERE slice_id = $1::int AND status = 'done'
ORDER BY object, load_id
