-- Each assumption of the cost model beside what was measured. One row per audit and assumption.
-- Of several rows for one metric and scope, the latest that is valid in the window speaks.
CREATE VIEW audit.verdict AS
WITH spoken AS (
    SELECT DISTINCT ON (i.audit_id, a.metric, a.scope_kind, lower(btrim(a.scope_key)))
           i.audit_id, a.*, u.to_time
    FROM (SELECT DISTINCT audit_id, source_id FROM audit.audit_input) i
    JOIN audit.audit u ON u.audit_id = i.audit_id
    JOIN audit.assumption a ON a.source_id = i.source_id
    WHERE a.valid_from IS NULL OR a.valid_from < u.to_time
    ORDER BY i.audit_id, a.metric, a.scope_kind, lower(btrim(a.scope_key)), a.valid_from DESC NULLS LAST, a.line DESC
), beside AS (
    SELECT s.*, m.value AS measured, m.unit, m.is_use, m.coverage_pct, m.value - s.value AS deviation,
           (100 * (m.value - s.value) / nullif(abs(s.value), 0))::float8 AS deviation_pct
    FROM spoken s
    LEFT JOIN audit.measured m ON m.audit_id = s.audit_id AND m.metric = s.metric
        AND m.dimension = CASE s.scope_kind WHEN 'all' THEN 'total' ELSE s.scope_kind END
        AND lower(m.key) = CASE s.scope_kind WHEN 'all' THEN '' ELSE lower(btrim(s.scope_key)) END
)
SELECT audit_id, row_number() OVER (PARTITION BY audit_id ORDER BY source_id, line)::int AS line, metric, scope_kind, scope_key,
       value AS assumed, measured, deviation, deviation_pct, tolerance_pct, coverage_pct,
       coalesce(unit, CASE WHEN metric LIKE '%\_pct' THEN '%' ELSE '' END) AS unit,
       CASE WHEN measured IS NULL OR is_use AND coalesce(coverage_pct, 0) < 80 THEN 'not enough evidence'
            WHEN abs(deviation) > tolerance_pct / 100 * abs(value) THEN 'deviates'
            ELSE 'holds' END AS verdict,
       CASE WHEN measured IS NULL THEN 'nothing was measured for this scope'
            WHEN is_use AND coalesce(coverage_pct, 0) < 80
                THEN format('only %s %% of running GPU-hours have telemetry; 80 %% are needed for a verdict', round(coalesce(coverage_pct, 0)::numeric, 1))
            WHEN deviation = 0 THEN 'measured as assumed'
            WHEN deviation_pct IS NULL THEN 'assumed 0'
            ELSE format('measured %s %% %s than assumed; tolerance %s %%', round(abs(deviation_pct)::numeric, 1),
                        CASE WHEN deviation > 0 THEN 'more' ELSE 'less' END, trim_scale(tolerance_pct)) END AS why,
       set_by, valid_from, reason
FROM beside;
COMMENT ON VIEW audit.verdict IS 'One row is an assumption beside its measurement, with the verdict: holds, deviates, or not enough evidence';
