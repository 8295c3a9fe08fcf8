-- Analysis, step 5: commitments, invoices, and the lists behind the figures.
-- Needs the temporary tables of the steps before.

-- Commitments. A spend-based one covers other things too: the GPU share of what it covered in a
-- billing period is the GPU share of what it left unused there. What names a GPU type itself (a
-- reservation of GPU machines, an idle capacity reservation) is GPU whole, even if nothing ran.
-- One that covered nothing in the window takes the share of its provider's other commitments, and
-- is GPU whole where those say nothing either: money that was wasted is shown, and said to be so.
CREATE TEMP TABLE run_commitment ON COMMIT DROP AS
WITH kept AS (
    SELECT i.provider, i.commitment_id, i.slice_id, coalesce(c.role, i.role) AS role, i.commitment_name AS name, i.commitment_type AS type,
           i.commitment_category AS category, i.counts_gpus, i.item_no, c.hours, c.starts_inside, c.billed_cost * r.rate AS billed_cost,
           c.effective_cost * r.rate AS effective_cost, c.list_cost * r.rate AS list_cost, c.effective_cost AS own_cost,
           c.priceless_rows > 0 OR r.rate IS NULL AS is_priceless, c.cost_without_hours, c.share
    FROM (SELECT slice_id, item_no, NULL::text AS role, hours, starts_inside, share, billed_cost, effective_cost, list_cost, priceless_rows,
                 cost_without_hours
          FROM run_spend
          UNION ALL
          SELECT slice_id, item_no, role, hours, starts_inside, share, 0, effective_cost, NULL, 0, NULL FROM run_block_charge) c
    JOIN audit.billing_item i USING (slice_id, item_no)
    JOIN run_slice l USING (slice_id)
    JOIN run_rate r ON r.slice_id = i.slice_id AND r.currency = i.currency
    WHERE i.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing')) AND i.commitment_id IS NOT NULL
), covered AS (
    -- of whole billing periods, in the bill's currency: a ratio
    SELECT provider, commitment_id, slice_id, sum(own_cost) AS gpu, 0::numeric AS other
    FROM kept WHERE role IN ('gpu_use', 'gpu_money') GROUP BY 1, 2, 3
    UNION ALL
    SELECT t.provider, t.commitment_id, t.slice_id, 0, t.effective_cost
    FROM audit.billing_total t
    JOIN run_slice l USING (slice_id)
    WHERE t.commitment_id <> '' AND t.charge_category = 'Usage' AND lower(t.commitment_status) = 'used'
), share AS (
    SELECT provider, commitment_id, slice_id, sum(gpu) AS gpu, sum(gpu) + sum(other) AS covered
    FROM covered GROUP BY 1, 2, 3
), overall AS (
    SELECT provider, commitment_id, sum(gpu) / nullif(sum(covered), 0) AS share, sum(gpu) AS gpu, sum(covered) AS covered
    FROM share
    WHERE slice_id IN (SELECT slice_id FROM run_slice CROSS JOIN run WHERE run_slice.from_time < run.to_time)
    GROUP BY 1, 2
), others AS (
    SELECT provider, sum(gpu) / nullif(sum(covered), 0) AS share FROM overall GROUP BY provider
), used AS (
    SELECT k.provider, k.commitment_id,
           sum(CASE WHEN k.role = 'gpu_use' THEN k.hours * CASE WHEN i.counts_gpus THEN 1 ELSE i.gpus END END * k.share) AS gpu_hours,
           sum(k.effective_cost * k.share) AS cost, sum(k.list_cost * k.share) AS list, sum(k.own_cost * k.share) AS own_cost,
           count(DISTINCT s.model) AS models, min(s.model) AS model,
           count(DISTINCT s.region) AS regions, min(s.region) AS region, count(DISTINCT s.pool) AS pools, min(s.pool) AS pool,
           count(DISTINCT s.instance_type) AS types, min(i.gpus) AS gpus
    FROM kept k
    JOIN run_item i USING (slice_id, item_no)
    CROSS JOIN run
    JOIN audit.audit_subject s ON s.audit_id = run.audit_id AND s.subject_no = i.subject_no
    WHERE k.role IN ('gpu_use', 'gpu_money') AND k.share > 0 GROUP BY 1, 2
), unused AS (
    -- a period in which it covered nothing at all takes the share of the whole window
    SELECT k.provider, k.commitment_id, count(n.gpus) AS typed, count(DISTINCT n.model) AS models, min(n.model) AS model,
           count(DISTINCT n.region) AS regions, min(n.region) AS region, count(DISTINCT p.pool) AS pools, min(p.pool) AS pool,
           sum(k.effective_cost * k.share * CASE WHEN n.gpus IS NOT NULL OR s.covered = s.gpu THEN 1
                                                 ELSE coalesce(s.gpu / nullif(s.covered, 0), o.share, t.share, 1) END) AS cost,
           bool_or(k.is_priceless) AS is_priceless,
           sum(k.hours * k.share * CASE WHEN k.counts_gpus THEN 1 ELSE coalesce(n.gpus, u.gpus) END) AS gpu_hours,
           -- the bill gives money only: hours at the commitment's own amortized price
           sum(k.cost_without_hours * k.share) AS cost_without_hours
    FROM kept k
    JOIN run_named n USING (slice_id, item_no)
    CROSS JOIN LATERAL (SELECT coalesce(n.pool, concat_ws(' ', n.provider, nullif(n.region, ''), n.model)) AS pool) p
    LEFT JOIN share s ON s.provider = k.provider AND s.commitment_id = k.commitment_id AND s.slice_id = k.slice_id
    LEFT JOIN overall o ON o.provider = k.provider AND o.commitment_id = k.commitment_id
    LEFT JOIN others t ON t.provider = k.provider
    LEFT JOIN (SELECT provider, commitment_id, CASE WHEN types = 1 THEN gpus END AS gpus FROM used) u
      ON u.provider = k.provider AND u.commitment_id = k.commitment_id
    WHERE k.role = 'commitment_unused' AND k.share > 0 GROUP BY 1, 2
), named AS (
    SELECT provider, commitment_id, max(name) AS name, max(type) AS type, max(category) AS category,
           CASE WHEN count(*) FILTER (WHERE role = 'commitment_purchase') = 0 THEN 0
                ELSE sum(CASE WHEN starts_inside THEN billed_cost ELSE 0 END)
                     FILTER (WHERE role = 'commitment_purchase') END AS bought
    FROM kept GROUP BY 1, 2
)
SELECT n.provider, n.commitment_id, n.name, n.type, n.category, n.bought,
       CASE WHEN u.models = 1 THEN u.model WHEN u.models IS NULL AND x.typed > 0 AND x.models = 1 THEN x.model ELSE '' END AS model,
       CASE WHEN u.regions = 1 THEN u.region WHEN u.regions IS NULL AND x.typed > 0 AND x.regions = 1 THEN x.region ELSE '' END AS region,
       CASE WHEN u.pools = 1 THEN u.pool WHEN u.pools IS NULL AND x.typed > 0 AND x.pools = 1 THEN x.pool ELSE '' END AS pool,
       coalesce(u.gpu_hours, 0) AS used_gpu_hours, CASE WHEN u.models IS NULL THEN 0 ELSE u.cost END AS used_cost,
       CASE WHEN x.typed IS NULL THEN 0 WHEN NOT x.is_priceless THEN x.cost END AS unused_cost,
       CASE WHEN lower(n.category) = 'spend' OR x.typed IS NULL THEN 0
            WHEN x.cost_without_hours IS NULL OR x.cost_without_hours = 0 THEN x.gpu_hours
            WHEN u.types = 1 AND u.own_cost > 0
                THEN coalesce(x.gpu_hours, 0) + round(x.cost_without_hours / (u.own_cost / u.gpu_hours), 6) END AS unused_gpu_hours,
       CASE WHEN o.covered = o.gpu OR x.typed > 0 AND o.covered IS NULL THEN 1
            ELSE coalesce(round(o.share, 12), round(t.share, 12), 1) END AS gpu_share,
       (100 * (u.list - u.cost) / nullif(u.list, 0))::float8 AS discount_pct
