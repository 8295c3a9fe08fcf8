-- What the sources ($1, int[]) have loaded. One row per source and slice, with its newest outcome.
SELECT o.kind || ' ' || o.name AS source, s.period, count(*) FILTER (WHERE l.status = 'done') AS objects,
       coalesce(sum(l.rows_read) FILTER (WHERE l.status = 'done'), 0) AS rows_read,
       coalesce(sum(l.rows_kept) FILTER (WHERE l.status = 'done'), 0) AS kept,
       coalesce(sum(l.rows_totalled) FILTER (WHERE l.status = 'done'), 0) AS totalled,
       coalesce(sum(l.rows_rejected) FILTER (WHERE l.status = 'done'), 0) AS rejected,
       to_char(max(l.finished), 'YYYY-MM-DD HH24:MI') AS finished,
       CASE WHEN (array_agg(l.status ORDER BY l.load_id DESC))[1] = 'failed' THEN 'last load failed: ' || (array_agg(l.problem ORDER BY l.load_id DESC))[1]
            WHEN bool_or(l.status = 'done' AND NOT l.is_complete) THEN 'incomplete: ' || max(l.problem) FILTER (WHERE l.status = 'done' AND NOT l.is_complete)
            WHEN count(*) FILTER (WHERE l.status = 'done') = 0 THEN 'nothing loaded'
            ELSE 'whole' END AS state
FROM audit.load l
JOIN audit.slice s USING (slice_id)
JOIN audit.source o USING (source_id)
WHERE o.source_id = ANY ($1::int[])
GROUP BY o.kind, o.name, s.period
ORDER BY o.kind, o.name, s.period;
