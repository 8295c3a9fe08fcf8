-- Instance types that no catalog knows, of the newest audit over the sources ($1, int[]). One row per type.
SELECT a.quarter, t.provider, coalesce(t.instance_type, 'no type named') AS instance_type, round(t.instance_hours, 1) AS instance_hours,
       coalesce(round(t.gpu_hours, 1)::text, 'unknown') AS gpu_hours, round(t.effective_cost, 2) AS cost, a.currency,
       t.catalog_line AS line_for_prices_file
FROM audit.audit_unknown_type t
JOIN audit.audit a USING (audit_id)
WHERE a.audit_id = (SELECT max(x.audit_id) FROM audit.audit x
                    WHERE EXISTS (SELECT 1 FROM audit.audit_input i WHERE i.audit_id = x.audit_id AND i.source_id = ANY ($1::int[]))
                      AND NOT EXISTS (SELECT 1 FROM audit.audit_input i WHERE i.audit_id = x.audit_id AND i.source_id <> ALL ($1::int[])))
ORDER BY t.effective_cost DESC NULLS LAST, t.provider, t.instance_type;
