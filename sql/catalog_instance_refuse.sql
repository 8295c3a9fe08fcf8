-- Takes instance types out of the stage that an earlier line gives already.
-- One row per refused type: file_no, line, reason, record.
DELETE FROM stage_instance_type later
USING stage_instance_type earlier
WHERE later.provider = earlier.provider AND later.instance_type = earlier.instance_type
  AND (earlier.file_no, earlier.line) < (later.file_no, later.line)
RETURNING later.file_no, later.line,
          format('%s of %s is given on line %s already', later.instance_type, later.provider, earlier.line), later.record
