-- The pods of a slice: those whose row measures accelerators, and those on a machine with GPUs.
-- A pod's ARN ends in cluster/namespace/pod/uid, a task's in task/cluster/id.
-- $1 slice_id, $2 billing period.
INSERT INTO audit.pod_share (slice_id, parent_key, cluster, namespace, pod, resource_id, is_accelerator, share_from, share_to, usage,
                             split_cost, unused_cost)
SELECT $1::int, p.parent_key, coalesce(a.of[1], t.of[1]), a.of[2], coalesce(a.of[3], t.of[2]), p.resource_id, p.is_accelerator, p.share_from,
       p.share_to, p.usage, p.split_cost, p.unused_cost
FROM stage_pod p
LEFT JOIN LATERAL regexp_match(p.resource_id, ':pod/([^/]+)/([^/]+)/([^/]+)(?:/[^/]*)?$') a(of) ON true
LEFT JOIN LATERAL regexp_match(p.resource_id, ':task/([^/]+)/([^/]+)$') t(of) ON true
WHERE p.period = $2
  AND (p.is_accelerator OR p.is_gpu
       OR p.parent_key IN (SELECT i.resource_key FROM audit.billing_item i WHERE i.slice_id = $1::int AND i.role IN ('gpu_use', 'gpu_money')))
