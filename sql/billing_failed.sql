-- One failed load per slice and object is kept, the latest.
-- $1 slice_id, $2 object.
UPDATE audit.load SET status = 'replaced' WHERE slice_id = $1::int AND object = $2 AND status = 'failed'
