-- Opens a revision and notes what it reads. One row: its audit_id.
-- $1 source ids (int[]), $2 from, $3 to, $4 name of the window, $5 settings (jsonb object of texts),
-- $6 program version, $7 report currency, $8 now, $9 estate, $10 revision, $11 hash of the inputs, $12 idle threshold,
-- $13 whether it is final
WITH opened AS (
    INSERT INTO audit.audit (estate, quarter, from_time, to_time, revision, is_final, currency, idle_threshold_pct, inputs_sha256,
                             created, program_version)
    VALUES ($9, $4, $2::timestamptz, $3::timestamptz, $10::int, $13::boolean, $7,
            $12::numeric, $11, $8::timestamptz, $6)
    RETURNING audit_id
), input AS (
    INSERT INTO audit.audit_input (audit_id, source_id, slice_id, object, sha256, rows_read, rows_kept, rows_totalled, rows_rejected, is_complete)
    SELECT opened.audit_id, s.source_id, l.slice_id, l.object, l.sha256, l.rows_read, l.rows_kept, l.rows_totalled, l.rows_rejected, l.is_complete
    FROM opened
    CROSS JOIN audit.load l
    JOIN audit.slice s USING (slice_id)
    JOIN audit.source o USING (source_id)
    WHERE o.source_id = ANY ($1::int[]) AND l.status = 'done'
      AND (s.from_time IS NULL OR s.to_time > $2::timestamptz AND (o.kind = 'billing' OR s.from_time < $3::timestamptz))
), setting AS (
    INSERT INTO audit.audit_setting (audit_id, key, value)
    SELECT opened.audit_id, e.key, e.value FROM opened CROSS JOIN jsonb_each_text($5::jsonb) e
)
SELECT audit_id FROM opened;
