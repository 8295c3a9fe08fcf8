-- Takes spans out of the stage that an earlier line of the same host overlaps: one host is one
-- resource at a time. One row per refused span: file_no, line, reason, record.
DELETE FROM stage_binding later
USING stage_binding earlier
WHERE lower(later.host) = lower(earlier.host)
  AND (earlier.file_no, earlier.line) < (later.file_no, later.line)
  AND coalesce(earlier.valid_from, '1970-01-01Z') < coalesce(later.valid_to, '9999-01-01Z')
  AND coalesce(later.valid_from, '1970-01-01Z') < coalesce(earlier.valid_to, '9999-01-01Z')
RETURNING later.file_no, later.line,
          format('host "%s" is bound to %s here and to %s on line %s%s at the same time', later.host, later.resource_id,
                 earlier.resource_id, earlier.line,
                 CASE WHEN earlier.file_no <> later.file_no THEN ' of an earlier file' ELSE '' END),
          later.record
