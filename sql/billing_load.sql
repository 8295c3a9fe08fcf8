-- Notes one object that was read into a slice. One row: load_id.
-- $1 slice_id, $2 object, $3 size_bytes, $4 sha256, $5 status, $6 rows kept, $7 totalled, $8 rejected,
-- $9 problem or NULL, $10 started (unix seconds), $11 program version.
INSERT INTO audit.load (slice_id, object, size_bytes, sha256, status, rows_read, rows_kept, rows_totalled, rows_rejected,
                        is_complete, problem, started, finished, program_version)
VALUES ($1::int, $2, $3::bigint, nullif($4, ''), $5, $6::bigint + $7::bigint + $8::bigint, $6::bigint, $7::bigint,
        $8::bigint, $5 <> 'failed', $9, to_timestamp($10::bigint), clock_timestamp(), $11)
RETURNING load_id
