-- What is there is what was loaded before: an attempt that failed in between is over.
-- $1 slice_id.
UPDATE audit.load SET status = 'replaced' WHERE slice_id = $1::int AND status = 'failed'
