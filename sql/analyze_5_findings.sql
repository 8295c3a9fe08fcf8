-- Analysis, step 5: commitments, invoices, and the lists behind the figures.
-- Needs the temporary tables of the steps before.

-- Commitments. A spend-based one covers other things too: the GPU share of what it covered in a
-- billing period is the GPU share of what it left unused there.
CREATE TEMP TABLE run_commitment ON COMMIT DROP AS
WITH kept AS (
    SELECT i.provider, i.commitment_id, i.slice_id, i.role, i.commitment_name AS name, i.commitment_type AS type,
           i.commitment_category AS category, i.unit_seconds, i.counts_gpus, i.item_no,
           c.quantity, c.charge_from, c.charge_to, c.billed_cost * r.rate AS billed_cost, c.effective_cost * r.rate AS effective_cost,
           c.list_cost * r.rate AS list_cost, w.share
    FROM audit.billing_charge c
    JOIN audit.billing_item i USING (slice_id, item_no)
    JOIN run_slice l USING (slice_id)
    JOIN run_rate r ON r.currency = i.currency AND r.month = l.period
    CROSS JOIN run
    CROSS JOIN LATERAL (
        SELECT CASE WHEN c.charge_from >= run.from_time AND c.charge_to <= run.to_time THEN 1
                    ELSE extract(epoch FROM least(c.charge_to, run.to_time) - greatest(c.charge_from, run.from_time))
                         / nullif(extract(epoch FROM c.charge_to - c.charge_from), 0) END AS share) w
    WHERE c.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing')) AND i.commitment_id IS NOT NULL
      AND c.charge_from < run.to_time AND (c.charge_to > run.from_time OR c.charge_from >= run.from_time)
), covered AS (
    SELECT provider, commitment_id, slice_id, sum(effective_cost) AS gpu, 0::numeric AS other
    FROM kept WHERE role IN ('gpu_use', 'gpu_money') GROUP BY 1, 2, 3
    UNION ALL
    SELECT t.provider, t.commitment_id, t.slice_id, 0, t.effective_cost * r.rate
    FROM audit.billing_total t
    JOIN run_slice l USING (slice_id)
    JOIN run_rate r ON r.currency = t.currency AND r.month = l.period
    WHERE t.commitment_id <> '' AND t.charge_category = 'Usage' AND lower(t.commitment_status) = 'used'
), share AS (
    SELECT provider, commitment_id, slice_id, sum(gpu) AS gpu, sum(gpu) + sum(other) AS covered
    FROM covered GROUP BY 1, 2, 3
), overall AS (
    SELECT provider, commitment_id, sum(gpu) / nullif(sum(covered), 0) AS share, sum(gpu) AS gpu, sum(covered) AS covered
    FROM share GROUP BY 1, 2
), unused AS (
    -- a period in which it covered nothing at all takes the share of the whole window
    SELECT k.provider, k.commitment_id,
           sum(k.effective_cost * k.share * CASE WHEN s.covered = s.gpu THEN 1
                                                 ELSE coalesce(s.gpu / nullif(s.covered, 0), o.share, 0) END) AS cost,
           sum(k.quantity * k.unit_seconds / 3600 * k.share) AS hours
    FROM kept k
    LEFT JOIN share s USING (provider, commitment_id, slice_id)
    LEFT JOIN overall o USING (provider, commitment_id)
    WHERE k.role = 'commitment_unused' GROUP BY 1, 2
), used AS (
    SELECT k.provider, k.commitment_id,
           sum(CASE WHEN k.role = 'gpu_use' THEN k.quantity * k.unit_seconds / 3600 * CASE WHEN i.counts_gpus THEN 1 ELSE i.gpus END END) AS gpu_hours,
           sum(k.effective_cost) AS cost, sum(k.list_cost) AS list, count(DISTINCT s.model) AS models, min(s.model) AS model,
           count(DISTINCT s.region) AS regions, min(s.region) AS region, count(DISTINCT s.pool) AS pools, min(s.pool) AS pool,
           count(DISTINCT s.instance_type) AS types, min(i.gpus) AS gpus
    FROM kept k
    JOIN run_item i USING (slice_id, item_no)
    CROSS JOIN run
    JOIN audit.audit_subject s ON s.audit_id = run.audit_id AND s.subject_no = i.subject_no
    WHERE k.role IN ('gpu_use', 'gpu_money') GROUP BY 1, 2
), named AS (
    SELECT provider, commitment_id, max(name) AS name, max(type) AS type, max(category) AS category,
           coalesce(sum(billed_cost * CASE WHEN charge_from >= (SELECT from_time FROM run) THEN 1 ELSE 0 END)
                    FILTER (WHERE role = 'commitment_purchase'), 0) AS bought
    FROM kept GROUP BY 1, 2
)
SELECT n.provider, n.commitment_id, n.name, n.type, n.category, n.bought,
       CASE WHEN u.models = 1 THEN u.model ELSE '' END AS model, CASE WHEN u.regions = 1 THEN u.region ELSE '' END AS region,
       CASE WHEN u.pools = 1 THEN u.pool ELSE '' END AS pool,
       coalesce(u.gpu_hours, 0) AS used_gpu_hours, coalesce(u.cost, 0) AS used_cost, coalesce(x.cost, 0) AS unused_cost,
       CASE WHEN lower(n.category) = 'spend' THEN 0
            WHEN coalesce(x.cost, 0) = 0 THEN 0
            WHEN x.hours IS NOT NULL AND u.types = 1 THEN x.hours * u.gpus
            -- the bill gives money only: hours at the commitment's own amortized price
            WHEN u.types = 1 AND u.cost > 0 THEN round(x.cost / (u.cost / u.gpu_hours), 6) END AS unused_gpu_hours,
       CASE WHEN o.covered = o.gpu THEN 1 ELSE coalesce(round(o.share, 12), 0) END AS gpu_share,
       (100 * (u.list - u.cost) / nullif(u.list, 0))::float8 AS discount_pct
