-- How many records of a month are no allocation, by reason. A reason without any has no row.
-- $1 slice_id, $2 text[] of reasons, $3 bigint[] of counts.
WITH gone AS (
    DELETE FROM audit.allocation_total WHERE slice_id = $1::int AND reason <> ALL ($2::text[])
)
INSERT INTO audit.allocation_total (slice_id, reason, row_count)
SELECT $1::int, r.reason, r.row_count
FROM unnest($2::text[], $3::bigint[]) r (reason, row_count)
ON CONFLICT (slice_id, reason) DO UPDATE SET row_count = excluded.row_count
