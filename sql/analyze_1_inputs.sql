-- Analysis, step 1: what this audit reads. Temporary tables, dropped at commit:
--   run          the audit's own row
--   run_slice    slices of its inputs, with their source
--   run_family   model or family name -> family, MIG slices and power of the chip
--   run_type     instance type -> family and GPUs; user rows win over shipped ones
-- The audit is named by the session setting gpu_audit.audit_id, here and in the next steps.

CREATE TEMP TABLE run ON COMMIT DROP AS
SELECT a.*, lower(coalesce(t.value, 'team')) AS tag_team, lower(coalesce(p.value, 'project')) AS tag_project,
       lower(coalesce(i.value, 'issue')) AS tag_issue, lower(coalesce(o.value, 'pool')) AS tag_pool,
       ARRAY[coalesce(t.value, 'team'), coalesce(p.value, 'project'), coalesce(i.value, 'issue'), coalesce(o.value, 'pool')] AS tag_keys
FROM audit.audit a
LEFT JOIN audit.audit_setting t ON t.audit_id = a.audit_id AND t.key = 'tag_team'
LEFT JOIN audit.audit_setting p ON p.audit_id = a.audit_id AND p.key = 'tag_project'
LEFT JOIN audit.audit_setting i ON i.audit_id = a.audit_id AND i.key = 'tag_issue'
LEFT JOIN audit.audit_setting o ON o.audit_id = a.audit_id AND o.key = 'tag_pool'
WHERE a.audit_id = audit.this_audit();

CREATE TEMP TABLE run_slice ON COMMIT DROP AS
SELECT DISTINCT l.slice_id, l.source_id, s.kind, s.name, sl.period, sl.from_time, sl.to_time
FROM audit.audit_input l
JOIN run USING (audit_id)
JOIN audit.source s USING (source_id)
JOIN audit.slice sl ON sl.slice_id = l.slice_id;

CREATE TEMP TABLE run_family ON COMMIT DROP AS
SELECT DISTINCT ON (name) name, family, mig_slices_max, tdp_w
FROM (SELECT lower(model) AS name, family, mig_slices_max, tdp_w, origin, 0 AS place FROM audit.gpu_model
      WHERE origin = 'shipped' OR source_id IN (SELECT source_id FROM run_slice)
      UNION ALL
      SELECT lower(family), family, mig_slices_max, tdp_w, origin, 1 FROM audit.gpu_model
      WHERE origin = 'shipped' OR source_id IN (SELECT source_id FROM run_slice)) m
ORDER BY name, place, origin DESC, mig_slices_max DESC;

CREATE TEMP TABLE run_type ON COMMIT DROP AS
SELECT DISTINCT ON (t.provider, lower(t.instance_type))
       t.provider, lower(t.instance_type) AS type_key, coalesce(f.family, t.gpu_model) AS family, t.gpu_count
FROM audit.instance_type t
LEFT JOIN run_family f ON f.name = lower(t.gpu_model)
WHERE t.origin = 'shipped' OR t.source_id IN (SELECT source_id FROM run_slice)
ORDER BY t.provider, lower(t.instance_type), t.origin DESC;

-- A dedicated host is billed by its family ("g4dn"): a model without a number of GPUs.
INSERT INTO run_type
SELECT provider, split_part(type_key, '.', 1), min(family), NULL FROM run_type
WHERE provider = 'aws' AND type_key LIKE '%.%' GROUP BY 1, 2 HAVING count(DISTINCT family) = 1;

ANALYZE run_slice, run_family, run_type;

-- Fresh partitions have no statistics yet, and the joins of the next steps need them.
DO $$
DECLARE
    fresh record;
BEGIN
    FOR fresh IN
        SELECT c.oid::regclass AS name
        FROM run_slice l
        JOIN pg_class c ON c.relname IN ('billing_item_s' || l.slice_id, 'billing_charge_s' || l.slice_id,
                                         'gpu_series_s' || l.slice_id, 'gpu_hour_s' || l.slice_id)
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'audit'
        WHERE c.reltuples < 0
    LOOP
        EXECUTE format('ANALYZE %s', fresh.name);
    END LOOP;
END
$$;
