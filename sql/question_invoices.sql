-- Does every bill add up: what was kept, what was only totalled, what could not be read?
SELECT a.quarter, i.source_name, i.provider, i.month, i.currency, i.row_count, i.billed_cost, i.kept, i.totalled,
       i.billed_cost - i.kept - i.totalled AS difference, i.rows_rejected,
       CASE WHEN i.is_final THEN 'final' ELSE 'may still change' END AS state
FROM audit.audit_invoice i
JOIN (SELECT * FROM audit.audit ORDER BY audit_id DESC LIMIT 1) a ON a.audit_id = i.audit_id
ORDER BY i.provider, i.month, i.source_name, i.currency;
