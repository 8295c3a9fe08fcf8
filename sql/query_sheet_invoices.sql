-- Is every cent of every invoice accounted for? kept + totalled = invoice, to the last digit.
-- $1 = audit_id. Grain: one row per source, provider, month and currency.
SELECT v.source_name, provider, month, currency, row_count,
       round(billed_cost, 2) AS invoice, round(kept, 2) AS kept, round(totalled, 2) AS totalled,
       round(gpu_use, 2) AS gpu_use, round(gpu_corrections, 2) AS gpu_corrections,
       round(commitment_purchases, 2) AS commitment_purchases, round(other, 2) AS other,
       v.rows_rejected, days_present,
       -- audits frozen by an earlier version know only whether the period was over
       coalesce(c.state, CASE WHEN is_final THEN 'closed' ELSE 'open' END) AS state,
       CASE WHEN kept + totalled = billed_cost AND gpu_use + gpu_corrections + commitment_purchases + other = billed_cost
            THEN 'agrees' ELSE 'DIFFERS by ' || trim_scale(billed_cost - kept - totalled) END AS check
FROM audit.audit_invoice v
LEFT JOIN audit.audit_completeness c ON c.audit_id = v.audit_id AND c.source_name = v.source_name AND c.period = v.month
WHERE v.audit_id = $1::int
ORDER BY v.source_name, provider, month, currency;
