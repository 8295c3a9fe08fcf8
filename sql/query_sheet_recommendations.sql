-- What should be done, in the order in which it should be done, and what does it save a month?
-- $1 = audit_id. Grain: one row per recommendation, then their sum; they are stacked, so it may be added.
-- A cell of the sum that would mean nothing is empty; unknown is NULL.
SELECT no, title, scope, owner, low_saving, saving, high_saving, cost_acted_on, now, proposed, effort, row_style
FROM (
    SELECT recommendation_no::text AS no, title,
           concat_ws(', ', CASE WHEN starts_with(lower(pool), provider) THEN NULL ELSE provider END, nullif(pool, ''),
                     regexp_replace(resource_id, '^.*/', '')) AS scope,
           coalesce(nullif(owner, ''), nullif(team, ''), '(none named)') AS owner,
           round(saving_low, 2) AS low_saving, round(saving, 2) AS saving, round(saving_high, 2) AS high_saving,
           round(cost_acted_on, 2)::text AS cost_acted_on, now, proposed, effort,
           NULL AS row_style, stack, recommendation_no
    FROM audit.recommendation WHERE audit_id = $1::int
    UNION ALL
    SELECT '', 'all, stacked', '', '', round(sum(saving_low), 2), round(sum(saving), 2), round(sum(saving_high), 2), '', '', '', '',
           'total', 2147483647, NULL
    FROM audit.recommendation WHERE audit_id = $1::int HAVING count(*) > 0
) recommendation
ORDER BY stack, recommendation_no;
