-- The exchange rates of a source, whole, from their stage.
DELETE FROM audit.fx_rate WHERE source_id = current_setting('gpu_audit.source_id')::int;

INSERT INTO audit.fx_rate (source_id, month, from_currency, to_currency, rate)
SELECT current_setting('gpu_audit.source_id')::int, month, from_currency, to_currency, rate
FROM stage_fx
