-- How does what was billed lead to what the quarter's use cost? $1 = audit_id.
-- Grain: one row per step; the totals are sums of the steps before them.
-- Invoices in another currency than the audit's cannot be added up: their steps are unknown then.
WITH audit AS (
    SELECT currency FROM audit.audit WHERE audit_id = $1::int
), invoice AS (
    SELECT CASE WHEN bool_and(i.currency = audit.currency) THEN sum(billed_cost) END AS billed,
           CASE WHEN bool_and(i.currency = audit.currency) THEN sum(other) END AS other,
           CASE WHEN bool_and(i.currency = audit.currency) THEN sum(commitment_purchases) END AS purchases
    FROM audit.audit_invoice i, audit WHERE audit_id = $1::int
), f AS (
    SELECT * FROM audit.audit_figure WHERE audit_id = $1::int AND dimension = 'total'
), owned AS (
    SELECT coalesce(sum(billed_cost), 0) AS cost
    FROM audit.audit_figure WHERE audit_id = $1::int AND dimension = 'provider' AND key = 'on-prem'
), step (place, step, cost, what, row_style) AS (
    SELECT 1, 'invoices', billed, 'all charges on the invoices read, of this quarter and later', NULL FROM invoice
    UNION ALL SELECT 2, 'less: not GPU', -other, 'everything else on these invoices', NULL FROM invoice
    UNION ALL SELECT 3, 'less: commitment purchases', -purchases, 'bought ahead; their use is amortised below', NULL FROM invoice
    UNION ALL SELECT 4, 'other periods', f.billed_cost - owned.cost - (billed - other - purchases),
                     'use outside the quarter, and corrections booked with another period', NULL FROM invoice, f, owned
    UNION ALL SELECT 5, 'owned GPUs', owned.cost, 'from the inventory; on no invoice', NULL FROM owned
    UNION ALL SELECT 6, 'billed cost', f.billed_cost, 'of the quarter''s GPU use, with its corrections', 'total' FROM f
    UNION ALL SELECT 7, 'amortised commitments', effective_cost - billed_cost, 'use that commitments paid for', NULL FROM f
    UNION ALL SELECT 8, 'effective cost', effective_cost, 'of the quarter''s GPU use, with its corrections', 'total' FROM f
    UNION ALL SELECT 9, 'unused commitments', unused_commitment_cost, 'paid for, ran nothing', NULL FROM f
    UNION ALL SELECT 10, 'GPU cost', gpu_cost, 'what the ledger''s lines add up to', 'total' FROM f
)
SELECT step.step, round(step.cost, 2) AS cost, what, row_style FROM step ORDER BY place;
