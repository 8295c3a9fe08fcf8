-- Notes one object that was read into a slice. One row: load_id.
-- $1 slice_id, $2 object, $3 size_bytes, $4 sha256, $5 rows read, $6 rows rejected, $7 from, $8 to
-- (unix seconds, NULL: all of the slice), $9 is_complete, $10 problem or NULL, $11 started (unix
-- seconds), $12 program version.
INSERT INTO audit.load (slice_id, object, size_bytes, sha256, status, rows_read, rows_kept, rows_rejected, from_time,
                        to_time, is_complete, problem, started, finished, program_version)
VALUES ($1::int, $2, $3::bigint, $4, 'done', $5::bigint, $5::bigint - $6::bigint, $6::bigint,
        to_timestamp($7::bigint), to_timestamp($8::bigint), $9::boolean, $10, to_timestamp($11::bigint),
        clock_timestamp(), $12)
RETURNING load_id
