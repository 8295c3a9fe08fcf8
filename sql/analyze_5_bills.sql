-- Analysis, step 5b: how complete the bills are, by what rates they were converted, what sums leave out, which
-- instance types nobody knows, and what became of tags that contradict each other.
--   run_quality  findings about all this, for the list of step 6

INSERT INTO audit.audit_completeness (audit_id, source_name, period, in_window, state, reason, doubt, days_expected, days_with_use, days_missing,
                                      first_day, last_day, delivered, rows_invoiced, rows_uninvoiced, rows_rejected)
SELECT run.audit_id, c.source_name, c.period, c.in_window, c.state, c.reason, c.doubt, c.days_expected, c.days_with_use, c.days_missing,
       c.first_day, c.last_day, c.delivered, c.rows_invoiced, c.rows_uninvoiced, c.rows_rejected
FROM audit.billing_completeness c
CROSS JOIN run
WHERE c.source_id = ANY (coalesce(nullif(current_setting('gpu_audit.source_ids', true), '')::int[], ARRAY(SELECT source_id FROM run_slice)))
  AND c.to_time > run.from_time;

UPDATE audit.audit_invoice v SET is_final = v.is_final AND c.state <> 'open' OR c.state = 'final'
FROM audit.audit_completeness c
WHERE v.audit_id = audit.this_audit() AND c.audit_id = v.audit_id AND c.source_name = v.source_name AND c.period = v.month;

INSERT INTO audit.audit_rate
SELECT audit.this_audit(), r.source_name, r.month, r.currency, r.rate, r.how, r.rates,
       (SELECT trim_scale(sum(v.billed_cost)) FROM audit.audit_invoice v
        WHERE v.audit_id = audit.this_audit() AND 'billing ' || v.source_name = r.source_name AND v.month = r.month AND v.currency = r.currency)
FROM run_rate r;

-- What sums leave out. A charge that crosses the window's edge counts by time.
CREATE TEMP TABLE run_charge ON COMMIT DROP AS
SELECT i.subject_no, i.role, i.currency, l.period AS month, i.gpus, i.counts_gpus, i.unit_seconds, c.quantity, c.billed_cost, c.effective_cost,
       r.rate, w.share, a.provider, a.instance_type, a.is_catalogued, a.resource_key
FROM run_item i
JOIN run_slice l USING (slice_id)
JOIN run_rate r ON r.slice_id = i.slice_id AND r.currency = i.currency
JOIN audit.audit_subject a ON a.audit_id = audit.this_audit() AND a.subject_no = i.subject_no
JOIN audit.billing_charge c ON c.slice_id = i.slice_id AND c.item_no = i.item_no
CROSS JOIN run
CROSS JOIN LATERAL (
    SELECT CASE WHEN c.charge_from >= run.from_time AND c.charge_to <= run.to_time AND c.charge_from < run.to_time THEN 1
                WHEN c.charge_from >= run.to_time OR c.charge_to <= run.from_time THEN 0
                ELSE extract(epoch FROM least(c.charge_to, run.to_time) - greatest(c.charge_from, run.from_time))
                     / nullif(extract(epoch FROM c.charge_to - c.charge_from), 0) END AS share) w
WHERE l.kind = 'billing' AND w.share > 0
  AND c.slice_id = ANY (ARRAY(
      SELECT i.slice_id FROM run_item i JOIN audit.audit_subject a ON a.audit_id = audit.this_audit() AND a.subject_no = i.subject_no
      WHERE NOT a.is_catalogued
      UNION SELECT slice_id FROM run_rate WHERE rate IS NULL
      UNION SELECT l.slice_id FROM run_slice l JOIN audit.billing_map m USING (source_id)))
  AND (r.rate IS NULL OR NOT a.is_catalogued OR c.effective_cost IS NULL);

INSERT INTO audit.audit_gap (audit_id, subject_no, provider, kind, month, currency, billed_cost, effective_cost)
SELECT audit.this_audit(), subject_no, provider, 'rate', month, currency, trim_scale(sum(billed_cost * share)), trim_scale(sum(effective_cost * share))
FROM run_charge WHERE rate IS NULL AND effective_cost IS NOT NULL
GROUP BY subject_no, provider, month, currency
UNION ALL
SELECT audit.this_audit(), subject_no, provider, 'price', month, currency, NULL, NULL
FROM run_charge WHERE effective_cost IS NULL AND role <> 'correction'
GROUP BY subject_no, provider, month, currency
UNION ALL
SELECT audit.this_audit(), subject_no, provider, 'gpu count', month, NULL, NULL, NULL
FROM run_charge WHERE gpus IS NULL AND NOT counts_gpus AND role = 'gpu_use'
GROUP BY subject_no, provider, month
UNION ALL
-- the GPU share of an unused commitment
SELECT audit.this_audit(), NULL, i.provider, 'rate', l.period, i.currency, NULL, trim_scale(round(sum(c.effective_cost * m.gpu_share), 12))
FROM run_rate r
JOIN run_slice l USING (slice_id)
JOIN audit.billing_item i ON i.slice_id = r.slice_id AND i.currency = r.currency AND i.role = 'commitment_unused'
JOIN audit.billing_charge c ON c.slice_id = i.slice_id AND c.item_no = i.item_no
JOIN audit.audit_commitment m ON m.audit_id = audit.this_audit() AND m.provider = i.provider AND m.commitment_id = i.commitment_id
CROSS JOIN run
WHERE r.rate IS NULL AND c.charge_from >= run.from_time AND c.charge_from < run.to_time
  AND i.slice_id = ANY (ARRAY(SELECT slice_id FROM run_rate WHERE rate IS NULL))
