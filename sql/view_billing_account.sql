-- What is each account, subscription or project called? One row per provider and id. A renamed account is one
-- account: its newest name shows, from the newest billing period, and there from the latest charge.
CREATE VIEW audit.billing_account AS
SELECT DISTINCT ON (n.provider, n.account_id) n.provider, n.account_id, n.account_name,
       string_agg(n.account_name, ', ') OVER (PARTITION BY n.provider, n.account_id) AS names,
       min(n.first_period) OVER (PARTITION BY n.provider, n.account_id) AS first_period, n.last_period
FROM (
    SELECT i.provider, i.account_id, i.account_name, min(l.period) AS first_period, max(l.period) AS last_period,
           (array_agg(i.last_charge ORDER BY l.period DESC))[1] AS last_charge
    FROM (SELECT slice_id, provider, account_id, account_name,
                 -- charges are looked at only where the account has several names in one period
                 CASE WHEN count(*) OVER (PARTITION BY slice_id, provider, account_id) > 1
                      THEN (SELECT max(c.charge_from) FROM audit.billing_charge c WHERE c.slice_id = g.slice_id AND c.item_no = ANY (g.items)) END AS last_charge
          FROM (SELECT slice_id, provider, account_id, account_name, array_agg(item_no) AS items
                FROM audit.billing_item WHERE account_id IS NOT NULL GROUP BY slice_id, provider, account_id, account_name) g) i
    JOIN audit.slice l USING (slice_id)
    GROUP BY i.provider, i.account_id, i.account_name) n
ORDER BY n.provider, n.account_id, n.account_name IS NULL, n.last_period DESC, n.last_charge DESC NULLS LAST, n.account_name;
COMMENT ON VIEW audit.billing_account IS 'One row is an account, subscription or project of a bill: its newest name, and all it had';
