-- What schedulers say of GPUs, beside what they did: held and not held, by whom, and how long for.
-- Empty where no scheduler is configured.

ALTER TABLE audit.audit_figure
    ADD COLUMN allocation_known_gpu_hours   numeric,
    ADD COLUMN covered_allocated_gpu_hours  numeric,
    ADD COLUMN busy_allocated_gpu_hours     numeric,
    ADD COLUMN idle_allocated_gpu_hours     numeric,
    ADD COLUMN idle_unallocated_gpu_hours   numeric,
    ADD COLUMN allocated_cost               numeric,
    ADD COLUMN unallocated_cost             numeric,
    ADD COLUMN idle_allocated_cost          numeric,
    ADD COLUMN idle_unallocated_cost        numeric;
COMMENT ON COLUMN audit.audit_figure.allocated_gpu_hours IS 'of allocation_known_gpu_hours, those that a job, pod or user held; NULL: no scheduler knows any GPU of the scope';
COMMENT ON COLUMN audit.audit_figure.allocation_known_gpu_hours IS 'running GPU-hours of hosts and hours that a scheduler knows; NULL: none';
COMMENT ON COLUMN audit.audit_figure.covered_allocated_gpu_hours IS 'held and covered; NULL: nothing that a scheduler knows is covered. So the next three';
COMMENT ON COLUMN audit.audit_figure.busy_allocated_gpu_hours IS 'held and busy';
COMMENT ON COLUMN audit.audit_figure.idle_allocated_gpu_hours IS 'idle while held';
COMMENT ON COLUMN audit.audit_figure.idle_unallocated_gpu_hours IS 'idle, and held by nobody';
COMMENT ON COLUMN audit.audit_figure.allocated_cost IS 'effective cost of the GPU-hours held';
COMMENT ON COLUMN audit.audit_figure.unallocated_cost IS 'effective cost of the GPU-hours that a scheduler knows and nobody held';

CREATE TABLE audit.audit_held (
    audit_id                    int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    subject_no                  int NOT NULL,
    known_gpu_hours             numeric NOT NULL,
    known_covered_gpu_hours     numeric NOT NULL,
    allocated_gpu_hours         numeric NOT NULL,
    busy_allocated_gpu_hours    numeric NOT NULL,
    idle_allocated_gpu_hours    numeric NOT NULL,
    idle_unallocated_gpu_hours  numeric NOT NULL,
    allocated_cost              numeric,
    unallocated_cost            numeric,
    idle_allocated_cost         numeric,
    idle_unallocated_cost       numeric,
    PRIMARY KEY (audit_id, subject_no)
);
COMMENT ON TABLE audit.audit_held IS 'One row is a subject whose allocation a scheduler knows for some of its hours: held and not held in those';
COMMENT ON COLUMN audit.audit_held.known_gpu_hours IS 'running GPU-hours in hours that a scheduler knows';
COMMENT ON COLUMN audit.audit_held.allocated_cost IS 'effective cost; NULL, as the other money: no cost or no rate';

CREATE TABLE audit.audit_holder (
    audit_id   int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    pool       text NOT NULL,
    model      text NOT NULL,
    state      text NOT NULL CHECK (state IN ('held', 'unallocated', 'allocation unknown')),
    account    text,
    user_name  text,
    team       text NOT NULL,
    project    text NOT NULL,
    gpu_hours  numeric,
    cost       numeric
);
CREATE INDEX audit_holder_audit ON audit.audit_holder (audit_id);
COMMENT ON TABLE audit.audit_holder IS 'One row is what an account and user held of a pool''s GPUs, what nobody held of it, or what no scheduler knows; together they are the pool''s running GPU-hours';
COMMENT ON COLUMN audit.audit_holder.account IS 'as the scheduler names it; NULL: not told, or not held';
COMMENT ON COLUMN audit.audit_holder.team IS 'by the issue its owner named, else the account where it is the name of a team; empty: nothing names one. The team of the machine''s own tags is not meant';
COMMENT ON COLUMN audit.audit_holder.project IS 'as its owner named it, else by the issue, else the account where it is the name of a project';
COMMENT ON COLUMN audit.audit_holder.cost IS 'effective cost of those GPU-hours at their own price in each hour; NULL: no cost or no rate';

