-- Every figure of every scope of an audit ($1). One row per scope.
SELECT * FROM audit.audit_figure WHERE audit_id = $1::int
ORDER BY array_position(ARRAY['total', 'provider', 'model', 'region', 'pricing', 'team', 'project', 'pool', 'issue'], dimension), key;
