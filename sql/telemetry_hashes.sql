-- Hashes of what a slice was loaded from by this version of the program.
-- $1 slice_id, $2 program version. One row per object: sha256 in order; NULL where it must be read again.
SELECT CASE WHEN program_version = $2 AND is_complete THEN sha256 END AS sha256
FROM audit.load
WHERE slice_id = $1::int AND status = 'done'
ORDER BY sha256
