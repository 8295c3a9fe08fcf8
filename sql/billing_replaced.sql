-- A new delivery takes the place of all earlier ones of a slice.
-- $1 slice_id.
WITH gone AS (
    UPDATE audit.load SET status = 'replaced' WHERE slice_id = $1::int AND status <> 'replaced'
)
DELETE FROM audit.billing_total WHERE slice_id = $1::int
