-- Analysis, step 3b: Capacity Blocks. One fee pays for machines over a block of time; the bill has their
-- hours at no cost. The fee, less refunds, is spread over the block's instance-hours: what ran bears its
-- share, what did not run is unused commitment.
--   run_block         one row per block: what was paid, how many instance-hours that is
--   run_block_use     hours of the block that the bill has
--   run_block_charge  money by charge, beside what the charge has; role NULL: its item's
-- How long a block is: as long as its fee's row, where that is a time of its own (a row from midnight to
-- midnight is a day or month of billing; blocks end at half past eleven) and holds all its hours. How
-- many instances: as the row's quantity says, in instance-hours or in instances, and never fewer than ran
-- at once. Where the bill has idle hours too (UnusedBox), those and what ran are the block. Where the row's
-- time is not the block's, the fee is spread over the hours that ran; without any, it stays a purchase.

CREATE TEMP TABLE run_block ON COMMIT DROP AS
SELECT row_number() OVER (ORDER BY provider, block, currency)::int AS block_no, b.*,
       paid_from IS NOT NULL AND spans = 1 AND paid_to - paid_from >= interval '1 day'
           AND NOT (paid_from = date_trunc('day', paid_from) AND paid_to = date_trunc('day', paid_to)) AS has_time,
       0::numeric AS used_hours, 0::numeric AS capacity_hours
FROM (
    SELECT i.provider, i.currency, i.commitment_id,
           coalesce(i.commitment_id, concat_ws('/', i.account_id, i.region, lower(i.instance_type))) AS block,
           min(i.account_id) AS account_id, min(lower(i.instance_type)) AS type_key, sum(c.billed_cost) AS fee,
           min(c.charge_from) FILTER (WHERE c.billed_cost > 0) AS paid_from, max(c.charge_to) FILTER (WHERE c.billed_cost > 0) AS paid_to,
           count(DISTINCT (c.charge_from, c.charge_to)) FILTER (WHERE c.billed_cost > 0) AS spans,
           sum(c.quantity) FILTER (WHERE c.billed_cost > 0) AS quantity,
           (array_agg(c.slice_id ORDER BY c.billed_cost DESC, c.slice_id, c.item_no))[1] AS slice_id,
           (array_agg(c.item_no ORDER BY c.billed_cost DESC, c.slice_id, c.item_no))[1] AS item_no
    FROM audit.billing_item i
    JOIN audit.billing_charge c USING (slice_id, item_no)
    WHERE i.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing')) AND i.role = 'commitment_purchase'
      AND i.commitment_type = 'Capacity Block'
    GROUP BY 1, 2, 3, 4
) b;

ANALYZE run_block;

-- Hours that cost nothing and name the reservation; where none does, those of its account and type.
CREATE TEMP TABLE run_block_use ON COMMIT DROP AS
SELECT b.block_no, c.slice_id, c.item_no, c.line, c.load_no, i.role, c.charge_from, c.charge_to, c.quantity * i.unit_seconds / 3600 AS hours,
       i.commitment_id IS NOT NULL AS is_named
FROM run_block b
JOIN audit.billing_item i ON i.provider = b.provider AND i.currency = b.currency AND i.role IN ('gpu_use', 'commitment_unused')
    AND (i.commitment_id = b.commitment_id
         OR i.commitment_id IS NULL AND i.account_id = b.account_id AND lower(i.instance_type) = b.type_key AND i.pricing = 'on-demand')
JOIN audit.billing_charge c ON c.slice_id = i.slice_id AND c.item_no = i.item_no
WHERE i.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing')) AND b.fee > 0
  AND c.billed_cost = 0 AND c.effective_cost = 0 AND c.quantity > 0 AND NOT i.counts_gpus
  AND (i.commitment_id IS NOT NULL OR b.has_time AND c.charge_from >= b.paid_from AND c.charge_to <= b.paid_to);

DELETE FROM run_block_use u
WHERE NOT u.is_named AND EXISTS (SELECT 1 FROM run_block_use o WHERE o.block_no = u.block_no AND o.is_named);

-- Hours that could be of two blocks are of the first.
DELETE FROM run_block_use u
WHERE EXISTS (SELECT 1 FROM run_block_use o
              WHERE (o.slice_id, o.item_no, o.line, o.load_no) = (u.slice_id, u.item_no, u.line, u.load_no) AND o.block_no < u.block_no);

UPDATE run_block b SET has_time = false
WHERE EXISTS (SELECT 1 FROM run_block_use u WHERE u.block_no = b.block_no AND (u.charge_from < b.paid_from OR u.charge_to > b.paid_to));

WITH at_once AS (
    SELECT block_no, charge_from, sum(hours) AS hours, bool_or(role = 'commitment_unused') AS has_idle,
           ceil(sum(hours) * 3600 / nullif(extract(epoch FROM max(charge_to) - charge_from), 0) - 0.01) AS instances
    FROM run_block_use GROUP BY block_no, charge_from
), seen AS (
    SELECT block_no, sum(hours) AS hours, bool_or(has_idle) AS has_idle, max(instances) AS instances FROM at_once GROUP BY block_no
), size AS (
    SELECT b.block_no, coalesce(s.hours, 0) AS used, coalesce(s.has_idle, false) AS has_idle, t.hours AS block_hours,
           greatest(CASE WHEN b.quantity >= t.hours AND mod(b.quantity, t.hours) = 0 THEN b.quantity / t.hours
                         WHEN b.quantity BETWEEN 1 AND 64 AND b.quantity = trunc(b.quantity) THEN b.quantity
                         ELSE 1 END, s.instances) AS instances
    FROM run_block b
    CROSS JOIN LATERAL (SELECT trim_scale(extract(epoch FROM b.paid_to - b.paid_from) / 3600) AS hours) t
    LEFT JOIN seen s USING (block_no)
)
UPDATE run_block b SET used_hours = s.used,
       capacity_hours = CASE WHEN b.has_time AND NOT s.has_idle THEN greatest(s.instances * s.block_hours, s.used) ELSE s.used END
FROM size s
WHERE s.block_no = b.block_no AND b.fee > 0;

CREATE TEMP TABLE run_block_charge ON COMMIT DROP AS
WITH placed AS (
    SELECT u.*, sum(hours) OVER w AS upto
    FROM run_block_use u
    WINDOW w AS (PARTITION BY block_no ORDER BY charge_from, slice_id, item_no, load_no, line)
), spread AS (
    SELECT p.slice_id, p.item_no, NULL::text AS role, p.charge_from, p.charge_to, 0::numeric AS hours,
           audit.running_share(b.fee, p.upto, b.capacity_hours) - audit.running_share(b.fee, p.upto - p.hours, b.capacity_hours) AS effective_cost
    FROM placed p
    JOIN run_block b USING (block_no)
    WHERE b.capacity_hours > 0
    UNION ALL
    SELECT b.slice_id, b.item_no, 'commitment_unused', b.paid_from, b.paid_to, b.capacity_hours - b.used_hours,
           b.fee - audit.running_share(b.fee, b.used_hours, b.capacity_hours)
    FROM run_block b
    WHERE b.capacity_hours > b.used_hours
)
-- share: of the charge's time, what lies in the window
SELECT s.*, s.charge_from >= run.from_time AND s.charge_from < run.to_time AS starts_inside,
       coalesce(greatest(extract(epoch FROM least(s.charge_to, run.to_time) - greatest(s.charge_from, run.from_time)), 0)
                / nullif(extract(epoch FROM s.charge_to - s.charge_from), 0), 0) AS share
FROM spread s CROSS JOIN run;

ANALYZE run_block_charge;
