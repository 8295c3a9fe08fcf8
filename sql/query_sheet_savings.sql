-- How much does each kind of recommendation save a month? $1 = audit_id. Grain: one row per kind, in stack order.
SELECT min(rule) AS kind, count(*) AS recommendations, round(sum(saving_low), 2) AS low_saving, round(sum(saving), 2) AS saving,
       round(sum(saving_high), 2) AS high_saving
FROM audit.recommendation
WHERE audit_id = $1::int
GROUP BY stack, rule
ORDER BY stack, rule;
