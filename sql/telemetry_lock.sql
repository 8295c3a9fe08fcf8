-- Keeps another command from loading the same slice until this transaction ends.
-- $1 slice_id.
SELECT slice_id FROM audit.slice WHERE slice_id = $1::int FOR UPDATE
