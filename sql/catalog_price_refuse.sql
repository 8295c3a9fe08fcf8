-- Takes prices out of the stage that an earlier line gives already, for the same day.
-- One row per refused price: file_no, line, reason, record.
DELETE FROM stage_price later
USING stage_price earlier
WHERE later.provider = earlier.provider AND later.region = earlier.region AND later.instance_type = earlier.instance_type
  AND replace(lower(later.pricing), '_', '-') = replace(lower(earlier.pricing), '_', '-')
  AND later.as_of IS NOT DISTINCT FROM earlier.as_of
  AND (earlier.file_no, earlier.line) < (later.file_no, later.line)
RETURNING later.file_no, later.line,
          format('the price of %s in %s is given on line %s already', later.instance_type, later.region, earlier.line),
          later.record
