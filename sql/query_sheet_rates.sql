-- By what rate was each bill's money converted, and which money has none? $1 = audit_id.
-- Grain: one row per source, month and currency other than the audit's.
SELECT r.source_name, r.month, r.currency, trim_scale(r.rate) AS rate, round(r.billed_cost, 2) AS billed, round(r.billed_cost * r.rate, 2) AS converted, r.how,
       CASE WHEN r.rate IS NULL THEN format('%s,%s,%s,RATE', r.month, r.currency, a.currency) ELSE '' END AS remedy
FROM audit.audit_rate r
JOIN audit.audit a USING (audit_id)
WHERE r.audit_id = $1::int AND r.currency <> a.currency
ORDER BY r.rate IS NOT NULL, r.source_name, r.month, r.currency;
