-- What is loaded and what is frozen over the sources $1 (int[]), for programs. One row.
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
          AND NOT EXISTS (SELECT 1 FROM audit.audit_input i WHERE i.audit_id = a.audit_id AND i.source_id <> ALL ($1::int[]))), '[]'))::text;
