-- Takes rates out of the stage that an earlier line gives for the same month and currencies.
-- One row per refused rate: file_no, line, reason, record.
DELETE FROM stage_fx later
USING stage_fx earlier
WHERE later.month = earlier.month AND later.from_currency = earlier.from_currency AND later.to_currency = earlier.to_currency
  AND (earlier.file_no, earlier.line) < (later.file_no, later.line)
RETURNING later.file_no, later.line,
          format('%s to %s in %s is given on line %s already', later.from_currency, later.to_currency,
                 to_char(later.month, 'YYYY-MM'), earlier.line),
          later.record
