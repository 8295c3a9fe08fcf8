-- The staged jobs into the month of a slice, a row for each host.
-- $1 slice_id, $2 from, $3 to of the month (unix seconds).
INSERT INTO audit.allocation (
    slice_id, cluster, job_id, job_key, array_job_id, array_task, het_job_id, het_offset, host, from_time, to_time, job_from,
    job_to, gpus, job_gpus, job_hosts, gpu_type, gpu_source, placement, confidence, node_list, partition, qos, account,
    user_name, job_name, comment, project_hint, issue_hint, submit_time, eligible_time, is_job_start, queue_wait_seconds,
    suspended_seconds, restarts, end_state, gpu_util_pct, gpu_memory_pct, use_source)
SELECT $1::int, s.cluster, s.job_id, s.job_key, s.array_job_id, s.array_task, s.het_job_id, s.het_offset, h.host,
       greatest(s.from_time, to_timestamp($2::bigint)), least(s.to_time, to_timestamp($3::bigint)), s.from_time, s.job_to,
       CASE WHEN h.host IS NULL THEN s.gpus ELSE s.host_gpus END, s.gpus, s.host_count, s.gpu_type, s.gpu_source, s.placement,
       s.confidence, CASE WHEN s.placement = 'unknown' THEN s.node_list END, s.partition, s.qos, s.account, s.user_name,
       s.job_name, s.comment, s.project_hint, s.issue_hint, s.submit_time, s.eligible_time,
       h.host_no = 1 AND s.from_time >= to_timestamp($2::bigint), s.queue_wait_seconds, s.suspended_seconds, s.restarts,
       s.end_state, s.gpu_util_pct, s.gpu_memory_pct, s.use_source
FROM stage_allocation s
CROSS JOIN LATERAL unnest(CASE WHEN s.placement = 'unknown' THEN ARRAY[NULL::text] ELSE string_to_array(s.hosts, ',') END)
    WITH ORDINALITY h (host, host_no)
WHERE NOT s.is_repeated AND s.from_time < to_timestamp($3::bigint) AND s.to_time > to_timestamp($2::bigint)