GROUP BY i.provider, l.period, i.currency
UNION ALL
SELECT audit.this_audit(), i.subject_no, 'on-prem', CASE WHEN o.cost_per_hour IS NULL THEN 'cost' ELSE 'rate' END, to_char(m.month, 'YYYY-MM'), o.currency,
       s.cost, s.cost
FROM audit.owned_gpu o
JOIN run_item i ON i.slice_id = -o.source_id AND i.item_no = o.line
JOIN audit.audit_subject a ON a.audit_id = audit.this_audit() AND a.subject_no = i.subject_no
CROSS JOIN run
CROSS JOIN LATERAL generate_series(date_trunc('month', greatest(o.in_service_from, run.from_time)),
                                   least(o.in_service_to, run.to_time) - interval '1 microsecond', interval '1 month') m(month)
LEFT JOIN run_rate r ON r.slice_id = i.slice_id AND r.currency = o.currency AND r.month = to_char(m.month, 'YYYY-MM')
CROSS JOIN LATERAL (
    SELECT trim_scale(o.cost_per_hour * extract(epoch FROM least(o.in_service_to, run.to_time, m.month + interval '1 month')
                                                         - greatest(o.in_service_from, run.from_time, m.month)) / 3600) AS cost) s
WHERE o.cost_per_hour IS NULL OR r.rate IS NULL;

-- Types that no catalog knows. The exact line that makes them known; what it lacks is written in capitals.
INSERT INTO audit.audit_unknown_type (audit_id, provider, instance_type, gpu_count, resources, instance_hours, gpu_hours, billed_cost, effective_cost,
                                      catalog_line)
SELECT audit.this_audit(), provider, min(instance_type), gpus, count(DISTINCT resource_key),
       trim_scale(sum(CASE WHEN role = 'gpu_use' AND NOT counts_gpus THEN quantity * unit_seconds / 3600 * share END)),
       trim_scale(sum(CASE WHEN role = 'gpu_use' THEN quantity * unit_seconds / 3600 * CASE WHEN counts_gpus THEN 1 ELSE gpus END * share END)),
       trim_scale(sum(billed_cost * rate * share)), trim_scale(sum(effective_cost * rate * share)),
       CASE WHEN min(instance_type) IS NOT NULL
            THEN format('%s,%s,MODEL,%s', provider,
                        CASE WHEN min(instance_type) ~ '[",\n\r]' THEN '"' || replace(min(instance_type), '"', '""') || '"' ELSE min(instance_type) END,
                        coalesce(trim_scale(gpus)::text, 'GPUS')) END
FROM run_charge
WHERE NOT is_catalogued AND role IN ('gpu_use', 'gpu_money')
GROUP BY provider, lower(instance_type), gpus;

-- Tags. Keys are one when they are equal trimmed, without case and without a provider's prefix. All keys count,
-- over the different sets of tags that the bills have; of those that a figure goes by, the value taken is known.
CREATE TEMP TABLE run_tag_set ON COMMIT DROP AS
SELECT row_number() OVER ()::int AS set_no, tags
FROM (SELECT DISTINCT tags FROM audit.billing_item
      WHERE slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing')) AND role IN ('gpu_use', 'gpu_money')
        AND jsonb_typeof(tags) = 'object' AND tags <> '{}') d;

CREATE TEMP TABLE run_tag ON COMMIT DROP AS
SELECT t.set_no, regexp_replace(lower(btrim(e.key)), '^user[_:]', '') AS tag, e.key AS spelling, btrim(e.value, E' \t\r\n') AS value,
       CASE WHEN e.key = ANY (run.tag_keys) THEN 0 WHEN lower(btrim(e.key)) ~ '^user[_:]' THEN 2 ELSE 1 END AS place
