-- The inventory of a source, whole, from its stage.
-- An empty in_service_to is open: the year 9999. Where cost_per_hour is empty it follows from what
-- the machine cost, per hour of a year of 8,766 hours:
--     (capex / life_years + staff_per_year + other_per_year) / 8766 + power_w / 1000 * power_price_per_kwh
-- capex and life_years must be given; staff, other and power are left out where empty, but power
-- without its price leaves the cost unknown.
DELETE FROM audit.owned_gpu WHERE source_id = current_setting('gpu_audit.source_id')::int;

INSERT INTO audit.owned_gpu (source_id, line, asset, host, gpu_model, gpu_count, gpu_uuids, site, pool, team, project, issue,
                             in_service_from, in_service_to, cost_per_hour, currency)
SELECT current_setting('gpu_audit.source_id')::int,
       (row_number() OVER (ORDER BY file_no, line))::int,
       asset, host, gpu_model, gpu_count,
       CASE WHEN gpu_uuids IS NULL THEN '{}' ELSE regexp_split_to_array(gpu_uuids, '[[:space:];,]+') END,
       site, pool, team, project, issue,
       in_service_from, coalesce(in_service_to, '9999-01-01Z'),
       coalesce(cost_per_hour,
                round((capex / life_years + coalesce(staff_per_year, 0) + coalesce(other_per_year, 0)) / 8766
                      + CASE WHEN power_w IS NULL THEN 0 ELSE power_w / 1000 * power_price_per_kwh END, 10)),
       currency
FROM stage_inventory
