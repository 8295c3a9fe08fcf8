-- Takes assumptions out of the stage that an earlier line makes about the same metric and scope from
-- the same day on. One row per refused assumption: file_no, line, reason, record.
DELETE FROM stage_model later
USING stage_model earlier
WHERE later.metric = earlier.metric AND later.scope_kind = earlier.scope_kind
  AND lower(later.scope_key) = lower(earlier.scope_key)
  AND later.valid_from IS NOT DISTINCT FROM earlier.valid_from
  AND (earlier.file_no, earlier.line) < (later.file_no, later.line)
RETURNING later.file_no, later.line,
          format('%s of %s is set on line %s already, from the same day on', later.metric, later.given_scope, earlier.line),
          later.record
