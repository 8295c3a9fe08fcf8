-- Holds off another command that loads the same source, until the end of the transaction.
-- $1 source_id.
SELECT source_id FROM audit.source WHERE source_id = $1::int FOR NO KEY UPDATE
