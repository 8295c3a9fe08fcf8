-- Analysis, step 0: room for the audit's working rows, and the end of those of earlier revisions
-- (their frozen rows stay). Partitions made here and filled in the same transaction cost no log.
-- Temporary tables are filled by the steps; their sizes are guesses until they are analyzed, and a nested
-- loop over a wrong guess is the one plan that never ends. Hashes spill when they grow, and take less
-- than sorts of as many rows. Small samples tell sizes well enough. Workers would only copy rows.
SET LOCAL enable_nestloop = off;
SET LOCAL enable_mergejoin = off;
SET LOCAL enable_sort = off;
SET LOCAL default_statistics_target = 10;
SET LOCAL max_parallel_workers_per_gather = 0;
SET LOCAL jit = off;

DO $$
DECLARE
    this int := audit.this_audit();
    old record;
BEGIN
    FOR old IN
        SELECT c.oid::regclass AS name
        FROM audit.audit a
        JOIN audit.audit t ON t.audit_id = this AND t.estate = a.estate AND t.quarter = a.quarter AND a.audit_id <> this
        JOIN pg_class c ON c.relname IN ('audit_hour_a' || a.audit_id, 'audit_cell_a' || a.audit_id, 'audit_group_hour_a' || a.audit_id)
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'audit'
    LOOP
        EXECUTE format('DROP TABLE %s', old.name);
    END LOOP;
    EXECUTE format('CREATE TABLE audit.audit_hour_a%s PARTITION OF audit.audit_hour FOR VALUES IN (%s)', this, this);
    EXECUTE format('CREATE TABLE audit.audit_group_hour_a%s PARTITION OF audit.audit_group_hour FOR VALUES IN (%s)', this, this);
    EXECUTE format('CREATE TABLE audit.audit_cell_a%s PARTITION OF audit.audit_cell FOR VALUES IN (%s)', this, this);
END
$$;
