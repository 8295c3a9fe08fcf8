-- An object that was read well is no failure any more, whichever slice it failed in; nor is a member
-- of it, where it is a zip file.
-- $1 source_id, $2 object.
UPDATE audit.load l SET status = 'replaced'
FROM audit.slice sl
WHERE sl.slice_id = l.slice_id AND sl.source_id = $1::int AND (l.object = $2 OR starts_with(l.object, $2::text || '/'))
  AND l.status = 'failed'
