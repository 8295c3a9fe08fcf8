-- Takes spans out of the stage that an earlier line of the same asset overlaps: the machine would be
-- counted twice. One row per refused span: file_no, line, reason, record.
DELETE FROM stage_inventory later
USING stage_inventory earlier
WHERE lower(later.asset) = lower(earlier.asset)
  AND (earlier.file_no, earlier.line) < (later.file_no, later.line)
  AND earlier.in_service_from < coalesce(later.in_service_to, '9999-01-01Z')
  AND later.in_service_from < coalesce(earlier.in_service_to, '9999-01-01Z')
RETURNING later.file_no, later.line,
          format('service of asset "%s" overlaps that of line %s%s', later.asset, earlier.line,
                 CASE WHEN earlier.file_no <> later.file_no THEN ' of an earlier file' ELSE '' END),
          later.record
