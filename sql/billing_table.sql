-- The statement that makes a table of the shape of a partitioned one, for one slice. Written from
-- the catalog, since CREATE TABLE … (LIKE …) would lock the partitioned table for as long as the
-- slice is being loaded. One row: the statement.
-- $1 partitioned table of schema audit, $2 name of the new one, $3 slice_id.
SELECT format('CREATE TABLE audit.%I (%s%s, CONSTRAINT %I CHECK (slice_id = %s))', $2::text,
              (SELECT string_agg(format('%I %s%s', a.attname, format_type(a.atttypid, a.atttypmod),
                                        CASE WHEN a.attnotnull THEN ' NOT NULL' END), ', ' ORDER BY a.attnum)
               FROM pg_catalog.pg_attribute a WHERE a.attrelid = p.oid AND a.attnum > 0 AND NOT a.attisdropped),
              (SELECT string_agg(format(', CONSTRAINT %I %s', c.conname, pg_get_constraintdef(c.oid)), '')
               FROM pg_catalog.pg_constraint c WHERE c.conrelid = p.oid AND c.contype = 'c'),
              'slice_' || $3::int, $3::int)
FROM pg_catalog.pg_class p JOIN pg_catalog.pg_namespace n ON n.oid = p.relnamespace
WHERE n.nspname = 'audit' AND p.relname = $1
