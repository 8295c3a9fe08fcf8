-- A new delivery takes the place of all earlier ones of a slice, also of failed ones.
-- $1 slice_id.
UPDATE audit.load SET status = 'replaced' WHERE slice_id = $1::int AND status <> 'replaced'