FROM named n
LEFT JOIN used u USING (provider, commitment_id)
LEFT JOIN unused x USING (provider, commitment_id)
LEFT JOIN overall o USING (provider, commitment_id);

INSERT INTO audit.audit_commitment (audit_id, provider, commitment_id, commitment_name, commitment_type, category, model, region, pool,
                                    bought, used_gpu_hours, used_cost, unused_gpu_hours, unused_cost, gpu_share, discount_pct)
SELECT run.audit_id, provider, commitment_id, name, type, category, model, region, pool, trim_scale(bought), trim_scale(used_gpu_hours),
       trim_scale(used_cost), trim_scale(unused_gpu_hours), trim_scale(unused_cost), trim_scale(gpu_share), discount_pct
FROM run_commitment CROSS JOIN run
WHERE gpu_share > 0;

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
    WHERE c.unused_cost <> 0
    EXCEPT SELECT o.dimension, o.key FROM audit.audit_scope o JOIN run USING (audit_id)) v;

ANALYZE audit.audit_use, audit.audit_correction, audit.audit_commitment, audit.audit_scope;

-- Every bill that overlaps the window and every later one: kept + totalled = the invoice.
INSERT INTO audit.audit_invoice
SELECT run.audit_id, l.name, t.provider, l.period, t.currency, sum(t.row_count), trim_scale(sum(t.kept + t.totalled)), trim_scale(sum(t.kept)),
       trim_scale(sum(t.totalled)), trim_scale(sum(t.gpu_use)), trim_scale(sum(t.gpu_corrections)), trim_scale(sum(t.purchases)),
       trim_scale(sum(t.totalled + t.kept - t.gpu_use - t.gpu_corrections - t.purchases)),
       max(x.rejected), l.to_time + interval '14 days' <= run.created, max(t.days)::int
