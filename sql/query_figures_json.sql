-- The whole figures document of an audit ($1 = audit_id) as JSON. One row.
-- Money and GPU-hours are strings and exact, ratios are numbers, unknown is null.
WITH figure AS (
    SELECT f.dimension, f.key, json_build_object(
        'gpus', f.gpus, 'instances', f.instances, 'provisioned_gpu_hours', f.provisioned_gpu_hours::text,
        'running_gpu_hours', f.running_gpu_hours::text, 'billed_gpu_hours', f.billed_gpu_hours::text,
        'corrected_gpu_hours', f.corrected_gpu_hours::text, 'unused_commitment_gpu_hours', f.unused_commitment_gpu_hours::text,
        'owned_gpu_hours', f.owned_gpu_hours::text, 'observed_gpu_hours', f.observed_gpu_hours::text,
        'covered_gpu_hours', f.covered_gpu_hours::text, 'coverage_pct', f.coverage_pct, 'unknown_gpu_hours', f.unknown_gpu_hours::text,
        'idle_gpu_hours', f.idle_gpu_hours::text, 'idle_pct', f.idle_pct, 'idle_time_pct', f.idle_time_pct,
        'busy_gpu_hours', f.busy_gpu_hours::text, 'effective_gpu_hours', f.effective_gpu_hours::text,
        'sm_covered_gpu_hours', f.sm_covered_gpu_hours::text,
        'allocated_gpu_hours', f.allocated_gpu_hours::text, 'avg_util_pct', f.avg_util_pct, 'p50_cell_util_pct', f.p50_cell_util_pct,
        'p95_cell_util_pct', f.p95_cell_util_pct, 'p99_cell_util_pct', f.p99_cell_util_pct, 'max_cell_util_pct', f.max_cell_util_pct,
        'peak_hour_util_pct', f.peak_hour_util_pct, 'peak_hour', to_char(f.peak_hour, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
        'avg_sm_pct', f.avg_sm_pct, 'peak_running_gpus', f.peak_running_gpus, 'peak_busy_gpus', f.peak_busy_gpus,
        'billed_cost', f.billed_cost::text, 'effective_cost', f.effective_cost::text, 'correction_cost', f.correction_cost::text,
        'unused_commitment_cost', f.unused_commitment_cost::text, 'idle_cost', f.idle_cost::text, 'unknown_cost', f.unknown_cost::text,
        'gpu_cost', f.gpu_cost::text, 'list_cost', f.list_cost::text,
        'cost_per_provisioned_gpu_hour', f.cost_per_provisioned_gpu_hour::text,
        'cost_per_busy_gpu_hour', f.cost_per_busy_gpu_hour::text, 'cost_per_effective_gpu_hour', f.cost_per_effective_gpu_hour::text,
        'untagged_cost', f.untagged_cost::text) AS figures
    FROM audit.audit_figure f WHERE f.audit_id = $1::int
), grouped AS (
    SELECT dimension, json_object_agg(key, figures ORDER BY key) AS figures
    FROM figure WHERE NOT (dimension = 'issue' AND key = '') GROUP BY dimension
)
SELECT json_build_object(
    'quarter', a.quarter, 'from', to_char(a.from_time, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'to', to_char(a.to_time, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
    'revision', a.revision, 'final', a.is_final, 'currency', a.currency,
    'total', (SELECT figures FROM figure WHERE dimension = 'total'),
    'priced_by_rate_card', (SELECT json_build_object('gpu_hours', q.gpu_hours::text, 'cost', q.cost::text) FROM audit.audit_quality q
                            WHERE q.audit_id = a.audit_id AND q.check_name = 'priced by rate card'),
    'without_a_price', (SELECT json_build_object('gpu_hours', q.gpu_hours::text) FROM audit.audit_quality q
                        WHERE q.audit_id = a.audit_id AND q.check_name = 'no price'),
    'draft_because', (SELECT json_agg(json_build_object('source', c.source_name, 'period', c.period, 'state', c.state, 'reason', c.reason)
                                      ORDER BY c.source_name, c.period)
                      FROM audit.audit_completeness c WHERE c.audit_id = a.audit_id AND c.in_window AND c.state IN ('open', 'missing')),
    'without_a_rate', (SELECT json_agg(json_build_object('month', g.month, 'currency', g.currency, 'billed_cost', g.billed_cost::text,
                                                         'effective_cost', g.effective_cost::text) ORDER BY g.month, g.currency)
                       FROM (SELECT month, currency, trim_scale(sum(billed_cost)) AS billed_cost, trim_scale(sum(effective_cost)) AS effective_cost
                             FROM audit.audit_gap WHERE audit_id = a.audit_id AND kind = 'rate' GROUP BY month, currency) g),
    'rates', (SELECT json_agg(json_build_object('source', r.source_name, 'month', r.month, 'currency', r.currency, 'rate', r.rate::text, 'how', r.how)
                              ORDER BY r.source_name, r.month, r.currency)
              FROM audit.audit_rate r WHERE r.audit_id = a.audit_id AND r.currency <> a.currency),
    'unknown_instance_types', (SELECT json_agg(json_build_object('provider', t.provider, 'instance_type', t.instance_type, 'gpu_count', t.gpu_count::text,
                                                                 'instance_hours', t.instance_hours::text, 'gpu_hours', t.gpu_hours::text,
                                                                 'billed_cost', t.billed_cost::text, 'effective_cost', t.effective_cost::text)
                                               ORDER BY t.provider, t.instance_type, t.gpu_count)
                               FROM audit.audit_unknown_type t WHERE t.audit_id = a.audit_id),
    'by_provider', coalesce((SELECT figures FROM grouped WHERE dimension = 'provider'), '{}'),
    'by_model', coalesce((SELECT figures FROM grouped WHERE dimension = 'model'), '{}'),
    'by_region', coalesce((SELECT figures FROM grouped WHERE dimension = 'region'), '{}'),
    'by_pricing', coalesce((SELECT figures FROM grouped WHERE dimension = 'pricing'), '{}'),
    'by_team', coalesce((SELECT figures FROM grouped WHERE dimension = 'team'), '{}'),
    'by_project', coalesce((SELECT figures FROM grouped WHERE dimension = 'project'), '{}'),
    'by_pool', coalesce((SELECT figures FROM grouped WHERE dimension = 'pool'), '{}'),
    'by_issue', coalesce((SELECT figures FROM grouped WHERE dimension = 'issue'), '{}'),
    'ledger', (SELECT json_agg(json_build_object('line', l.line, 'in_sum', l.in_sum, 'gpu_hours', l.gpu_hours::text, 'cost', l.cost::text)
                               ORDER BY l.line_no)
               FROM audit.audit_ledger l WHERE l.audit_id = a.audit_id AND l.dimension = 'total'),
    'idle_stretches', coalesce((
        SELECT json_agg(json_build_object('provider', s.provider, 'resource_id', s.resource_id, 'gpus', s.gpus,
                   'from', to_char(s.from_time, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'to', to_char(s.to_time, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                   'hours', s.hours, 'gpu_hours', s.gpu_hours::text, 'cost', s.cost::text, 'util_pct', s.util_pct, 'signal', s.signal,
                   'team', s.team, 'project', s.project) ORDER BY s.stretch_no)
        FROM audit.audit_idle_stretch s WHERE s.audit_id = a.audit_id), '[]'),
    'unbilled_telemetry', coalesce((
        SELECT json_agg(json_build_object('gpu', u.gpu_uuid, 'host', u.host, 'gpu_hours', u.gpu_hours::text) ORDER BY u.gpu_uuid)
        FROM audit.audit_unbilled u WHERE u.audit_id = a.audit_id), '[]'),
    'unobserved', coalesce((
        SELECT json_agg(json_build_object('provider', u.provider, 'resource_id', u.resource_id, 'gpu_hours', u.gpu_hours::text,
                   'cost', u.cost::text) ORDER BY u.cost DESC NULLS LAST, u.resource_id)
        FROM audit.audit_unobserved u WHERE u.audit_id = a.audit_id), '[]'),
    'invoices', coalesce((
        SELECT json_object_agg(p.provider, p.months ORDER BY p.provider)
        FROM (SELECT v.provider, json_object_agg(v.month, json_build_object('currency', v.currency, 'billed_cost', v.billed_cost::text,
                         'kept', v.kept::text, 'totalled', v.totalled::text, 'rows', v.row_count, 'rejected', v.rejected,
                         'gpu_use', v.gpu_use::text, 'gpu_corrections', v.gpu_corrections::text,
                         'commitment_purchases', v.commitment_purchases::text, 'other', v.other::text) ORDER BY v.month) AS months
              FROM (SELECT provider, string_agg(DISTINCT currency, ' ') AS currency,
                           month || coalesce(' ' || apart, '') AS month,
                           trim_scale(sum(billed_cost)) AS billed_cost, trim_scale(sum(kept)) AS kept, trim_scale(sum(totalled)) AS totalled,
                           sum(row_count) AS row_count, max(rows_rejected) AS rejected, trim_scale(sum(gpu_use)) AS gpu_use,
                           trim_scale(sum(gpu_corrections)) AS gpu_corrections,
                           trim_scale(sum(commitment_purchases)) AS commitment_purchases, trim_scale(sum(other)) AS other
                    FROM (SELECT x.*, CASE WHEN min(x.currency) OVER m <> max(x.currency) OVER m THEN x.currency END AS apart
                          FROM audit.audit_invoice x WHERE x.audit_id = a.audit_id WINDOW m AS (PARTITION BY x.provider, x.month)) i
                    -- sums are never taken across currencies: a month in two keeps them apart
                    GROUP BY provider, i.month, apart) v
              GROUP BY v.provider) p), '{}'),
    'commitments', coalesce((
        SELECT json_agg(json_build_object('provider', c.provider, 'id', c.commitment_id, 'name', c.commitment_name, 'type', c.commitment_type,
                   'category', c.category, 'bought', c.bought::text, 'used_gpu_hours', c.used_gpu_hours::text, 'used_cost', c.used_cost::text,
                   'unused_gpu_hours', c.unused_gpu_hours::text, 'unused_cost', c.unused_cost::text, 'gpu_share', c.gpu_share::text)
               ORDER BY c.provider, c.commitment_id)
        FROM audit.audit_commitment c WHERE c.audit_id = a.audit_id), '[]'),
    'assumptions', coalesce((
        SELECT json_agg(json_build_object('metric', s.metric, 'scope', CASE s.scope_kind WHEN 'all' THEN 'all' ELSE s.scope_kind || ':' || s.scope_key END,
                   'assumed', s.assumed::text, 'measured', s.measured::text, 'deviation', s.deviation::text, 'deviation_pct', s.deviation_pct,
                   'coverage_pct', s.coverage_pct, 'verdict', s.verdict, 'why', s.why) ORDER BY s.line)
        FROM audit.audit_assumption s WHERE s.audit_id = a.audit_id), '[]'),
    'recommendations', coalesce((
        SELECT json_agg(json_build_object('rule', r.rule, 'title', r.title, 'provider', r.provider, 'pool', r.pool, 'resource_id', r.resource_id,
                   'team', r.team, 'project', r.project, 'now', r.now, 'proposed', r.proposed, 'saving_low', r.saving_low::text,
                   'saving', r.saving::text, 'saving_high', r.saving_high::text, 'cost_acted_on', r.cost_acted_on::text, 'formula', r.formula,
                   'evidence_grade', r.evidence_grade, 'confidence', r.confidence, 'risk', r.risk, 'effort', r.effort, 'owner', r.owner)
               ORDER BY r.recommendation_no)
        FROM audit.recommendation r WHERE r.audit_id = a.audit_id), '[]')
    )::text
FROM audit.audit a
WHERE a.audit_id = $1::int;