FROM run_tag_set t
CROSS JOIN run
CROSS JOIN LATERAL jsonb_each_text(t.tags) e;

ANALYZE run_tag_set, run_tag;

CREATE TEMP TABLE run_tag_clash ON COMMIT DROP AS
SELECT c.*, CASE WHEN c.tag <> ALL (ARRAY[run.tag_team, run.tag_project, run.tag_issue, run.tag_pool]) THEN 'no figure goes by this tag'
                 WHEN c.values_at_best > 1 THEN 'their keys are equally good: the last value in alphabetical order'
                 WHEN c.best = 0 THEN 'its key is written as in the configuration'
                 ELSE 'its key has no provider''s prefix' END AS why
FROM (
    SELECT t.set_no, t.tag, min(b.best) AS best, count(DISTINCT lower(t.value)) FILTER (WHERE t.place = b.best AND t.value <> '') AS values_at_best,
           string_agg(format('%s = %s', t.spelling, t.value), '; ' ORDER BY t.place, t.spelling) AS spellings
    FROM run_tag t
    JOIN (SELECT set_no, tag, min(place) FILTER (WHERE value <> '') AS best FROM run_tag GROUP BY set_no, tag) b USING (set_no, tag)
    GROUP BY t.set_no, t.tag
    HAVING count(DISTINCT lower(t.value)) FILTER (WHERE t.value <> '') > 1) c
CROSS JOIN run;

INSERT INTO audit.audit_tag_collision (audit_id, provider, resource_id, tag, spellings, taken, why, cost)
SELECT audit.this_audit(), d.provider, min(d.resource_id), d.tag, d.spellings, max(d.taken), min(d.why), trim_scale(sum(u.effective_cost))
FROM (SELECT DISTINCT s.provider, s.resource_id, s.resource_key, i.subject_no, k.tag, k.spellings, k.why,
             CASE k.tag WHEN run.tag_team THEN n.team WHEN run.tag_project THEN n.project WHEN run.tag_issue THEN n.issue WHEN run.tag_pool THEN n.pool END AS taken
      FROM run_tag_clash k
      JOIN run_tag_set t USING (set_no)
      JOIN audit.billing_item b ON b.tags = t.tags AND b.role IN ('gpu_use', 'gpu_money')
          AND b.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing'))
      JOIN run_item i ON i.slice_id = b.slice_id AND i.item_no = b.item_no
      JOIN run_tagged n ON n.slice_id = b.slice_id AND n.item_no = b.item_no
      JOIN audit.audit_subject s ON s.audit_id = audit.this_audit() AND s.subject_no = i.subject_no
      CROSS JOIN run) d
JOIN audit.audit_use u ON u.audit_id = audit.this_audit() AND u.subject_no = d.subject_no
GROUP BY d.provider, d.resource_key, d.tag, d.spellings;

INSERT INTO audit.audit_tag_spelling (audit_id, tag, spelling, resources)
SELECT audit.this_audit(), t.tag, t.spelling, count(DISTINCT (b.provider, b.resource_key))
FROM (SELECT *, count(*) OVER (PARTITION BY tag) AS spellings FROM (SELECT tag, spelling, array_agg(set_no) AS sets FROM run_tag GROUP BY tag, spelling) g) t
JOIN run_tag_set s ON s.set_no = ANY (t.sets)
JOIN audit.billing_item b ON b.tags = s.tags AND b.role IN ('gpu_use', 'gpu_money')
    AND b.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing'))
WHERE t.spellings > 1
GROUP BY t.tag, t.spelling;

-- Findings. Place 4 to 8 and 16 of the list.
CREATE TEMP TABLE run_quality ON COMMIT DROP AS
SELECT 4::numeric AS place, 'unknown instance type' AS check_name,
       'not in the catalog: ' || string_agg(DISTINCT coalesce(t.instance_type, 'no type named'), ', ') AS finding,
       sum(t.resources)::bigint AS items, sum(t.gpu_hours) AS gpu_hours, sum(t.effective_cost) AS cost,
       'Add the type with its GPU count to a [prices] file; until then its GPU-hours are unknown or the bill''s own word.'
           || coalesce(' Its lines, under provider,instance_type,gpu_model,gpu_count: ' || string_agg(t.catalog_line, '; ' ORDER BY t.effective_cost DESC NULLS LAST), '') AS remedy
