-- Hourly demand that a commitment could cover: GPU-hours billed on demand, which no existing
-- commitment covered, without the idle stretches that the rule before ends. One row per audit, pool
-- and hour of the window, hours without demand included.
CREATE VIEW audit.commitment_demand AS
SELECT p.audit_id, p.provider, p.pool, t.hour, coalesce(d.gpu_hours, 0) AS demand, d.cost
FROM (SELECT s.audit_id, s.provider, s.pool, a.from_time, a.to_time
      FROM audit.audit_subject s JOIN audit.audit a USING (audit_id)
      WHERE s.pricing = 'on-demand' GROUP BY 1, 2, 3, 4, 5) p
CROSS JOIN LATERAL generate_series(p.from_time, p.to_time - interval '1 hour', interval '1 hour') t(hour)
LEFT JOIN (
    SELECT s.audit_id, s.provider, s.pool, h.hour, sum(h.running_gpu_hours) AS gpu_hours, sum(h.effective_cost) AS cost
    FROM audit.audit_hour h
    JOIN audit.audit_subject s ON s.audit_id = h.audit_id AND s.subject_no = h.subject_no
    WHERE s.pricing = 'on-demand'
      AND NOT EXISTS (SELECT 1 FROM audit.audit_idle_stretch i
                      WHERE i.audit_id = h.audit_id AND i.provider = s.provider AND i.resource_key = s.resource_key
                        AND h.hour >= i.from_time AND h.hour < i.to_time)
    GROUP BY s.audit_id, s.provider, s.pool, h.hour
) d ON d.audit_id = p.audit_id AND d.provider = p.provider AND d.pool = p.pool AND d.hour = t.hour;
COMMENT ON VIEW audit.commitment_demand IS 'One row is the demand of a pool in an hour that a new commitment could cover';
