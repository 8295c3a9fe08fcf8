-- What should be done, who would do it, and what would it save in a month?
SELECT a.quarter, r.recommendation_no AS no, r.title, r.owner, r.team, r.project, a.currency,
       round(r.saving_low, 2) AS saving_low, round(r.saving, 2) AS saving, round(r.saving_high, 2) AS saving_high,
       r.confidence, r.risk, r.effort
FROM audit.recommendation r
JOIN (SELECT * FROM audit.audit ORDER BY audit_id DESC LIMIT 1) a ON a.audit_id = r.audit_id
ORDER BY r.saving DESC, r.recommendation_no;
