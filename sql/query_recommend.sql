-- Adds a recommendation to an audit. $1 audit_id, then the columns of audit.recommendation in order.
INSERT INTO audit.recommendation (audit_id, recommendation_no, rule, stack, title, provider, pool, resource_id, team, project, now, proposed,
                                  saving_low, saving, saving_high, cost_acted_on, formula, evidence, evidence_grade, confidence, risk,
                                  effort, owner)
SELECT $1::int, (SELECT count(*) + 1 FROM audit.recommendation r WHERE r.audit_id = $1::int), $2, $3::int, $4, $5, $6, $7, $8, $9, $10, $11,
       $12::numeric, $13::numeric, $14::numeric, $15::numeric, $16, $17, $18, $19, $20, $21, $22;
