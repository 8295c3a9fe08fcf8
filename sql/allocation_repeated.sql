-- Several records of one run of a job (two deliveries that overlap, a snapshot of a running job and
-- its end): the one that knows the end stands, else the latest.
UPDATE stage_allocation s SET is_repeated = true
FROM (
    SELECT ctid, row_number() OVER (PARTITION BY cluster, job_key, from_time
                                    ORDER BY job_to IS NULL, to_time DESC, object_no DESC, line DESC) AS place
    FROM stage_allocation) p
WHERE s.ctid = p.ctid AND p.place > 1
