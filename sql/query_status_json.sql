-- What is loaded and what is frozen over the sources $1 (int[]), for programs. One row.
WITH newest AS (
    -- the newest revision of each quarter
    SELECT DISTINCT ON (a.estate, a.quarter) a.*
    FROM audit.audit a
    WHERE EXISTS (SELECT 1 FROM audit.audit_input i WHERE i.audit_id = a.audit_id AND i.source_id = ANY ($1::int[]))
      AND NOT EXISTS (SELECT 1 FROM audit.audit_input i WHERE i.audit_id = a.audit_id AND i.source_id <> ALL ($1::int[]))
    ORDER BY a.estate, a.quarter, a.revision DESC
)
SELECT json_build_object(
    'loads', coalesce((
        SELECT json_agg(json_build_object('kind', o.kind, 'source', o.name, 'period', s.period, 'object', l.object, 'status', l.status,
                   'rows_read', l.rows_read, 'kept', l.rows_kept, 'totalled', l.rows_totalled, 'rejected', l.rows_rejected,
                   'complete', l.is_complete, 'problem', l.problem, 'sha256', l.sha256, 'started', l.started, 'finished', l.finished)
               ORDER BY o.kind, o.name, s.period, l.load_id)
        FROM audit.load l JOIN audit.slice s USING (slice_id) JOIN audit.source o USING (source_id)
        WHERE o.source_id = ANY ($1::int[]) AND l.status <> 'replaced'), '[]'),
    'audits', coalesce((
        SELECT json_agg(json_build_object('quarter', a.quarter, 'revision', a.revision, 'final', a.is_final, 'created', a.created,
                   'inputs_sha256', a.inputs_sha256, 'program_version', a.program_version) ORDER BY a.audit_id)
        FROM audit.audit a
        WHERE EXISTS (SELECT 1 FROM audit.audit_input i WHERE i.audit_id = a.audit_id AND i.source_id = ANY ($1::int[]))
          AND NOT EXISTS (SELECT 1 FROM audit.audit_input i WHERE i.audit_id = a.audit_id AND i.source_id <> ALL ($1::int[]))), '[]'),
    'bills', coalesce((
        SELECT json_agg(json_build_object('source', c.source_name, 'period', c.period, 'in_window', c.in_window, 'state', c.state, 'reason', c.reason,
                   'doubt', c.doubt, 'is_daily', c.is_daily, 'days_expected', c.days_expected, 'days_with_use', c.days_with_use,
                   'days_missing', c.days_missing, 'first_day', c.first_day, 'last_day', c.last_day, 'delivered', c.delivered,
                   'rows_invoiced', c.rows_invoiced, 'rows_uninvoiced', c.rows_uninvoiced, 'rows_rejected', c.rows_rejected)
               ORDER BY c.source_name, c.period)
        FROM audit.billing_completeness c WHERE c.source_id = ANY ($1::int[])), '[]'),
    'restatements', coalesce((
        SELECT json_agg(json_build_object('quarter', n.quarter, 'revision', n.revision, 'was_final', (SELECT bool_or(r.was_final) FROM audit.restatement r WHERE r.audit_id = n.audit_id),
                   'figures', (SELECT json_object_agg(r.figure, json_build_object('before', r.before::text, 'after', r.after::text) ORDER BY r.figure)
                               FROM audit.restatement r WHERE r.audit_id = n.audit_id AND r.dimension = 'total'),
                   'because', (SELECT json_agg(json_build_object('what', c.what, 'source', c.source, 'period', c.period, 'object', c.object, 'rows', c.rows,
                                                                 'rows_before', c.rows_before) ORDER BY c.what, c.source, c.period, c.object)
                               FROM audit.restatement_cause c WHERE c.audit_id = n.audit_id)) ORDER BY n.audit_id)
        FROM newest n
        WHERE EXISTS (SELECT 1 FROM audit.restatement r WHERE r.audit_id = n.audit_id AND r.dimension = 'total')), '[]'),
    'unknown_instance_types', coalesce((
        SELECT json_agg(json_build_object('quarter', n.quarter, 'provider', t.provider, 'instance_type', t.instance_type, 'gpu_count', t.gpu_count::text,
                   'resources', t.resources, 'instance_hours', t.instance_hours::text, 'gpu_hours', t.gpu_hours::text, 'billed_cost', t.billed_cost::text,
                   'effective_cost', t.effective_cost::text, 'currency', n.currency, 'catalog_line', t.catalog_line)
               ORDER BY n.audit_id, t.effective_cost DESC NULLS LAST, t.provider, t.instance_type)
        FROM newest n JOIN audit.audit_unknown_type t USING (audit_id)), '[]'))::text;
