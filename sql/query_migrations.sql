-- What was applied to this database: one row per migration, and version 0 for all views together.
SELECT version, sha256
FROM audit.migration
ORDER BY version