FROM (
    SELECT c.slice_id, i.provider, i.currency, count(*) AS row_count, sum(c.billed_cost) AS kept, 0::numeric AS totalled,
           coalesce(sum(c.billed_cost) FILTER (WHERE i.role IN ('gpu_use', 'gpu_money')), 0) AS gpu_use,
           coalesce(sum(c.billed_cost) FILTER (WHERE i.role = 'correction'), 0) AS gpu_corrections,
           coalesce(sum(c.billed_cost) FILTER (WHERE i.role = 'commitment_purchase'), 0) AS purchases,
           count(DISTINCT date_trunc('day', c.charge_from)) FILTER (WHERE i.role <> 'correction') AS days
    FROM audit.billing_charge c JOIN audit.billing_item i USING (slice_id, item_no)
    WHERE c.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing'))
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

-- Consecutive covered hours of an instance with mean sm (util where sm is not measured) below 20 %, more than 24 of them.
INSERT INTO audit.audit_idle_stretch
WITH hour AS (
    SELECT s.provider, s.resource_key, h.hour, sum(h.running_gpu_hours) AS gpu_hours, sum(h.effective_cost) AS cost,
           sum(h.sm_samples) AS sm_samples, sum(h.sm_sum) AS sm_sum, sum(h.samples) AS samples, sum(h.util_sum) AS util_sum,
           min(h.subject_no) FILTER (WHERE h.is_main) AS subject_no
    FROM audit.audit_hour h
    JOIN audit.audit_subject s ON s.audit_id = h.audit_id AND s.subject_no = h.subject_no
    WHERE h.audit_id = audit.this_audit() AND h.covered_chips > 0 AND (h.running_gpu_hours > 0 OR h.running_gpu_hours IS NULL)
    GROUP BY s.provider, s.resource_key, h.hour
), low AS (
    SELECT *, hour - row_number() OVER (PARTITION BY provider, resource_key ORDER BY hour) * interval '1 hour' AS run_of
    FROM hour
    WHERE CASE WHEN sm_samples > 0 THEN sm_sum < 20 * 28000000 * sm_samples
               WHEN samples > 0 THEN util_sum < 20 * 28000000 * samples ELSE false END
), stretch AS (
    SELECT provider, resource_key, min(hour) AS from_time, max(hour) + interval '1 hour' AS to_time, count(*) AS hours,
           sum(gpu_hours) AS gpu_hours, sum(cost) AS cost, max(subject_no) AS subject_no,
           CASE WHEN sum(sm_samples) > 0 THEN sum(sm_sum) / sum(sm_samples) ELSE sum(util_sum) / sum(samples) END / 28000000 AS util_pct,
           CASE WHEN sum(sm_samples) > 0 THEN 'sm' ELSE 'util' END AS signal
    FROM low
    GROUP BY provider, resource_key, run_of
    HAVING count(*) > 24
)
SELECT run.audit_id, row_number() OVER (ORDER BY t.cost DESC NULLS LAST, s.resource_id, t.from_time), s.provider, s.resource_id, s.resource_key,
       s.instance_type, s.model, s.region, s.pricing, s.pool, s.team, s.project, s.issue, s.gpus, t.from_time, t.to_time, t.hours,
       trim_scale(t.gpu_hours), trim_scale(t.cost), t.util_pct::float8, t.signal, t.to_time = run.to_time
FROM stretch t
CROSS JOIN run
JOIN audit.audit_subject s ON s.audit_id = run.audit_id AND s.subject_no = t.subject_no;

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
SELECT run.audit_id, g.gpu_uuid, (SELECT max(s.host) FROM run_series s WHERE s.gpu_no = c.gpu_no), g.model_name,
       trim_scale(round(sum(least(3600, c.samples * c.sample_seconds))::numeric / 3600, 6)), min(c.hour), max(c.hour) + interval '1 hour'
FROM run_cell c
JOIN run_gpu g USING (gpu_no)
CROSS JOIN run
GROUP BY run.audit_id, c.gpu_no, g.gpu_uuid, g.model_name
HAVING bool_and(c.resource_no IS NULL);
