-- An object passed over again is noted once.
-- $1 slice_id, $2 object.
UPDATE audit.load SET status = 'replaced' WHERE slice_id = $1::int AND object = $2 AND status = 'skipped'
