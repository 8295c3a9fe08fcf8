-- A new delivery takes the place of the pods of the one before.
-- $1 slice_id.
DELETE FROM audit.pod_share WHERE slice_id = $1::int
