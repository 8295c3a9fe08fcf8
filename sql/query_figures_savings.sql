-- Recommendations of an audit ($1), the dearest ten, and the stacked total. One row each.
SELECT what, "where", low, expected, high
FROM (SELECT 1 AS place, saving, title AS what, coalesce(resource_id, pool) AS "where", to_char(saving_low, 'FM999,999,990.00') AS low,
             to_char(saving, 'FM999,999,990.00') AS expected, to_char(saving_high, 'FM999,999,990.00') AS high
      FROM (SELECT * FROM audit.recommendation WHERE audit_id = $1::int ORDER BY saving DESC, recommendation_no LIMIT 10) r
      UNION ALL
      SELECT 2, 0, format('all %s, stacked', count(*)), '', to_char(coalesce(sum(saving_low), 0), 'FM999,999,990.00'),
             to_char(coalesce(sum(saving), 0), 'FM999,999,990.00'), to_char(coalesce(sum(saving_high), 0), 'FM999,999,990.00')
      FROM audit.recommendation WHERE audit_id = $1::int) t
ORDER BY place, saving DESC;
