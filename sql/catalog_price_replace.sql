-- The prices of a source, whole, from their stage. A price without a day is older than any with one.
-- Of two sources that give the same price of one origin the one loaded last wins.
DELETE FROM audit.price WHERE source_id = current_setting('gpu_audit.source_id')::int;

INSERT INTO audit.price (source_id, origin, provider, region, instance_type, pricing, usd_per_hour, as_of, note)
SELECT current_setting('gpu_audit.source_id')::int, current_setting('gpu_audit.origin'), provider, region, instance_type,
       replace(lower(pricing), '_', '-'), usd_per_hour, coalesce(as_of, '-infinity'), note
FROM stage_price
ON CONFLICT (provider, region, instance_type, pricing, as_of, source_id) DO UPDATE SET
    source_id = excluded.source_id, usd_per_hour = excluded.usd_per_hour, note = excluded.note
