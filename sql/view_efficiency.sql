-- Which GPUs were held back, or full or loud with nothing done, when, and what did it cost? One row per audit, GPU,
-- kind and stretch. Kinds overlap: never add them up.
CREATE VIEW audit.efficiency AS
SELECT e.audit_id, e.kind, e.gpu_uuid, e.host, e.provider, e.resource_id, e.model, e.pool, e.team, e.project, e.from_time, e.to_time, e.hours,
       e.gpu_hours, e.cost, e.measured
FROM audit.audit_efficiency e;
COMMENT ON VIEW audit.efficiency IS 'One row is a stretch in which a GPU was throttled, parked, hung or in error: GPU-hours and cost';
