-- $1 version, $2 file, $3 SHA-256: it has been applied in this transaction.
INSERT INTO audit.migration (version, name, sha256)
VALUES ($1::int, $2, $3)
ON CONFLICT (version) DO UPDATE SET name = excluded.name, sha256 = excluded.sha256, applied = excluded.applied
