-- Notes one object that was read into a month. One row: load_id.
-- $1 slice_id, $2 object, $3 size_bytes, $4 sha256, $5 rows kept, $6 rows totalled, $7 rows rejected, $8 from, $9 to
-- (unix seconds, NULL: all of the slice), $10 problem or NULL, $11 started (unix seconds), $12 program version.
INSERT INTO audit.load (slice_id, object, size_bytes, sha256, status, rows_read, rows_kept, rows_totalled, rows_rejected,
                        from_time, to_time, is_complete, problem, started, finished, program_version)
VALUES ($1::int, $2, $3::bigint, $4, 'done', $5::bigint + $6::bigint + $7::bigint, $5::bigint, $6::bigint, $7::bigint,
        to_timestamp($8::bigint), to_timestamp($9::bigint), $10::text IS NULL, $10, to_timestamp($11::bigint),
        clock_timestamp(), $12)
RETURNING load_id
