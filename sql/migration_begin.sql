-- Where migrations are written down. Runs before any migration, and again without harm.
CREATE SCHEMA IF NOT EXISTS audit;
CREATE TABLE IF NOT EXISTS audit.migration (
    version  int PRIMARY KEY,
    name     text NOT NULL,
    sha256   text NOT NULL,
    applied  timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE audit.migration IS 'One row is a migration that was applied to this database; version 0 stands for all views';
COMMENT ON COLUMN audit.migration.version IS 'number at the start of the file''s name';
COMMENT ON COLUMN audit.migration.name IS 'file of the migration';
COMMENT ON COLUMN audit.migration.sha256 IS 'hash of the file as it was applied; a released migration is never changed';
COMMENT ON COLUMN audit.migration.applied IS 'when';
