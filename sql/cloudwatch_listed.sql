-- Notes a page of what CloudWatch lists.
-- $1 source_id, $2 JSON: [{"namespace": …, "metric": …, "dimensions": {NAME: VALUE, …}}, …]
INSERT INTO audit.cloudwatch_metric (source_id, namespace, metric, dimensions, first_listed, last_listed)
SELECT DISTINCT $1::int, m.namespace, m.metric, m.dimensions, now(), now()
FROM jsonb_to_recordset($2::jsonb) AS m(namespace text, metric text, dimensions jsonb)
ON CONFLICT (source_id, namespace, metric, dimensions) DO UPDATE SET last_listed = excluded.last_listed
