-- Which objects a slice was loaded from, by the same version of the program.
-- $1 slice_id, $2 program version. One row per object, in the order they were read.
SELECT object, CASE WHEN program_version = $2 THEN sha256 END AS sha256
FROM audit.load
WHERE slice_id = $1::int AND status = 'done'
ORDER BY load_id
