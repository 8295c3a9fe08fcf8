-- What stands on record of a bill source, by this version of the program.
-- $1 source_id, $2 program version. Rows slice_id, period, object, size_bytes, sha256, status.
SELECT sl.slice_id, sl.period, l.object, l.size_bytes, CASE WHEN l.program_version = $2 THEN l.sha256 END AS sha256, l.status
FROM audit.load l JOIN audit.slice sl USING (slice_id)
WHERE sl.source_id = $1::int AND l.status IN ('done', 'skipped')
ORDER BY l.load_id