FROM named n
LEFT JOIN used u USING (provider, commitment_id)
LEFT JOIN unused x USING (provider, commitment_id)
LEFT JOIN overall o USING (provider, commitment_id)
LEFT JOIN others t USING (provider);

INSERT INTO audit.audit_commitment (audit_id, provider, commitment_id, commitment_name, commitment_type, category, model, region, pool,
                                    bought, used_gpu_hours, used_cost, unused_gpu_hours, unused_cost, gpu_share, discount_pct)
SELECT run.audit_id, provider, commitment_id, name, type, category, model, region, pool, trim_scale(bought), trim_scale(used_gpu_hours),
       trim_scale(used_cost), trim_scale(unused_gpu_hours), trim_scale(unused_cost), trim_scale(gpu_share), discount_pct
FROM run_commitment CROSS JOIN run
WHERE gpu_share > 0 AND (used_gpu_hours > 0 OR used_cost IS NULL OR used_cost <> 0 OR unused_cost IS NULL OR unused_cost <> 0 OR bought <> 0);

-- Bills of later periods are read for their corrections: what else they hold is no part of this window.
DELETE FROM audit.audit_subject s
WHERE s.audit_id = audit.this_audit()
  AND NOT EXISTS (SELECT 1 FROM audit.audit_use u WHERE u.audit_id = s.audit_id AND u.subject_no = s.subject_no)
  AND NOT EXISTS (SELECT 1 FROM audit.audit_correction c WHERE c.audit_id = s.audit_id AND c.subject_no = s.subject_no);

