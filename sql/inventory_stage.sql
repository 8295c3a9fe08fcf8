-- Where the rows of an inventory wait to be checked. Gone with the transaction.
CREATE TEMP TABLE IF NOT EXISTS stage_inventory (
    file_no int, line bigint, record text,
    asset text, host text, gpu_model text, gpu_count numeric, gpu_uuids text, site text, pool text, team text,
    project text, issue text, in_service_from timestamptz, in_service_to timestamptz, cost_per_hour numeric,
    given_currency text, capex numeric, life_years numeric, power_w numeric, power_price_per_kwh numeric,
    staff_per_year numeric, other_per_year numeric, currency text
) ON COMMIT DROP
