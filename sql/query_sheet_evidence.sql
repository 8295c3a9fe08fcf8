-- Why is each thing recommended, how sure is it, and what may go wrong? $1 = audit_id.
-- Grain: one row per recommendation, in the order of the stack.
SELECT recommendation_no::text AS no, formula, evidence_grade, confidence, risk, evidence
FROM audit.recommendation
WHERE audit_id = $1::int
ORDER BY stack, recommendation_no;
