-- What an audit of these sources and this window would read, and whether it is there already. One row.
-- $1 source ids (int[]), $2 from, $3 to, $4 name of the window, $5 settings (jsonb object of texts),
-- $6 program version, $7 report currency, $8 now
-- is_final: the window ended two weeks ago, and no bill of it is open or missing. The session knows now, window and sources (query_as_of.sql).
WITH input AS (
    SELECT l.slice_id, l.object, coalesce(l.sha256, '') AS sha256, l.rows_read, l.rows_kept, l.is_complete, o.kind, o.name,
           o.kind = 'inventory' AND l.rows_kept > 0 OR o.kind = 'billing' AND s.from_time < $3::timestamptz AS is_supply
    FROM audit.load l
    JOIN audit.slice s USING (slice_id)
    JOIN audit.source o USING (source_id)
    WHERE o.source_id = ANY ($1::int[]) AND l.status = 'done'
      AND (s.from_time IS NULL OR s.to_time > $2::timestamptz AND (o.kind = 'billing' OR s.from_time < $3::timestamptz))
), catalog AS (
    SELECT md5(string_agg(t::text, chr(10) ORDER BY t::text)) AS md5
    FROM (SELECT t::text FROM audit.instance_type t WHERE t.origin = 'shipped'
          UNION ALL SELECT m::text FROM audit.gpu_model m WHERE m.origin = 'shipped') t
), draft AS (
    SELECT $8::timestamptz >= $3::timestamptz + interval '14 days' AND count(*) = 0 AS is_final,
           -- a period that is closed meanwhile makes a new revision, though nothing was loaded
           md5(coalesce(string_agg(c.source_id || c.period || c.state, ',' ORDER BY c.source_id, c.period), '')) AS md5
    FROM audit.billing_completeness c
    WHERE c.source_id = ANY ($1::int[]) AND c.in_window AND c.state IN ('open', 'missing')
), hash AS (
    SELECT encode(sha256(convert_to(concat_ws('|', $2::timestamptz::text, $3::timestamptz::text, $4::text, $5::jsonb::text, $6::text, $7::text,
               (SELECT is_final FROM draft), (SELECT md5 FROM draft), (SELECT md5 FROM catalog),
               -- the same files mean something else by another map, rate card or cost
               (SELECT string_agg(m.fingerprint, ',' ORDER BY m.source_id) FROM audit.billing_map m
                WHERE m.source_id = ANY ($1::int[]) AND m.fingerprint <> ''),
               (SELECT string_agg(concat_ws(',', slice_id, object, sha256, rows_read, rows_kept, is_complete), ';'
                                  ORDER BY slice_id, object, sha256) FROM input)), 'UTF8')), 'hex') AS inputs,
           left(md5((SELECT string_agg(concat_ws('|', kind, name, format, location), ';' ORDER BY kind, name, format, location)
                     FROM audit.source WHERE source_id = ANY ($1::int[]))), 12) AS estate
)
SELECT h.inputs, h.estate, (SELECT count(*) FROM input WHERE is_supply) AS supply_loads,
       coalesce(a.revision, 0) + 1 AS next_revision, CASE WHEN a.inputs_sha256 = h.inputs THEN a.audit_id END AS same_audit,
       (SELECT is_final FROM draft) AS is_final
FROM hash h
LEFT JOIN LATERAL (SELECT * FROM audit.audit a WHERE a.estate = h.estate AND a.quarter = $4::text
                   ORDER BY a.revision DESC LIMIT 1) a ON true;