CREATE TABLE audit.audit_queue (
    audit_id           int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    cluster            text NOT NULL,
    partition          text NOT NULL,
    pool               text NOT NULL,
    hour_of_week       int CHECK (hour_of_week BETWEEN 0 AND 167),
    jobs               bigint NOT NULL,
    jobs_wait_unknown  bigint NOT NULL,
    p50_wait_seconds   bigint,
    p95_wait_seconds   bigint,
    gpu_hours_waiting  numeric NOT NULL
);
CREATE INDEX audit_queue_audit ON audit.audit_queue (audit_id);
COMMENT ON TABLE audit.audit_queue IS 'One row is a partition and pool in an hour of the week: how long jobs with GPUs waited. Jobs that started in the window';
COMMENT ON COLUMN audit.audit_queue.cluster IS 'empty: the scheduler names none; so partition, and so pool where a job''s host is unknown or in no bill or inventory';
COMMENT ON COLUMN audit.audit_queue.hour_of_week IS '0 is Monday 00:00 to 01:00 UTC; NULL: the whole week';
COMMENT ON COLUMN audit.audit_queue.jobs IS 'jobs that began to wait in this hour of the week, those that waited 0 seconds too';
COMMENT ON COLUMN audit.audit_queue.jobs_wait_unknown IS 'of these, jobs whose wait is unknown, by the hour they started in: in no percentile and in no sum';
COMMENT ON COLUMN audit.audit_queue.p50_wait_seconds IS 'nearest rank over those jobs; NULL: none';
COMMENT ON COLUMN audit.audit_queue.gpu_hours_waiting IS 'GPUs asked for x hours waited, in the hours of the week in which they waited, within the window';

CREATE TABLE audit.audit_shortage (
    audit_id                int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    pool                    text NOT NULL,
    jobs                    bigint NOT NULL,
    p50_wait_seconds        bigint,
    p95_wait_seconds        bigint,
    gpu_hours_waiting       numeric NOT NULL,
    running_gpus            numeric,
    busy_gpus               numeric,
    peak_busy_gpus          numeric,
    idle_pct                double precision,
    coverage_pct            double precision,
    busy_hours              int,
    busy_hours_busy_gpus    numeric,
    busy_hours_waiting_gpus numeric,
    is_short                boolean,
    PRIMARY KEY (audit_id, pool)
);
COMMENT ON TABLE audit.audit_shortage IS 'One row is a pool for which jobs waited: is it idle on average and short of GPUs in its busy hours?';
COMMENT ON COLUMN audit.audit_shortage.running_gpus IS 'GPUs on average over the hours the pool ran';
COMMENT ON COLUMN audit.audit_shortage.busy_hours IS 'hours of the week in which more of its GPUs were busy than on average';
COMMENT ON COLUMN audit.audit_shortage.busy_hours_waiting_gpus IS 'GPUs that jobs waited for in those hours, on average';
COMMENT ON COLUMN audit.audit_shortage.is_short IS 'true: at least 20 % idle, and at least one GPU waited for in its busy hours on average; NULL: less than 80 % of it is covered';

CREATE TABLE audit.audit_efficiency (
    audit_id    int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    stretch_no  int NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('throttled by power', 'throttled by heat', 'parked model', 'hung', 'driver errors')),
    gpu_uuid    text NOT NULL,
    host        text,
    provider    text,
    resource_id text,
    model       text,
    pool        text,
    team        text,
    project     text,
    from_time   timestamptz NOT NULL,
    to_time     timestamptz NOT NULL,
    hours       int NOT NULL,
    gpu_hours   numeric,
    cost        numeric,
    measured    text NOT NULL,
    PRIMARY KEY (audit_id, stretch_no)
);
COMMENT ON TABLE audit.audit_efficiency IS 'One row is a stretch of time in which a GPU was held back or held for nothing, and how. The kinds overlap each other and idle stretches: never add them up';
COMMENT ON COLUMN audit.audit_efficiency.kind IS 'throttled by power or heat; parked model: more than half its memory held and nothing run for 24 hours or longer; hung: utilization of 90 % or more at a quarter of its rated power or less for 3 hours or longer; driver errors: XID errors appeared';
COMMENT ON COLUMN audit.audit_efficiency.hours IS 'clock hours of the stretch in which it was so; a pause of 24 hours ends a stretch of throttling or errors, any pause one of the others';
COMMENT ON COLUMN audit.audit_efficiency.gpu_hours IS 'throttled: the time at lower clocks; else the running GPU-hours of those hours; NULL: no bill or inventory knows the GPU then';
COMMENT ON COLUMN audit.audit_efficiency.cost IS 'effective cost of gpu_hours at the GPU''s own price in each hour; NULL: unknown for a part of them';
COMMENT ON COLUMN audit.audit_efficiency.measured IS 'what was measured, with its unit';

CREATE FUNCTION audit.hour_of_week(at timestamptz) RETURNS int
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((floor(extract(epoch FROM at) / 3600)::bigint + 72) % 168)::int;
COMMENT ON FUNCTION audit.hour_of_week(timestamptz) IS '0 is Monday 00:00 to 01:00 UTC, 167 the last hour of Sunday';
