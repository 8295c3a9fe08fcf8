-- Takes issues out of the stage that stand there again in a later state: the index of a tracker moves
-- while it is paged. One row per object with repeats: file_no, how many.
WITH gone AS (
    DELETE FROM stage_issue
    WHERE seq NOT IN (SELECT DISTINCT ON (key) seq FROM stage_issue ORDER BY key, updated DESC NULLS LAST, seq DESC)
    RETURNING file_no
)
SELECT file_no, count(*) FROM gone GROUP BY file_no
