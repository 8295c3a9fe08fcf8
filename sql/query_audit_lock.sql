-- One analysis at a time in a database: later ones wait for the end of the transaction.
SELECT pg_advisory_xact_lock(hashtext('gpu_audit.analysis'));