FROM audit.audit_unknown_type t WHERE t.audit_id = audit.this_audit() HAVING count(*) > 0
UNION ALL
SELECT 7, 'open bill', 'bills of the window that may still change: ' || string_agg(format('%s %s (%s)', c.source_name, c.period, c.reason), '; ' ORDER BY c.source_name, c.period),
       count(*), NULL, (SELECT sum(v.billed_cost * r.rate) FROM audit.audit_invoice v
                        JOIN audit.audit_completeness o ON o.audit_id = v.audit_id AND o.source_name = v.source_name AND o.period = v.month AND o.in_window AND o.state = 'open'
                        LEFT JOIN audit.audit_rate r ON r.audit_id = v.audit_id AND r.source_name = 'billing ' || v.source_name AND r.month = v.month AND r.currency = v.currency
                        WHERE v.audit_id = audit.this_audit()),
       'Ingest again when the provider has closed them, about two weeks after the end of the month; until then the audit is a draft.'
FROM audit.audit_completeness c WHERE c.audit_id = audit.this_audit() AND c.in_window AND c.state = 'open' HAVING count(*) > 0
UNION ALL
SELECT 7.1, 'missing bill', 'no bill of ' || string_agg(format('%s %s', c.source_name, c.period), ', ' ORDER BY c.source_name, c.period),
       count(*), NULL, NULL, 'Have the export delivered and ingest again, or take a source that has ended out of the configuration; until then the audit is a draft.'
FROM audit.audit_completeness c WHERE c.audit_id = audit.this_audit() AND c.in_window AND c.state = 'missing' HAVING count(*) > 0
UNION ALL
SELECT 7.2, 'doubtful bill', string_agg(format('%s %s: %s', c.source_name, c.period, c.doubt), '; ' ORDER BY c.source_name, c.period),
       count(*), NULL, NULL, 'Compare the total with the provider''s invoice; have the export delivered again where days are missing.'
FROM audit.audit_completeness c WHERE c.audit_id = audit.this_audit() AND c.in_window AND c.doubt IS NOT NULL HAVING count(*) > 0
UNION ALL
SELECT 8, 'currency without a rate',
       'money that is missing in every figure: ' || coalesce(w.without, 'no GPU use; '
           || string_agg(format('%s of %s in %s', r.currency, r.source_name, r.month), ', ' ORDER BY r.source_name, r.month, r.currency)),
       count(*), NULL, NULL,
       'Give the rates in an [fx] file: ' || string_agg(DISTINCT format('%s,%s,%s,RATE', r.month, r.currency, run.currency), '; ')
FROM run_rate r
CROSS JOIN run
LEFT JOIN (SELECT string_agg(format('%s %s of %s', effective_cost, currency, month), ', ' ORDER BY month, currency) AS without
           FROM (SELECT month, currency, trim_scale(sum(effective_cost)) AS effective_cost FROM audit.audit_gap
                 WHERE audit_id = audit.this_audit() AND kind = 'rate' GROUP BY month, currency) g) w ON true
WHERE r.rate IS NULL
GROUP BY w.without HAVING count(*) > 0
UNION ALL
SELECT 8.1, 'several rates in a bill', string_agg(format('%s %s %s: %s', r.source_name, r.month, r.currency, r.how), '; ' ORDER BY r.source_name, r.month, r.currency),
       count(*), NULL, NULL, 'One rate converts the money of a month. Where another is to hold, give it in an [fx] file.'
FROM run_rate r WHERE r.rates > 1 AND r.rate IS NOT NULL AND r.rate <> 1 HAVING count(*) > 0
UNION ALL
SELECT 16.1, 'tag collision', format('resources with tags that are one and say different things, in tag %s', string_agg(DISTINCT c.tag, ', ')),
       count(DISTINCT (c.provider, c.resource_id)), NULL, sum(c.cost) FILTER (WHERE c.taken IS NOT NULL),
       'Keep one spelling of each key. What was taken and why stands in the list of tags.'
FROM audit.audit_tag_collision c WHERE c.audit_id = audit.this_audit() HAVING count(*) > 0
UNION ALL
SELECT 16.2, 'tag in several spellings', string_agg(t.spellings, '; ' ORDER BY t.tag), count(*), NULL, NULL,
       'They count as one. Keep one spelling where resources are created.'
FROM (SELECT tag, string_agg(format('%s (%s)', spelling, resources), ', ' ORDER BY resources DESC, spelling) AS spellings
      FROM audit.audit_tag_spelling WHERE audit_id = audit.this_audit() GROUP BY tag) t HAVING count(*) > 0
UNION ALL
SELECT 16.3, 'renamed account', string_agg(format('%s %s: %s', n.provider, n.account_id, n.names), '; ' ORDER BY n.provider, n.account_id), count(*), NULL, NULL,
       'Each is one account, shown by its newest name. Nothing to do.'
FROM (SELECT provider, account_id, string_agg(DISTINCT account_name, ', ') AS names
      FROM audit.billing_item
      WHERE slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'billing')) AND account_id IS NOT NULL
      GROUP BY provider, account_id HAVING count(DISTINCT account_name) > 1) n HAVING count(*) > 0;
