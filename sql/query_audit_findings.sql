-- Findings of an audit ($1) of the kinds in $2 (comma-separated). One row per kind that has any,
-- and one with NULL for a kind there is not.
-- Kinds: deviates, not-enough-evidence, draft, recommendations, and every check of the data-quality
-- sheet by its name with '-' for a blank (rejected-records, never-observed, unknown-instance-type, ...).
WITH asked AS (
    SELECT DISTINCT lower(btrim(kind)) AS kind FROM regexp_split_to_table($2::text, ',') kind WHERE btrim(kind) <> ''
), found AS (
    SELECT replace(verdict, ' ', '-') AS kind, count(*) AS items FROM audit.audit_assumption
    WHERE audit_id = $1::int AND verdict <> 'holds' GROUP BY verdict
    UNION ALL
    SELECT 'draft', 1 FROM audit.audit WHERE audit_id = $1::int AND NOT is_final
    UNION ALL
    SELECT 'recommendations', count(*) FROM audit.recommendation WHERE audit_id = $1::int HAVING count(*) > 0
    UNION ALL
    SELECT replace(check_name, ' ', '-'), coalesce(items, 1) FROM audit.audit_quality WHERE audit_id = $1::int
), known AS (
    SELECT unnest(ARRAY['deviates', 'not-enough-evidence', 'draft', 'recommendations', 'coverage', 'never-observed', 'not-billed',
                        'unknown-instance-type', 'rejected-records', 'incomplete-load', 'open-bill', 'currency-without-a-rate', 'priced-by-rate-card', 'no-price', 'total-without-a-price',
                        'owned-without-a-cost', 'placed-by-rule', 'commitment-without-hours', 'commitment-without-use', 'capacity-block-not-spread', 'capacity-block-without-a-fee', 'in-two-bills', 'missing-bill', 'doubtful-bill', 'several-rates-in-a-bill', 'tag-collision', 'tag-in-several-spellings', 'renamed-account', 'no-team', 'no-team-tag',
                        'no-SM-activity', 'unknown-issue']) AS kind
)
SELECT a.kind, CASE WHEN k.kind IS NOT NULL THEN f.items END AS items, (SELECT string_agg(kind, ', ') FROM known) AS known
FROM asked a
LEFT JOIN known k ON lower(k.kind) = a.kind
LEFT JOIN found f ON lower(f.kind) = a.kind
WHERE k.kind IS NULL OR f.items > 0
ORDER BY k.kind IS NOT NULL, a.kind;
