-- Analysis, step 2: whose resources. Every billed item and every span of owned service gets its
-- model, GPUs, team, project, issue and pool; equal ones become one subject.
--   run_item     (slice_id, item_no) -> subject_no, with role and currency rate; owned spans have slice_id = -source_id
--   run_resource provider and resource_key -> resource_no
--   run_spend    charges of an item by day, and by the share of their time that lies in the window

-- Names are cut at 500 characters: they are keys of indexes.
-- Tags name the team, project and issue; keys are compared trimmed, without case and without a provider's prefix.
CREATE TEMP TABLE run_tagged ON COMMIT DROP AS
SELECT i.slice_id, i.item_no, i.role, i.provider, coalesce(i.account_id, '') AS account,
       coalesce(i.resource_id, i.resource_key) AS resource_id, i.resource_key, i.resource_name, i.instance_type,
       coalesce(y.family, f.family, i.gpu_model, CASE WHEN i.instance_type IS NULL THEN 'unknown' ELSE 'unknown (' || i.instance_type || ')' END) AS model,
       coalesce(y.gpu_count, i.gpu_count) AS gpus, coalesce(y.family, CASE WHEN i.gpu_count > 0 THEN f.family END) IS NOT NULL AS is_catalogued,
       coalesce(i.region, '') AS region, i.pricing, i.commitment_id, i.counts_gpus, i.unit_seconds, i.currency,
       t.team, t.project, t.issue, t.pool, coalesce(t.team, '') <> '' AS is_tagged
FROM audit.billing_item i
CROSS JOIN run
LEFT JOIN run_type y ON y.provider = i.provider AND y.type_key = lower(i.instance_type)
LEFT JOIN run_family f ON f.name = lower(i.gpu_model)
LEFT JOIN LATERAL (
    -- Of several keys that are one: the one written as in the configuration, then one without a prefix.
    SELECT substr(max(g.value) FILTER (WHERE g.key = run.tag_team), 2) AS team, substr(max(g.value) FILTER (WHERE g.key = run.tag_project), 2) AS project,
           substr(max(g.value) FILTER (WHERE g.key = run.tag_issue), 2) AS issue, substr(max(g.value) FILTER (WHERE g.key = run.tag_pool), 2) AS pool
    FROM (SELECT regexp_replace(lower(btrim(e.key)), '^user[_:]', '') AS key,
                 CASE WHEN e.key = ANY (run.tag_keys) THEN '2' WHEN lower(btrim(e.key)) ~ '^user[_:]' THEN '0' ELSE '1' END
                     || nullif(btrim(left(e.value, 500), E' \t\r\n'), '') AS value
          FROM jsonb_each_text(CASE jsonb_typeof(i.tags) WHEN 'object' THEN i.tags ELSE '{}' END) e) g
) t ON true
WHERE i.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing'))
UNION ALL
SELECT -o.source_id, o.line, 'owned', 'on-prem', '', o.asset, lower(o.asset), o.host, NULL,
       coalesce(f.family, o.gpu_model), o.gpu_count, f.family IS NOT NULL, coalesce(o.site, ''), 'owned', NULL, true, 3600, o.currency,
       nullif(btrim(left(o.team, 500)), ''), nullif(btrim(left(o.project, 500)), ''), nullif(btrim(left(o.issue, 500)), ''), nullif(btrim(left(o.pool, 500)), ''),
       coalesce(btrim(o.team), '') <> ''
FROM audit.owned_gpu o
JOIN run_slice s ON s.source_id = o.source_id
LEFT JOIN run_family f ON f.name = lower(o.gpu_model);

CREATE TEMP TABLE run_issue ON COMMIT DROP AS
SELECT DISTINCT ON (upper(i.key)) upper(i.key) AS issue_key, i.key, nullif(btrim(left(i.team, 500)), '') AS team,
       coalesce(nullif(btrim(left(i.project, 500)), ''), i.project_key) AS project
FROM audit.issue i
JOIN run_slice s ON s.source_id = i.source_id
ORDER BY upper(i.key), i.updated DESC NULLS LAST;

CREATE TEMP TABLE run_named ON COMMIT DROP AS
SELECT t.*, coalesce(i.key, t.issue, '') AS issue_name, coalesce(t.team, i.team, '') AS team_name,
       coalesce(t.project, i.project, '') AS project_name