DELETE FROM audit.audit_scope o
WHERE o.audit_id = audit.this_audit() AND o.dimension <> 'total'
  AND NOT EXISTS (SELECT 1 FROM audit.subject_scope g WHERE g.audit_id = o.audit_id AND g.scope_no = o.scope_no);

-- Scopes that only an unused commitment reaches.
INSERT INTO audit.audit_scope
SELECT run.audit_id, (SELECT max(scope_no) FROM audit.audit_scope o WHERE o.audit_id = run.audit_id) + row_number() OVER (ORDER BY v.dimension, v.key),
       v.dimension, v.key
FROM run CROSS JOIN (
    SELECT DISTINCT d.dimension, d.key
    FROM audit.audit_commitment c JOIN run USING (audit_id)
    CROSS JOIN LATERAL (VALUES ('provider', c.provider), ('model', c.model), ('region', c.region), ('pool', c.pool), ('pricing', 'committed'),
                               ('team', ''), ('project', ''), ('issue', '')) d(dimension, key)
    WHERE c.unused_cost IS DISTINCT FROM 0 OR c.unused_gpu_hours > 0
    EXCEPT SELECT o.dimension, o.key FROM audit.audit_scope o JOIN run USING (audit_id)) v;

ANALYZE audit.audit_use, audit.audit_correction, audit.audit_commitment, audit.audit_scope;

-- Every bill that overlaps the window and every later one: kept + totalled = the invoice.
INSERT INTO audit.audit_invoice
SELECT run.audit_id, l.name, t.provider, l.period, t.currency, sum(t.row_count), trim_scale(sum(t.kept + t.totalled)), trim_scale(sum(t.kept)),
       trim_scale(sum(t.totalled)), trim_scale(sum(t.gpu_use)), trim_scale(sum(t.gpu_corrections)), trim_scale(sum(t.purchases)),
       trim_scale(sum(t.totalled + t.kept - t.gpu_use - t.gpu_corrections - t.purchases)),
       max(x.rejected), l.to_time + interval '14 days' <= run.created, max(t.days)::int
FROM (
    SELECT c.slice_id, i.provider, i.currency, sum(c.row_count) AS row_count, sum(c.billed_cost) AS kept, 0::numeric AS totalled,
           coalesce(sum(c.billed_cost) FILTER (WHERE i.role IN ('gpu_use', 'gpu_money')), 0) AS gpu_use,
           coalesce(sum(c.billed_cost) FILTER (WHERE i.role = 'correction'), 0) AS gpu_corrections,
           coalesce(sum(c.billed_cost) FILTER (WHERE i.role = 'commitment_purchase'), 0) AS purchases,
           count(DISTINCT c.day) FILTER (WHERE i.role <> 'correction') AS days
    FROM run_spend c JOIN audit.billing_item i USING (slice_id, item_no)
    WHERE i.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing'))
    GROUP BY 1, 2, 3
    UNION ALL
    SELECT slice_id, provider, currency, sum(row_count), 0, sum(billed_cost), 0, 0, 0, 0
    FROM audit.billing_total WHERE slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing'))
    GROUP BY 1, 2, 3
) t
JOIN run_slice l USING (slice_id)
CROSS JOIN run
CROSS JOIN LATERAL (SELECT coalesce(sum(a.rows_rejected), 0) AS rejected FROM audit.audit_input a
                    WHERE a.audit_id = run.audit_id AND a.slice_id = t.slice_id) x
