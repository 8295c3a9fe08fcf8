-- Records that could not be used, newest load first
SELECT o.name AS source, s.period, l.object, r.line, r.reason, left(r.record, 120) AS record
FROM audit.reject r
JOIN audit.load l USING (load_id)
JOIN audit.slice s USING (slice_id)
JOIN audit.source o USING (source_id)
WHERE l.status = 'done'
ORDER BY l.load_id DESC, r.line
LIMIT 200;
