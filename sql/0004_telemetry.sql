-- Who held GPUs: allocations of schedulers, by slice of source and month. The table of 0001 was
-- never filled; it is made again, partitioned as the other facts are.

DROP TABLE audit.allocation;

CREATE TABLE audit.allocation (
    slice_id           int NOT NULL,
    cluster            text,
    job_id             text NOT NULL,
    job_key            text NOT NULL,
    array_job_id       text,
    array_task         bigint,
    het_job_id         text,
    het_offset         int,
    host               text,
    gpu_uuid           text,
    from_time          timestamptz NOT NULL,
    to_time            timestamptz NOT NULL CHECK (to_time > from_time),
    job_from           timestamptz NOT NULL,
    job_to             timestamptz,
    gpus               numeric CHECK (gpus > 0),
    job_gpus           numeric,
    job_hosts          int,
    gpu_type           text,
    gpu_source         text NOT NULL,
    placement          text NOT NULL CHECK (placement IN ('known', 'even', 'unknown')),
    confidence         text NOT NULL CHECK (confidence IN ('high', 'medium', 'low')),
    node_list          text,
    partition          text,
    qos                text,
    account            text,
    user_name          text,
    job_name           text,
    comment            text,
    project_hint       text,
    issue_hint         text,
    submit_time        timestamptz,
    eligible_time      timestamptz,
    is_job_start       boolean NOT NULL,
    queue_wait_seconds bigint,
    suspended_seconds  bigint,
    restarts           int,
    end_state          text,
    gpu_util_pct       real,
    gpu_memory_pct     real,
    use_source         text
) PARTITION BY LIST (slice_id);
CREATE INDEX allocation_host ON audit.allocation (host, from_time);
COMMENT ON TABLE audit.allocation IS 'One row is a job, pod or reservation holding GPUs of one host in one month of a source; empty while no scheduler is configured: allocation is unknown then';
COMMENT ON COLUMN audit.allocation.slice_id IS 'source and month: a job that runs over the end of a month has a row in each';
COMMENT ON COLUMN audit.allocation.cluster IS 'cluster the scheduler names; job numbers are unique within it';
COMMENT ON COLUMN audit.allocation.job_id IS 'as people write it: 123, task 123_4 of an array, component 123+1 of a heterogeneous job';
COMMENT ON COLUMN audit.allocation.job_key IS 'the scheduler''s own number of it; with cluster and job_from it names one run, since a requeued job keeps its number';
COMMENT ON COLUMN audit.allocation.array_job_id IS 'job an array task belongs to';
COMMENT ON COLUMN audit.allocation.het_job_id IS 'heterogeneous job a component belongs to';
COMMENT ON COLUMN audit.allocation.host IS 'node, as the scheduler names it; NULL: how the GPUs were spread over the nodes is unknown, or no node is named';
COMMENT ON COLUMN audit.allocation.gpu_uuid IS 'the GPU, where the scheduler tells; NULL: which of the host''s GPUs is unknown';
COMMENT ON COLUMN audit.allocation.from_time IS 'held from, within the month';
COMMENT ON COLUMN audit.allocation.to_time IS 'held until, within the month. Time in which the job was suspended counts: its GPUs stay with it. A job whose end is not known yet is cut where the record was taken';
COMMENT ON COLUMN audit.allocation.job_from IS 'start of the job, which may be months earlier';
COMMENT ON COLUMN audit.allocation.job_to IS 'end of the job; NULL: not known when it was loaded';
COMMENT ON COLUMN audit.allocation.gpus IS 'physical GPUs held on the host, decimal: a MIG slice is its share of the chip, cut after 12 digits; NULL: it holds a share of GPUs whose size is unknown';
COMMENT ON COLUMN audit.allocation.job_gpus IS 'of the whole job, on all its hosts';
COMMENT ON COLUMN audit.allocation.job_hosts IS 'nodes of the job; NULL: unknown';
COMMENT ON COLUMN audit.allocation.gpu_type IS 'type as the scheduler names it, several parted by commas; NULL: not told';
COMMENT ON COLUMN audit.allocation.gpu_source IS 'what the count was read from: AllocTRES, AllocTRES typed, AllocGRES, ReqTRES or ReqGRES of Slurm';
COMMENT ON COLUMN audit.allocation.placement IS 'known: one host, or the scheduler told the count of each; even: spread evenly, since it divides; unknown: one row without a host';
COMMENT ON COLUMN audit.allocation.confidence IS 'of the count of GPUs: high: as allocated; medium: allocated, told by type or by node only; low: as requested';
COMMENT ON COLUMN audit.allocation.node_list IS 'nodes of the job as the scheduler writes them, where placement is unknown';
COMMENT ON COLUMN audit.allocation.project_hint IS 'project its owner named: the accounting key (WCKey), else project in the comment';
COMMENT ON COLUMN audit.allocation.issue_hint IS 'what looks like the key of an issue in the comment, the accounting key or the name of the job, upper case';
COMMENT ON COLUMN audit.allocation.is_job_start IS 'true on one row of a job, in the month it started: figures of whole jobs (how many, their wait) are taken over these rows';
COMMENT ON COLUMN audit.allocation.queue_wait_seconds IS 'start - the later of submitted and eligible; NULL: unknown';
COMMENT ON COLUMN audit.allocation.suspended_seconds IS 'of the whole job: time between start and end in which it was suspended; NULL: unknown';
COMMENT ON COLUMN audit.allocation.restarts IS 'how often it was requeued before';
COMMENT ON COLUMN audit.allocation.end_state IS 'how it ended, in the scheduler''s word, such as COMPLETED or NODE_FAIL; RUNNING while it runs';
COMMENT ON COLUMN audit.allocation.gpu_util_pct IS 'of the job, as the scheduler measured it. Low confidence: it is a figure of the job and no telemetry of a GPU';
COMMENT ON COLUMN audit.allocation.use_source IS 'jobstats: means over the GPUs of the job; gpuutil: the highest step''s TRESUsageInAve, a sum over its processes that may pass 100';

CREATE TABLE audit.allocation_total (
    slice_id   int NOT NULL REFERENCES audit.slice,
    reason     text NOT NULL,
    row_count  bigint NOT NULL,
    PRIMARY KEY (slice_id, reason)
);
COMMENT ON TABLE audit.allocation_total IS 'One row is how many records of a month a scheduler gave that are no allocation of GPUs, and why: no GPU, not started, no time, repeated';
COMMENT ON COLUMN audit.allocation_total.reason IS 'repeated: another record of the same run is kept, the one that knows its end';
COMMENT ON COLUMN audit.load.rows_totalled IS 'rows that stand only in billing_total or allocation_total';
COMMENT ON COLUMN audit.source.kind IS 'billing, telemetry, scheduler, tracker, inventory, binding, prices, model, fx or catalog';
COMMENT ON COLUMN audit.slice.period IS '2026-07 for a month, "all" for a small source';
