-- Which assumptions of the cost model hold? $1 = audit_id.
-- Grain: one row per assumption, those that deviate first. A percentage stays in percent, as its unit says.
SELECT verdict,
       replace(replace(replace(metric, '_pct', ''), '_', ' '), 'gpu', 'GPU') AS metric,
       CASE scope_kind WHEN 'all' THEN 'all' ELSE scope_kind || ' ' || scope_key END AS scope,
       trim_scale(round(assumed, CASE WHEN abs(assumed) >= 1000 THEN 0 WHEN abs(assumed) >= 10 THEN 2 ELSE 4 END)) AS assumed,
       trim_scale(round(measured, CASE WHEN abs(measured) >= 1000 THEN 0 WHEN abs(measured) >= 10 THEN 2 ELSE 4 END)) AS measured,
       CASE unit WHEN 'money' THEN currency WHEN 'per GPU-hour' THEN currency || ' per GPU-hour' ELSE unit END AS unit,
       trim_scale(round(deviation, CASE WHEN abs(deviation) >= 1000 THEN 0 WHEN abs(deviation) >= 10 THEN 2 ELSE 4 END)) AS deviation,
       round((deviation_pct / 100)::numeric, 6) AS deviation_share,
       round(tolerance_pct / 100, 6) AS tolerance_share,
       round((coverage_pct / 100)::numeric, 6) AS coverage_share,
       why,
       coalesce(set_by, 'not stated') AS set_by,
       coalesce(to_char(valid_from, 'YYYY-MM-DD'), 'not stated') AS valid_from,
       coalesce(reason, 'not stated') AS reason
FROM audit.audit_assumption
JOIN audit.audit USING (audit_id)
WHERE audit_id = $1::int
ORDER BY array_position(ARRAY['deviates', 'not enough evidence', 'holds'], verdict), line;
