-- Is every cent of every invoice accounted for? kept + totalled = invoice, to the last digit.
-- $1 = audit_id. Grain: one row per source, provider, month and currency.
SELECT source_name, provider, month, currency, row_count,
       round(billed_cost, 2) AS invoice, round(kept, 2) AS kept, round(totalled, 2) AS totalled,
       round(gpu_use, 2) AS gpu_use, round(gpu_corrections, 2) AS gpu_corrections,
       round(commitment_purchases, 2) AS commitment_purchases, round(other, 2) AS other,
       rows_rejected, days_present,
       CASE WHEN is_final THEN 'closed' ELSE 'open' END AS state,
       CASE WHEN kept + totalled = billed_cost AND gpu_use + gpu_corrections + commitment_purchases + other = billed_cost
            THEN 'agrees' ELSE 'DIFFERS by ' || trim_scale(billed_cost - kept - totalled) END AS check
FROM audit.audit_invoice
WHERE audit_id = $1::int
ORDER BY source_name, provider, month, currency;
