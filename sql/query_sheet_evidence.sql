-- Why is each thing recommended, how sure is it, and what may go wrong? $1 = audit_id.
-- Grain: one row per reasoning, with the numbers of the recommendations it stands behind.
SELECT string_agg(recommendation_no::text, ', ' ORDER BY recommendation_no) AS no, formula, evidence_grade, confidence, risk, evidence
FROM audit.recommendation
WHERE audit_id = $1::int
GROUP BY formula, evidence_grade, confidence, risk, evidence
ORDER BY min(stack), min(recommendation_no);