FROM run_tagged t
LEFT JOIN run_issue i ON i.issue_key = upper(t.issue);

-- What many steps add up, added up once: sums of charges that lie in the window, out of it, or across its
-- edge (share: of the charge's time, what lies in the window).
CREATE TEMP TABLE run_spend ON COMMIT DROP AS
SELECT c.slice_id, c.item_no, date_bin('1 day', c.charge_from, 'epoch') AS day, w.share, w.starts_inside, count(*) AS row_count,
       sum(CASE WHEN i.commitment_id IS NOT NULL THEN c.quantity * i.unit_seconds / 3600 END) AS hours, sum(c.billed_cost) AS billed_cost, sum(c.effective_cost) AS effective_cost,
       sum(CASE WHEN i.commitment_id IS NOT NULL THEN c.list_cost END) AS list_cost, count(*) - count(c.effective_cost) AS priceless_rows,
       sum(CASE WHEN c.quantity IS NULL OR i.unit_seconds IS NULL THEN c.effective_cost END) AS cost_without_hours
FROM audit.billing_charge c
JOIN audit.billing_item i USING (slice_id, item_no)
CROSS JOIN run
CROSS JOIN LATERAL (
    SELECT c.charge_from >= run.from_time AND c.charge_from < run.to_time AS starts_inside,
           CASE WHEN c.charge_from >= run.from_time AND c.charge_to <= run.to_time AND c.charge_from < run.to_time THEN 1
                WHEN c.charge_from >= run.to_time OR c.charge_to <= run.from_time THEN 0
                ELSE extract(epoch FROM least(c.charge_to, run.to_time) - greatest(c.charge_from, run.from_time))
                     / nullif(extract(epoch FROM c.charge_to - c.charge_from), 0) END AS share) w
WHERE c.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing'))
GROUP BY c.slice_id, c.item_no, date_bin('1 day', c.charge_from, 'epoch'), w.share, w.starts_inside;

ANALYZE run_spend;

-- One spelling for each team and project: Jira's most frequent, else the one with the most cost.
CREATE TEMP TABLE run_spelling ON COMMIT DROP AS
WITH spend AS (
    SELECT slice_id, item_no, sum(effective_cost) AS cost
    FROM run_spend
    GROUP BY slice_id, item_no
), candidate AS (
    SELECT 'team' AS kind, n.team_name AS name, 1 AS place, coalesce(s.cost, 0) AS weight
    FROM run_named n LEFT JOIN spend s USING (slice_id, item_no)
    UNION ALL
    SELECT 'project', n.project_name, 1, coalesce(s.cost, 0) FROM run_named n LEFT JOIN spend s USING (slice_id, item_no)
    UNION ALL
    SELECT 'team', team, 0, 1 FROM run_issue WHERE team IS NOT NULL
    UNION ALL
    SELECT 'project', project, 0, 1 FROM run_issue
)
SELECT DISTINCT ON (kind, lower(name)) kind, lower(name) AS name_key, name
FROM (SELECT kind, name, place, sum(weight) AS weight FROM candidate GROUP BY kind, name, place) c
ORDER BY kind, lower(name), place, weight DESC, name;

CREATE TEMP TABLE run_full ON COMMIT DROP AS
SELECT n.slice_id, n.item_no, n.role, n.provider, n.account, n.resource_id, n.resource_key, n.resource_name, n.instance_type, n.model,
       n.region, n.pricing, coalesce(n.pool, concat_ws(' ', n.provider, nullif(n.region, ''), n.model)) AS pool,
       coalesce(t.name, '') AS team, coalesce(p.name, '') AS project, n.issue_name AS issue, n.is_tagged, n.gpus,
       coalesce(ceil(n.gpus), 1)::int AS chips, n.is_catalogued, n.commitment_id, n.counts_gpus, n.unit_seconds, n.currency
FROM run_named n
LEFT JOIN run_spelling t ON t.kind = 'team' AND t.name_key = lower(n.team_name)
LEFT JOIN run_spelling p ON p.kind = 'project' AND p.name_key = lower(n.project_name)
WHERE n.role IN ('gpu_use', 'gpu_money', 'correction', 'owned');

INSERT INTO audit.audit_subject
SELECT run.audit_id,
       row_number() OVER (ORDER BY f.provider, f.resource_key, f.instance_type, f.pricing, f.team, f.project, f.issue, f.account,
                                   f.region, f.pool, f.gpus, f.is_tagged),
       f.provider, f.account, min(f.resource_id), f.resource_key, f.instance_type, f.model, f.region, f.pricing, f.pool, f.team,
       f.project, f.issue, f.is_tagged, f.gpus, f.chips, f.is_catalogued,
       dense_rank() OVER (ORDER BY f.provider, f.model, f.region, f.pricing, f.pool),
       -dense_rank() OVER (ORDER BY f.team, f.project, f.issue)
FROM run_full f CROSS JOIN run
GROUP BY run.audit_id, f.provider, f.account, f.resource_key, f.instance_type, f.model, f.region, f.pricing, f.pool, f.team,
         f.project, f.issue, f.is_tagged, f.gpus, f.chips, f.is_catalogued;

CREATE TEMP TABLE run_resource ON COMMIT DROP AS
SELECT row_number() OVER (ORDER BY provider, resource_key)::int AS resource_no, provider, resource_key,
       max(chips) AS chips, max(mig_slices_max) AS mig_slices, max(tdp_w)::float8 AS tdp_w
FROM audit.audit_subject s
JOIN run USING (audit_id)
LEFT JOIN run_family f ON f.name = lower(s.model)
GROUP BY provider, resource_key;

CREATE TEMP TABLE run_item ON COMMIT DROP AS
SELECT f.slice_id, f.item_no, f.role, s.subject_no, r.resource_no, f.chips, f.gpus, f.counts_gpus, f.unit_seconds, f.currency
FROM run_full f
CROSS JOIN run
JOIN audit.audit_subject s ON s.audit_id = run.audit_id
    AND (s.provider, s.account, s.resource_key, s.model, s.region, s.pricing, s.pool, s.team, s.project, s.issue, s.is_tagged)
      = (f.provider, f.account, f.resource_key, f.model, f.region, f.pricing, f.pool, f.team, f.project, f.issue, f.is_tagged)
    AND s.instance_type IS NOT DISTINCT FROM f.instance_type AND s.gpus IS NOT DISTINCT FROM f.gpus
    AND s.is_catalogued = f.is_catalogued
JOIN run_resource r ON r.provider = f.provider AND r.resource_key = f.resource_key;

INSERT INTO audit.audit_scope
SELECT run.audit_id, row_number() OVER (ORDER BY d.place, d.key), d.dimension, d.key
FROM run CROSS JOIN (
    SELECT DISTINCT v.place, v.dimension, v.key
    FROM audit.audit_subject s JOIN run USING (audit_id)
    CROSS JOIN LATERAL (VALUES (1, 'total', ''), (2, 'provider', s.provider), (3, 'model', s.model), (4, 'region', s.region),
                               (5, 'pricing', s.pricing), (6, 'team', s.team), (7, 'project', s.project), (8, 'pool', s.pool),
                               (9, 'issue', s.issue)) v(place, dimension, key)
    UNION VALUES (1, 'total', '')) d;

INSERT INTO audit.audit_scope_group
SELECT DISTINCT s.audit_id, s.group_no, c.scope_no
FROM audit.audit_subject s
JOIN run USING (audit_id)
JOIN audit.audit_scope c ON c.audit_id = s.audit_id
    AND c.key = CASE c.dimension WHEN 'total' THEN '' WHEN 'provider' THEN s.provider WHEN 'model' THEN s.model
                                 WHEN 'region' THEN s.region WHEN 'pricing' THEN s.pricing WHEN 'pool' THEN s.pool END
UNION ALL
SELECT DISTINCT s.audit_id, s.owner_no, c.scope_no
FROM audit.audit_subject s
JOIN run USING (audit_id)
JOIN audit.audit_scope c ON c.audit_id = s.audit_id
    AND c.key = CASE c.dimension WHEN 'team' THEN s.team WHEN 'project' THEN s.project WHEN 'issue' THEN s.issue END;

ANALYZE run_resource, run_item;
ANALYZE audit.audit_subject, audit.audit_scope, audit.audit_scope_group;
