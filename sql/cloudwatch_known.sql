-- Every metric that CloudWatch ever listed of a source, in a fixed order.
-- $1 source_id. One row each: namespace, metric, dimensions (JSON), last_listed (unix seconds).
SELECT namespace, metric, dimensions::text, floor(extract(epoch FROM last_listed))::bigint
FROM audit.cloudwatch_metric
WHERE source_id = $1::int
ORDER BY namespace, metric, dimensions::text COLLATE "C"
