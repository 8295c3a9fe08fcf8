-- Whether metrics were listed for the first time after a part of a slice was loaded: it may miss them.
-- $1 slice_id, $2 from, $3 to (unix seconds). A row when it does.
SELECT m.metric
FROM audit.load l
JOIN audit.slice s USING (slice_id)
JOIN audit.cloudwatch_metric m USING (source_id)
WHERE l.slice_id = $1::int AND l.status = 'done' AND l.from_time = to_timestamp($2::bigint)
  AND l.to_time = to_timestamp($3::bigint) AND m.first_listed > l.finished
LIMIT 1
