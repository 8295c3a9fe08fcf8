-- Analysis, step 4b: who held the GPUs, where a scheduler says so. Without one every table here stays empty.
--   run_scheduler  months of schedulers that are whole, and until when they tell
--   run_node       host names -> resource, by whole hours
--   run_held_host  host as a scheduler names it -> host of run_node
--   run_allocation what jobs held of a resource's host, within the window
--   run_told       hosts and hours that a scheduler knows
--   run_held       a resource in an hour that is known: GPU-hours held
--   run_held_use   a subject in such an hour: held and not held, busy and idle
-- A GPU that the scheduler names is held itself. Where it names a host only, k of its n GPUs: the busy ones
-- first, since nobody but a job runs anything there; what is left of k lies on idle and unmeasured ones alike.

CREATE TEMP TABLE run_scheduler ON COMMIT DROP AS
SELECT l.slice_id, l.source_id, l.name, l.from_time,
       CASE WHEN bool_or(d.to_time IS NULL) THEN l.to_time ELSE least(l.to_time, max(d.to_time)) END AS to_time
FROM run_slice l
JOIN audit.load d ON d.slice_id = l.slice_id AND d.status = 'done'
WHERE l.kind = 'scheduler'
GROUP BY l.slice_id, l.source_id, l.name, l.from_time, l.to_time
-- of a month that is not whole, nobody knows what was not held
HAVING bool_and(d.is_complete);

ANALYZE run_scheduler;

-- Hosts: as the mapping file says, else as telemetry reported them beside an instance id, else as the inventory says.
-- A name that was two resources at a time says nothing.
CREATE TEMP TABLE run_node ON COMMIT DROP AS
WITH reported AS (
    SELECT DISTINCT lower(s.host) AS host, p.resource_no, greatest(p.from_hour, l.from_time) AS from_hour, least(p.to_hour, l.to_time) AS to_hour
    FROM run_series s
    JOIN run_span p USING (slice_id, series_no)
    JOIN run_slice l USING (slice_id)
    WHERE s.host IS NOT NULL AND lower(s.host) NOT IN (SELECT host FROM run_host)
), named AS (
    SELECT host, resource_no, from_hour, to_hour FROM run_host
    UNION
    SELECT host, resource_no, from_hour, to_hour FROM reported
    UNION
    SELECT lower(o.host), r.resource_no, date_trunc('hour', o.in_service_from),
           date_trunc('hour', o.in_service_to - interval '1 microsecond') + interval '1 hour'
    FROM audit.owned_gpu o
    JOIN run_slice l ON l.source_id = o.source_id
    JOIN run_resource r ON r.provider = 'on-prem' AND r.resource_key = lower(o.asset)
    WHERE o.host IS NOT NULL AND lower(o.host) NOT IN (SELECT host FROM run_host) AND lower(o.host) NOT IN (SELECT host FROM reported)
), checked AS (
    SELECT *, lag(resource_no) OVER w IS DISTINCT FROM resource_no AND lag(to_hour) OVER w > from_hour AS is_doubtful
    FROM named WHERE from_hour < to_hour
    WINDOW w AS (PARTITION BY host ORDER BY from_hour, to_hour)
)
SELECT host, resource_no, from_hour, to_hour
FROM checked
WHERE EXISTS (SELECT FROM run_scheduler) AND resource_no IS NOT NULL AND host NOT IN (SELECT host FROM checked WHERE is_doubtful);

ANALYZE run_node;

-- A scheduler may write gpu01 where telemetry writes gpu01.example.org: they are one where nothing else could be meant.
CREATE TEMP TABLE run_held_host ON COMMIT DROP AS
WITH told AS (
    SELECT DISTINCT lower(a.host) AS host FROM audit.allocation a
    WHERE a.slice_id = ANY (ARRAY(SELECT slice_id FROM run_scheduler)) AND a.host IS NOT NULL
), node AS (
    SELECT DISTINCT host FROM run_node
), near AS (
    SELECT t.host, min(n.host) AS node, count(*) AS nodes
    FROM told t
    JOIN node n ON split_part(n.host, '.', 1) = split_part(t.host, '.', 1) AND (strpos(n.host, '.') = 0 OR strpos(t.host, '.') = 0)
    WHERE t.host !~ '^[0-9.]+$' AND n.host !~ '^[0-9.]+$'
      AND t.host NOT IN (SELECT host FROM node) AND n.host NOT IN (SELECT host FROM told)
    GROUP BY t.host
)
SELECT host, host AS node FROM told WHERE host IN (SELECT host FROM node)
UNION ALL
SELECT host, node FROM (SELECT *, count(*) OVER (PARTITION BY node) AS hosts FROM near WHERE nodes = 1) n WHERE hosts = 1;

