-- Takes GPU models out of the stage that an earlier line gives already.
-- One row per refused model: file_no, line, reason, record.
DELETE FROM stage_gpu_model later
USING stage_gpu_model earlier
WHERE later.model = earlier.model AND (earlier.file_no, earlier.line) < (later.file_no, later.line)
RETURNING later.file_no, later.line, format('model %s is given on line %s already', later.model, earlier.line), later.record
