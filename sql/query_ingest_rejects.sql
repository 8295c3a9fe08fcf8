-- The first records that could not be used, for the command `ingest`.
-- $1 source_id. One row per reject, at most three: object, line, reason.
SELECT l.object, r.line, r.reason
FROM audit.slice s
JOIN audit.load l USING (slice_id)
JOIN audit.reject r USING (load_id)
WHERE s.source_id = $1::int AND l.status = 'done'
ORDER BY l.load_id DESC, r.line
LIMIT 3