GROUP BY run.audit_id, run.created, l.name, t.provider, l.period, l.to_time, t.currency;

-- Consecutive covered hours of an instance below 20 %, more than 24 of them: the mean over samples of
-- each GPU's sm, or its util where sm is not measured.
INSERT INTO audit.audit_idle_stretch
WITH low AS (
    SELECT s.*, s.covered_chips - s.sm_chips AS util_only_chips,
           s.hour - row_number() OVER (PARTITION BY s.resource_no ORDER BY s.hour) * interval '1 hour' AS run_of
    FROM run_seen s
    WHERE s.work_sum < 20 * 28000000::bigint * s.work_samples
      AND NOT EXISTS (SELECT 1 FROM run_outside o WHERE o.resource_no = s.resource_no AND o.hour = s.hour)
), long AS (
    SELECT resource_no, min(hour) AS from_time, max(hour) + interval '1 hour' AS to_time, count(*) AS hours,
           sum(work_sum) / sum(work_samples) / 28000000 AS util_pct,
           CASE WHEN sum(sm_chips) = 0 THEN 'util' WHEN sum(util_only_chips) = 0 THEN 'sm' ELSE 'sm and util' END AS signal
    FROM low
    GROUP BY resource_no, run_of
    HAVING count(*) > 24
), stretch AS (
    SELECT l.resource_no, l.from_time, l.to_time, l.hours, l.util_pct, l.signal, sum(t.running_gpu_hours) AS gpu_hours,
           CASE WHEN count(*) = count(t.effective_cost) THEN sum(t.effective_cost) END AS cost,
           max(t.subject_no) FILTER (WHERE t.is_main) AS subject_no
    FROM long l
    JOIN run_total t ON t.resource_no = l.resource_no AND t.hour >= l.from_time AND t.hour < l.to_time AND t.is_running
    GROUP BY l.resource_no, l.from_time, l.to_time, l.hours, l.util_pct, l.signal
)
SELECT run.audit_id, row_number() OVER (ORDER BY t.cost DESC NULLS LAST, s.resource_id, t.from_time), s.provider, s.resource_id, s.resource_key,
       s.instance_type, s.model, s.region, s.pricing, s.pool, s.team, s.project, s.issue, s.gpus, t.from_time, t.to_time, t.hours,
       trim_scale(t.gpu_hours), trim_scale(t.cost), t.util_pct::float8, t.signal, t.to_time = run.to_time
FROM stretch t
CROSS JOIN run
JOIN audit.audit_subject s ON s.audit_id = run.audit_id AND s.subject_no = t.subject_no;

ANALYZE audit.audit_idle_stretch;

INSERT INTO audit.audit_unobserved
SELECT run.audit_id, s.provider, min(s.resource_id), min(s.instance_type), max(s.team), max(s.project),
       trim_scale(sum(u.running_gpu_hours - u.covered_gpu_hours)), trim_scale(sum(u.effective_cost - u.covered_cost)),
       sum(u.covered_gpu_hours) = 0
FROM audit.audit_use u
CROSS JOIN run
JOIN audit.audit_subject s ON s.audit_id = u.audit_id AND s.subject_no = u.subject_no
WHERE u.audit_id = run.audit_id
GROUP BY run.audit_id, s.provider, s.resource_key
HAVING sum(u.running_gpu_hours - u.covered_gpu_hours) > 0;

-- GPUs with samples that no bill or inventory knows.
INSERT INTO audit.audit_unbilled
SELECT audit.this_audit(), g.gpu_uuid, (SELECT max(s.host) FROM run_series s WHERE s.gpu_no = g.gpu_no), g.model_name, c.gpu_hours,
       c.from_time, c.to_time
FROM (SELECT gpu_no, trim_scale(round(sum(observed_seconds)::numeric / 3600, 6)) AS gpu_hours, min(hour) AS from_time,
             max(hour) + interval '1 hour' AS to_time
      FROM run_unplaced WHERE gpu_no NOT IN (SELECT gpu_no FROM run_known) GROUP BY gpu_no) c
JOIN run_gpu g USING (gpu_no);