ANALYZE run_held_host;

CREATE TEMP TABLE run_allocation ON COMMIT DROP AS
SELECT n.resource_no, h.node AS host, a.gpu_uuid, a.gpus, greatest(a.from_time, n.from_hour, run.from_time) AS from_time,
       least(a.to_time, n.to_hour, run.to_time) AS to_time, a.account, a.user_name, a.project_hint, a.issue_hint
FROM audit.allocation a
JOIN run_held_host h ON h.host = lower(a.host)
JOIN run_node n ON n.host = h.node
CROSS JOIN run
WHERE a.slice_id = ANY (ARRAY(SELECT slice_id FROM run_scheduler))
  AND greatest(a.from_time, n.from_hour, run.from_time) < least(a.to_time, n.to_hour, run.to_time);

ANALYZE run_allocation;

-- A scheduler knows a host from its first allocation of it to the last, in months that are whole; hosts of its section
-- (covers) it knows for all of those months.
CREATE TEMP TABLE run_told ON COMMIT DROP AS
WITH bound AS (
    SELECT l.source_id, h.node AS host, min(a.from_time) AS first_time, max(a.to_time) AS last_time
    FROM audit.allocation a
    JOIN run_slice l USING (slice_id)
    JOIN run_held_host h ON h.host = lower(a.host)
    WHERE a.slice_id = ANY (ARRAY(SELECT slice_id FROM run_slice WHERE kind = 'scheduler'))
    GROUP BY l.source_id, h.node
), pattern AS (
    SELECT s.source_id, replace(replace(replace(replace(lower(btrim(p.host)), '\', '\\'), '%', '\%'), '_', '\_'), '*', '%') AS host
    FROM (SELECT DISTINCT source_id, name FROM run_scheduler) s
    JOIN audit.audit_setting t ON t.audit_id = audit.this_audit() AND t.key = 'covers/' || s.name
    CROSS JOIN LATERAL string_to_table(t.value, ',') p(host)
    WHERE btrim(p.host) <> ''
), covered AS (
    SELECT source_id, host, first_time, last_time FROM bound
    UNION ALL
    SELECT p.source_id, n.host, '-infinity', 'infinity'
    FROM pattern p JOIN (SELECT DISTINCT host FROM run_node) n ON n.host LIKE p.host OR split_part(n.host, '.', 1) LIKE p.host
), span AS (
    SELECT n.resource_no, c.host, date_trunc('hour', greatest(c.first_time, s.from_time, n.from_hour, run.from_time)) AS from_hour,
           least(c.last_time, s.to_time, n.to_hour, run.to_time) AS to_time
    FROM covered c
    JOIN run_scheduler s USING (source_id)
    JOIN run_node n ON n.host = c.host
    CROSS JOIN run
    WHERE greatest(c.first_time, s.from_time, n.from_hour, run.from_time) < least(c.last_time, s.to_time, n.to_hour, run.to_time)
)
SELECT DISTINCT p.resource_no, p.host, h.hour
FROM span p
CROSS JOIN LATERAL generate_series(p.from_hour, p.to_time - interval '1 microsecond', interval '1 hour') h(hour);

-- Jobs that held a share of unknown size, or GPUs on hosts that nobody tells apart: of those hosts and hours nothing is
-- known. A list of nodes is read generously: gpu[1-4] is every host gpu and a number. No list is every host.
CREATE TEMP TABLE run_doubt ON COMMIT DROP AS
WITH vague AS (
    SELECT lower(a.host) AS host, a.from_time, a.to_time,
           CASE WHEN a.node_list IS NULL THEN ''
                ELSE '^(' || replace(replace(regexp_replace(regexp_replace(lower(a.node_list), '\[[^]]*\]', chr(1), 'g'),
                                                            '([^a-z0-9_,' || chr(1) || '-])', '\\\1', 'g'), chr(1), '[0-9]+'), ',', '|') || ')$' END AS nodes
    FROM audit.allocation a
    WHERE a.slice_id = ANY (ARRAY(SELECT slice_id FROM run_scheduler)) AND (a.host IS NULL OR a.gpus IS NULL)
), target AS (
    SELECT host, node FROM run_held_host
    UNION
    SELECT host, host FROM run_told WHERE host NOT IN (SELECT node FROM run_held_host)
), list AS (
    SELECT v.nodes, t.node
    FROM (SELECT DISTINCT nodes FROM vague WHERE host IS NULL) v
    JOIN target t ON t.host ~ v.nodes OR split_part(t.host, '.', 1) ~ v.nodes
), node AS (
    SELECT v.from_time, v.to_time, t.node FROM vague v JOIN target t USING (host)
    UNION ALL
    SELECT v.from_time, v.to_time, l.node FROM vague v JOIN list l USING (nodes) WHERE v.host IS NULL
)
SELECT DISTINCT n.resource_no, h.hour
FROM node d
JOIN run_node n ON n.host = d.node
CROSS JOIN run
CROSS JOIN LATERAL generate_series(date_trunc('hour', greatest(d.from_time, n.from_hour, run.from_time)),
                                   least(d.to_time, n.to_hour, run.to_time) - interval '1 microsecond', interval '1 hour') h(hour);

ANALYZE run_told, run_doubt;

-- At no time are more GPUs held than there are: pods that share one GPU hold one GPU.
CREATE TEMP TABLE run_held_part ON COMMIT DROP AS
WITH part AS (
    SELECT a.resource_no, a.host, a.gpu_uuid, h.hour, greatest(a.from_time, h.hour) AS from_time,
           least(a.to_time, h.hour + interval '1 hour') AS to_time, a.gpus
    FROM run_allocation a
    CROSS JOIN LATERAL generate_series(date_trunc('hour', a.from_time), a.to_time - interval '1 microsecond', interval '1 hour') h(hour)
), event AS (
    SELECT p.resource_no, p.host, p.gpu_uuid, p.hour, e.at, sum(e.gpus) AS gpus
    FROM part p CROSS JOIN LATERAL (VALUES (p.from_time, p.gpus), (p.to_time, -p.gpus)) e(at, gpus)
    GROUP BY p.resource_no, p.host, p.gpu_uuid, p.hour, e.at
), level AS (
    SELECT resource_no, host, gpu_uuid, hour, sum(gpus) OVER w AS gpus, extract(epoch FROM lead(at) OVER w - at) AS seconds
    FROM event
    WINDOW w AS (PARTITION BY resource_no, host, gpu_uuid, hour ORDER BY at)
), machine AS (
    SELECT i.resource_no, max(i.gpus) AS gpus, max(i.gpus / i.chips) AS gpu FROM run_item i GROUP BY i.resource_no
)
SELECT l.resource_no, l.host, l.gpu_uuid, l.hour,
       sum(least(l.gpus, CASE WHEN l.gpu_uuid IS NULL THEN m.gpus ELSE m.gpu END) * l.seconds) / 3600 AS gpu_hours
FROM level l
JOIN machine m USING (resource_no)
GROUP BY l.resource_no, l.host, l.gpu_uuid, l.hour;

ANALYZE run_held_part;

-- The GPUs that a scheduler names, by what they did.
CREATE TEMP TABLE run_held ON COMMIT DROP AS
WITH known AS (
    SELECT t.resource_no, t.hour, count(*) AS hosts
    FROM run_told t
    WHERE NOT EXISTS (SELECT FROM run_doubt d WHERE d.resource_no = t.resource_no AND d.hour = t.hour)
    GROUP BY t.resource_no, t.hour
), supply AS (
    SELECT t.resource_no, t.hour, sum(t.running_gpu_hours) AS running, max(t.chips) AS chips, max(t.machines) AS machines, k.hosts
    FROM known k
    JOIN run_total t USING (resource_no, hour)
    WHERE t.is_running AND EXISTS (SELECT FROM run_told)
    GROUP BY t.resource_no, t.hour, k.hosts
    -- machines under one id are known when each of them is
    HAVING count(*) = count(t.running_gpu_hours) AND max(t.machines) <= k.hosts
), held AS (
    SELECT s.resource_no, s.hour, sum(p.gpu_hours) FILTER (WHERE p.gpu_uuid IS NULL) AS anywhere,
           sum(least(p.gpu_hours, s.running / s.chips)) FILTER (WHERE c.util_samples > 0 AND NOT c.is_idle) AS busy,
           sum(least(p.gpu_hours, s.running / s.chips)) FILTER (WHERE c.util_samples > 0 AND c.is_idle) AS idle,
           sum(least(p.gpu_hours, s.running / s.chips)) FILTER (WHERE p.gpu_uuid IS NOT NULL AND c.util_samples > 0 IS NOT TRUE) AS dark
    FROM supply s
    JOIN run_held_part p USING (resource_no, hour)
    LEFT JOIN (SELECT g.gpu_uuid, c.resource_no, c.hour, c.util_samples,
                      c.util_sum < (SELECT idle_threshold_pct::float8 * 28000000 FROM run) * c.util_samples AS is_idle
               FROM run_cell c
               JOIN run_gpu g USING (gpu_no)
               WHERE g.gpu_uuid IN (SELECT gpu_uuid FROM run_held_part)) c
        ON c.gpu_uuid = p.gpu_uuid AND c.resource_no = p.resource_no AND c.hour = p.hour
    GROUP BY s.resource_no, s.hour
)
SELECT s.resource_no, s.hour, s.running, round(coalesce(h.anywhere, 0), 9) AS anywhere, round(coalesce(h.busy, 0), 9) AS busy,
       round(coalesce(h.idle, 0), 9) AS idle, round(coalesce(h.dark, 0), 9) AS dark
FROM supply s
LEFT JOIN held h USING (resource_no, hour);

ANALYZE run_held;

-- What is held of a resource's hour goes to its subjects by their share of it. A part that is held whole is the part itself,
-- every digit; another is rounded to 12 decimals, and the rest is what is left, so that the parts add up.
CREATE TEMP TABLE run_held_use ON COMMIT DROP AS
WITH subject AS (
    SELECT h.subject_no, k.resource_no, h.hour, h.chips, h.covered_chips, h.idle_chips, h.running_gpu_hours AS running, h.effective_cost AS cost,
           audit.cell_share(h.running_gpu_hours, h.covered_chips - h.idle_chips, h.chips) AS busy,
           audit.cell_share(h.running_gpu_hours, h.idle_chips, h.chips) AS idle,
           audit.cell_share(h.effective_cost, h.idle_chips, h.chips) AS idle_cost, k.running AS all_running, k.anywhere,
           k.busy AS named_busy, k.idle AS named_idle, k.dark AS named_dark
    FROM run_held k
    JOIN run_total t ON t.resource_no = k.resource_no AND t.hour = k.hour AND t.is_running
    JOIN audit.audit_hour h ON h.audit_id = audit.this_audit() AND h.subject_no = t.subject_no AND h.hour = t.hour
    WHERE EXISTS (SELECT FROM run_held)
), mine AS (
    SELECT *, greatest(0, running - busy - idle) AS dark, CASE WHEN running = all_running THEN 1 ELSE running / nullif(all_running, 0) END AS share
    FROM subject
), named AS (
    SELECT *, least(busy, round(named_busy * share, 12)) AS n_busy, least(idle, round(named_idle * share, 12)) AS n_idle,
           least(dark, round(named_dark * share, 12)) AS n_dark, round(anywhere * share, 12) AS held
    FROM mine
), filled AS (
    SELECT *, least(held, busy - n_busy) AS a_busy, least(held - least(held, busy - n_busy), idle - n_idle + dark - n_dark) AS rest
    FROM named
), split AS (
    SELECT *, n_busy + a_busy AS busy_held,
           n_idle + CASE WHEN dark = n_dark OR rest = idle - n_idle + dark - n_dark THEN least(rest, idle - n_idle)
                         ELSE round(rest * (idle - n_idle) / (idle - n_idle + dark - n_dark), 12) END AS idle_held,
           n_busy + a_busy + n_idle + n_dark + rest AS allocated
    FROM filled
)
SELECT subject_no, resource_no, hour, running, busy + idle AS covered, allocated, busy_held, idle_held, idle - idle_held AS idle_free, cost,
       CASE WHEN allocated = running THEN cost ELSE round(cost * allocated / nullif(running, 0), 12) END AS allocated_cost,
       idle_cost, CASE WHEN idle_held = idle THEN idle_cost ELSE round(cost * idle_held / nullif(running, 0), 12) END AS idle_held_cost
FROM split;

ANALYZE run_held_use;

INSERT INTO audit.audit_held
SELECT audit.this_audit(), subject_no, trim_scale(sum(running)), trim_scale(sum(covered)), trim_scale(sum(allocated)), trim_scale(sum(busy_held)),
       trim_scale(sum(idle_held)), trim_scale(sum(idle_free)), trim_scale(sum(allocated_cost)), trim_scale(sum(cost - allocated_cost)),
       trim_scale(sum(idle_held_cost)), trim_scale(sum(idle_cost - idle_held_cost))
FROM run_held_use
GROUP BY subject_no;

-- Whose it was. What jobs held in an hour follows GPUs x seconds where more were asked of a GPU than it has.
INSERT INTO audit.audit_holder
WITH part AS (
    SELECT a.resource_no, h.hour, a.account, a.user_name, a.project_hint, upper(a.issue_hint) AS issue_key,
           sum(a.gpus * extract(epoch FROM least(a.to_time, h.hour + interval '1 hour') - greatest(a.from_time, h.hour))) AS weight
    FROM run_allocation a
    CROSS JOIN LATERAL generate_series(date_trunc('hour', a.from_time), a.to_time - interval '1 microsecond', interval '1 hour') h(hour)
    GROUP BY a.resource_no, h.hour, a.account, a.user_name, a.project_hint, upper(a.issue_hint)
), share AS (
    SELECT u.subject_no, u.allocated, u.allocated_cost, p.account, p.user_name, p.project_hint, p.issue_key, p.weight,
           sum(p.weight) OVER w AS upto, sum(p.weight) OVER (PARTITION BY u.subject_no, u.hour) AS whole
    FROM run_held_use u
    JOIN part p USING (resource_no, hour)
    WHERE u.allocated > 0
    WINDOW w AS (PARTITION BY u.subject_no, u.hour ORDER BY p.account, p.user_name, p.project_hint, p.issue_key)
), holder AS (
    SELECT subject_no, account, user_name, project_hint, issue_key,
           sum(audit.running_share(allocated, upto, whole) - audit.running_share(allocated, upto - weight, whole)) AS gpu_hours,
           sum(audit.running_share(allocated_cost, upto, whole) - audit.running_share(allocated_cost, upto - weight, whole)) AS cost
    FROM share
    GROUP BY subject_no, account, user_name, project_hint, issue_key
), owner AS (
    SELECT h.*, coalesce(it.name, i.team, t.name, '') AS team,
           coalesce(p.name, nullif(btrim(left(h.project_hint, 500)), ''), ip.name, i.project, a.name, '') AS project
    FROM holder h
    LEFT JOIN run_issue i ON i.issue_key = h.issue_key
    LEFT JOIN run_spelling it ON it.kind = 'team' AND it.name_key = lower(i.team)
    LEFT JOIN run_spelling ip ON ip.kind = 'project' AND ip.name_key = lower(i.project)
    LEFT JOIN run_spelling t ON t.kind = 'team' AND t.name_key = lower(btrim(h.account)) AND t.name <> ''
    LEFT JOIN run_spelling p ON p.kind = 'project' AND p.name_key = lower(btrim(h.project_hint)) AND p.name <> ''
    LEFT JOIN run_spelling a ON a.kind = 'project' AND a.name_key = lower(btrim(h.account)) AND a.name <> ''
)
SELECT audit.this_audit(), s.pool, s.model, 'held', o.account, o.user_name, o.team, o.project, trim_scale(sum(o.gpu_hours)), trim_scale(sum(o.cost))
FROM owner o
JOIN audit.audit_subject s ON s.audit_id = audit.this_audit() AND s.subject_no = o.subject_no
GROUP BY s.pool, s.model, o.account, o.user_name, o.team, o.project
UNION ALL
SELECT s.audit_id, s.pool, s.model, 'unallocated', NULL, NULL, '', '', trim_scale(sum(h.known_gpu_hours - h.allocated_gpu_hours)), trim_scale(sum(h.unallocated_cost))
FROM audit.audit_held h
JOIN audit.audit_subject s USING (audit_id, subject_no)
WHERE h.audit_id = audit.this_audit()
GROUP BY s.audit_id, s.pool, s.model
HAVING sum(h.known_gpu_hours - h.allocated_gpu_hours) > 0
UNION ALL
SELECT s.audit_id, s.pool, s.model, 'allocation unknown', NULL, NULL, '', '', trim_scale(sum(u.running_gpu_hours - coalesce(h.known_gpu_hours, 0))),
       trim_scale(sum(u.effective_cost - coalesce(h.allocated_cost + h.unallocated_cost, 0)))
FROM audit.audit_use u
JOIN audit.audit_subject s USING (audit_id, subject_no)
LEFT JOIN audit.audit_held h USING (audit_id, subject_no)
WHERE u.audit_id = audit.this_audit() AND EXISTS (SELECT FROM run_scheduler)
GROUP BY s.audit_id, s.pool, s.model
HAVING count(*) > count(u.running_gpu_hours) OR sum(u.running_gpu_hours - coalesce(h.known_gpu_hours, 0)) > 0;

ANALYZE audit.audit_held;
