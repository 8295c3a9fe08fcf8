-- Records of each object that a month was loaded from.
-- $1 from, $2 to of the month (unix seconds). One row per object: object_no, kept, repeated.
SELECT object_no, count(*) FILTER (WHERE NOT is_repeated), count(*) FILTER (WHERE is_repeated)
FROM stage_allocation
WHERE from_time < to_timestamp($2::bigint) AND to_time > to_timestamp($1::bigint)
GROUP BY object_no
