-- What an analysis says at its end. $1 audit_id. One row: name and revision, state and counts.
SELECT format('%s revision %s', a.quarter, a.revision),
       format('%s: %s GPUs, %s provisioned GPU-hours, GPU cost %s %s, %s recommendations', CASE WHEN a.is_final THEN '' ELSE ' (a draft: a bill of the window may still change)' END,
              trim_scale(f.gpus), round(f.provisioned_gpu_hours, 1), round(f.gpu_cost, 2), a.currency,
              (SELECT count(*) FROM audit.recommendation r WHERE r.audit_id = a.audit_id))
FROM audit.audit a JOIN audit.audit_figure f ON f.audit_id = a.audit_id AND f.dimension = 'total'
WHERE a.audit_id = $1::int;
