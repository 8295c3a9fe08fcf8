-- Notes one object that was read. One row: load_id.
-- $1 slice_id, $2 object, $3 size_bytes, $4 sha256, $5 rows read, $6 rows rejected, $7 problem or
-- NULL, $8 started (unix seconds), $9 program version.
INSERT INTO audit.load (slice_id, object, size_bytes, sha256, status, rows_read, rows_kept, rows_rejected, is_complete,
                        problem, started, finished, program_version)
VALUES ($1::int, $2, $3::bigint, $4, 'done', $5::bigint, $5::bigint - $6::bigint, $6::bigint, $7::text IS NULL, $7,
        to_timestamp($8::bigint), clock_timestamp(), $9)
RETURNING load_id
