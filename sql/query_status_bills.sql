-- How complete the bills of the sources ($1, int[]) are. One row per source and billing period.
SELECT source_name AS source, period, state, reason || coalesce('; ' || doubt, '') AS why, coalesce(days_with_use::text, '?') || '/' || days_expected AS days,
       CASE WHEN is_daily THEN days_missing END AS days_without_use, to_char(delivered, 'YYYY-MM-DD HH24:MI') AS delivered
FROM audit.billing_completeness
WHERE source_id = ANY ($1::int[])
ORDER BY source_name, period;
