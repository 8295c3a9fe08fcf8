-- A bill's kept rows as people read them: what was billed beside hours and money. One row per charge.
CREATE VIEW audit.billing_line AS
SELECT s.source_id, l.period AS billing_period, i.role, i.provider, i.account_id, i.account_name, i.resource_id, i.resource_key,
       i.resource_name, i.instance_type, i.region, i.zone, i.service, i.sku, i.description, c.charge_from, c.charge_to,
       i.charge_category, i.charge_class, i.charge_frequency, i.pricing, i.commitment_id, i.commitment_name, i.commitment_type,
       i.commitment_status, c.quantity, i.unit_seconds,
       CASE WHEN i.role IN ('gpu_use', 'correction')
            THEN c.quantity * i.unit_seconds / 3600 * CASE WHEN i.counts_gpus THEN 1 ELSE coalesce(t.gpu_count, i.gpu_count) END END AS gpu_hours,
       c.billed_cost, c.effective_cost, c.list_cost, i.currency, i.invoice_id, i.tags, c.slice_id, c.load_no, c.line
FROM audit.billing_charge c
JOIN audit.billing_item i ON i.slice_id = c.slice_id AND i.item_no = c.item_no
JOIN audit.slice l ON l.slice_id = c.slice_id
JOIN audit.source s ON s.source_id = l.source_id
LEFT JOIN LATERAL (
    SELECT t.gpu_count FROM audit.instance_type t
    WHERE t.provider = i.provider AND lower(t.instance_type) = lower(i.instance_type)
    ORDER BY t.origin DESC LIMIT 1) t ON true;
COMMENT ON VIEW audit.billing_line IS 'One row is a kept row of a bill: what it was for, its hours, its money';
