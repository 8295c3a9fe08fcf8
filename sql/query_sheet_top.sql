-- The ten recommendations that save most, and what all of them save together.
-- $1 = audit_id. Grain: one row per recommendation, at most ten; then the rest, if any; then the sum.
WITH ranked AS (
    SELECT *, row_number() OVER (ORDER BY saving DESC, recommendation_no) AS rank
    FROM audit.recommendation WHERE audit_id = $1::int
), shown AS (
    SELECT rank, title, concat_ws(', ', nullif(pool, ''), regexp_replace(resource_id, '^.*/', '')) AS scope,
           coalesce(nullif(owner, ''), nullif(team, ''), '(none named)') AS owner, effort, saving, NULL AS row_style
    FROM ranked WHERE rank <= 10
    UNION ALL
    SELECT 11, count(*) || ' more', '', '', '', sum(saving), NULL FROM ranked WHERE rank > 10 HAVING count(*) > 0
    UNION ALL
    SELECT 12, 'all, stacked: a saving is counted once', '', '', '', sum(saving), 'total' FROM ranked HAVING count(*) > 0
)
SELECT title, scope, owner, effort, round(saving, 2) AS saving, row_style FROM shown ORDER BY rank;
