-- The schema of gpu-audit: sources and their deliveries, facts as they were billed and measured,
-- dimensions, catalog, cost model, and frozen audits.
--
-- Units stand in the names. Times are UTC. A missing value is NULL, never 0.
-- Facts are partitioned by slice: one delivery scope of one source (a billing period, a month of
-- telemetry). A load builds the slice's new partition beside the old one and swaps it in.

CREATE SCHEMA IF NOT EXISTS audit;
COMMENT ON SCHEMA audit IS 'gpu-audit: what GPUs cost, what they did, and what to do about it';

-- ---------------------------------------------------------------- sources and deliveries

CREATE TABLE audit.source (
    source_id  int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind       text NOT NULL,
    name       text NOT NULL,
    format     text NOT NULL,
    location   text NOT NULL,
    UNIQUE (kind, name, format, location)
);
COMMENT ON TABLE audit.source IS 'One row is a configured source: its section in the configuration and where it reads from. Two configurations share a row only when all of it is equal';
COMMENT ON COLUMN audit.source.kind IS 'billing, telemetry, tracker, inventory, binding, prices, model, fx or catalog';
COMMENT ON COLUMN audit.source.name IS 'name of the section, such as bills in [billing bills]';
COMMENT ON COLUMN audit.source.format IS 'format of the section, such as focus or prometheus';
COMMENT ON COLUMN audit.source.location IS 'absolute path or URL, without credentials';

CREATE TABLE audit.slice (
    slice_id   int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id  int NOT NULL REFERENCES audit.source,
    period     text NOT NULL,
    from_time  timestamptz,
    to_time    timestamptz,
    UNIQUE (source_id, period)
);
COMMENT ON TABLE audit.slice IS 'One row is what a load replaces whole: a billing period, a month of telemetry, or everything of a small source';
COMMENT ON COLUMN audit.slice.period IS '2026-07 for a month, "all" for a small source';
COMMENT ON COLUMN audit.slice.from_time IS 'first instant of the period; NULL for "all"';
COMMENT ON COLUMN audit.slice.to_time IS 'first instant after the period; NULL for "all"';

CREATE TABLE audit.load (
    load_id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    slice_id         int NOT NULL REFERENCES audit.slice,
    object           text NOT NULL,
    size_bytes       bigint,
    sha256           text,
    status           text NOT NULL CHECK (status IN ('done', 'failed', 'replaced', 'skipped')),
    rows_read        bigint NOT NULL DEFAULT 0,
    rows_kept        bigint NOT NULL DEFAULT 0,
    rows_totalled    bigint NOT NULL DEFAULT 0,
    rows_rejected    bigint NOT NULL DEFAULT 0,
    from_time        timestamptz,
    to_time          timestamptz,
    is_complete      boolean NOT NULL DEFAULT true,
    problem          text,
    started          timestamptz NOT NULL,
    finished         timestamptz NOT NULL,
    program_version  text NOT NULL
);
CREATE INDEX load_slice ON audit.load (slice_id, status);
COMMENT ON TABLE audit.load IS 'One row is one delivered object (file, page set, chunk) read into a slice; rows_read = rows_kept + rows_totalled + rows_rejected';
COMMENT ON COLUMN audit.load.object IS 'file or query the rows came from';
COMMENT ON COLUMN audit.load.size_bytes IS 'size as delivered';
COMMENT ON COLUMN audit.load.sha256 IS 'hash of the object as delivered; equal hash: nothing to load';
COMMENT ON COLUMN audit.load.status IS 'done: its rows are in the slice; replaced: a later delivery took their place; failed: nothing of it is in; skipped: nothing of it is in, since the period lies before the window';
COMMENT ON COLUMN audit.load.rows_kept IS 'rows that stand as facts';
COMMENT ON COLUMN audit.load.rows_totalled IS 'rows that stand only in billing_total';
COMMENT ON COLUMN audit.load.rows_rejected IS 'rows that could not be used: see reject';
COMMENT ON COLUMN audit.load.from_time IS 'part of the slice this object covers; NULL: all of it';
COMMENT ON COLUMN audit.load.to_time IS 'end of that part';
COMMENT ON COLUMN audit.load.is_complete IS 'false when the other side said that its answer was partial';
COMMENT ON COLUMN audit.load.problem IS 'the error of a failed load, or the warning of an incomplete one';

CREATE TABLE audit.reject (
    load_id  bigint NOT NULL REFERENCES audit.load ON DELETE CASCADE,
    line     bigint NOT NULL,
    reason   text NOT NULL,
    record   text NOT NULL
);
CREATE INDEX reject_load ON audit.reject (load_id);
COMMENT ON TABLE audit.reject IS 'One row is a record that could not be used; a load keeps the first 1000, load.rows_rejected counts all';
COMMENT ON COLUMN audit.reject.line IS 'line of the file on which the record begins, from 1';
COMMENT ON COLUMN audit.reject.record IS 'the record as delivered, cut at 4096 bytes';

-- ---------------------------------------------------------------- bills

CREATE TABLE audit.billing_item (
    slice_id             int NOT NULL,
    item_no              int NOT NULL,
    role                 text NOT NULL CHECK (role IN ('gpu_use', 'gpu_money', 'correction', 'commitment_unused', 'commitment_purchase')),
    provider             text NOT NULL,
    account_id           text,
    account_name         text,
    resource_id          text,
    resource_key         text NOT NULL,
    resource_name        text,
    instance_type        text,
    gpu_count            numeric,
    counts_gpus          boolean NOT NULL,
    unit_seconds         int,
    region               text,
    zone                 text,
    service              text,
    sku                  text,
    description          text,
    charge_category      text NOT NULL,
    charge_class         text,
    charge_frequency     text,
    pricing              text NOT NULL CHECK (pricing IN ('on-demand', 'spot', 'committed', 'other')),
    commitment_id        text,
    commitment_name      text,
    commitment_type      text,
    commitment_category  text,
    commitment_status    text,
    currency             text NOT NULL,
    invoice_id           text,
    tags                 jsonb
) PARTITION BY LIST (slice_id);
COMMENT ON TABLE audit.billing_item IS 'One row is what a run of charges of one slice has in common: the billed thing, its price class and its tags. billing_charge holds the hours and the money';
COMMENT ON COLUMN audit.billing_item.item_no IS 'number within the slice';
COMMENT ON COLUMN audit.billing_item.role IS 'gpu_use: hours and money; gpu_money: money of the same machine (cores, memory); correction: of GPU use, charged later; commitment_unused, commitment_purchase: money of a commitment that covers GPUs, or may';
COMMENT ON COLUMN audit.billing_item.provider IS 'aws, azure, gcp, or the provider''s name in lower case without punctuation';
COMMENT ON COLUMN audit.billing_item.resource_id IS 'as the bill writes it';
COMMENT ON COLUMN audit.billing_item.resource_key IS 'normal form of resource_id, for joins; a made-up one where the bill names no resource';
COMMENT ON COLUMN audit.billing_item.instance_type IS 'as billed; NULL where no column names it';
COMMENT ON COLUMN audit.billing_item.gpu_count IS 'GPUs of the instance as the bill itself says (SkuPriceDetails.GpuCount); NULL: the catalog decides';
COMMENT ON COLUMN audit.billing_item.counts_gpus IS 'true where the quantity is already in GPU time (an accelerator billed as a row of its own)';
COMMENT ON COLUMN audit.billing_item.unit_seconds IS 'length of one unit of quantity; NULL where quantity is no time';
COMMENT ON COLUMN audit.billing_item.tags IS 'tags as delivered';

CREATE TABLE audit.billing_charge (
    slice_id        int NOT NULL,
    item_no         int NOT NULL,
    load_no         smallint NOT NULL,
    line            bigint NOT NULL,
    charge_from     timestamptz NOT NULL,
    charge_to       timestamptz NOT NULL,
    quantity        numeric,
    billed_cost     numeric NOT NULL,
    effective_cost  numeric NOT NULL,
    list_cost       numeric
) PARTITION BY LIST (slice_id);
COMMENT ON TABLE audit.billing_charge IS 'One row is one kept row of a bill: when, how much, what it cost. What it is for stands in billing_item; both together: view billing_line';
COMMENT ON COLUMN audit.billing_charge.load_no IS 'which object of the delivery it came from, in the order of load.load_id, from 0';
COMMENT ON COLUMN audit.billing_charge.line IS 'line of that object';
COMMENT ON COLUMN audit.billing_charge.quantity IS 'consumed quantity in the unit of billing_item.unit_seconds, as billed';
COMMENT ON COLUMN audit.billing_charge.billed_cost IS 'what the invoice asks, in the currency of billing_item';
COMMENT ON COLUMN audit.billing_charge.effective_cost IS 'amortized cost in the same currency';
COMMENT ON COLUMN audit.billing_charge.list_cost IS 'at public on-demand price; NULL where the bill does not say';

CREATE TABLE audit.billing_total (
    slice_id           int NOT NULL REFERENCES audit.slice,
    provider           text NOT NULL,
    service            text NOT NULL,
    charge_category    text NOT NULL,
    charge_class       text NOT NULL,
    commitment_id      text NOT NULL,
    commitment_status  text NOT NULL,
    currency           text NOT NULL,
    row_count          bigint NOT NULL,
    billed_cost        numeric NOT NULL,
    effective_cost     numeric NOT NULL,
    list_cost          numeric NOT NULL,
    PRIMARY KEY (slice_id, provider, service, charge_category, charge_class, commitment_id, commitment_status, currency)
);
COMMENT ON TABLE audit.billing_total IS 'One row sums the rows of a bill that are not kept, so that kept + totalled = the invoice. Empty text stands where the bill has none';

-- ---------------------------------------------------------------- telemetry

CREATE TABLE audit.gpu_series (
    slice_id     int NOT NULL,
    series_no    int NOT NULL,
    gpu_uuid     text NOT NULL,
    mig_id       text,
    mig_profile  text,
    host         text,
    instance_id  text,
    gpu_index    text,
    model_name   text,
    namespace    text,
    pod          text
) PARTITION BY LIST (slice_id);
COMMENT ON TABLE audit.gpu_series IS 'One row is one identity under which a source reported a GPU or MIG slice; a GPU has several when its host or pod changed';
COMMENT ON COLUMN audit.gpu_series.series_no IS 'number within the slice';
COMMENT ON COLUMN audit.gpu_series.gpu_uuid IS 'UUID of the physical GPU';
COMMENT ON COLUMN audit.gpu_series.mig_id IS 'GPU instance id of a MIG slice; NULL for a whole GPU';
COMMENT ON COLUMN audit.gpu_series.mig_profile IS 'such as 3g.40gb; its leading number is the slices it holds';
COMMENT ON COLUMN audit.gpu_series.instance_id IS 'cloud instance id where the telemetry carries it';

CREATE TABLE audit.gpu_hour (
    slice_id       int NOT NULL,
    series_no      int NOT NULL,
    hour           timestamptz NOT NULL,
    util_samples   int,
    util_sum       bigint,
    util_max_pct   real,
    sm_samples     int,
    sm_sum         bigint,
    sm_max_pct     real,
    idle_samples   int,
    memory_max_mib real,
    power_mean_w   real,
    temperature_max_c real,
    samples        int
) PARTITION BY LIST (slice_id);
COMMENT ON TABLE audit.gpu_hour IS 'One row is one series in one clock hour. Sums are in millionths of a percent, so they add exactly';
COMMENT ON COLUMN audit.gpu_hour.hour IS 'start of the hour, UTC';
COMMENT ON COLUMN audit.gpu_hour.util_samples IS 'samples of GPU utilization; NULL: not measured';
COMMENT ON COLUMN audit.gpu_hour.util_sum IS 'sum of those samples in millionths of a percent';
COMMENT ON COLUMN audit.gpu_hour.sm_samples IS 'samples of SM activity; NULL: not measured';
COMMENT ON COLUMN audit.gpu_hour.sm_sum IS 'sum of those samples in millionths of a percent';
COMMENT ON COLUMN audit.gpu_hour.idle_samples IS 'samples below the idle threshold, where the source can tell';
COMMENT ON COLUMN audit.gpu_hour.power_mean_w IS 'mean power of the board; repeated on every MIG slice: never add slices';
COMMENT ON COLUMN audit.gpu_hour.samples IS 'the most samples any signal had in the hour: presence of the GPU';

CREATE TABLE audit.host_binding (
    source_id      int NOT NULL REFERENCES audit.source,
    host           text NOT NULL,
    provider       text NOT NULL,
    resource_id    text NOT NULL,
    resource_key   text NOT NULL,
    instance_type  text,
    valid_from     timestamptz NOT NULL,
    valid_to       timestamptz NOT NULL CHECK (valid_to > valid_from)
);
CREATE INDEX host_binding_host ON audit.host_binding (source_id, lower(host), valid_from);
COMMENT ON TABLE audit.host_binding IS 'One row says which billed resource a telemetry host was, and when: the user''s mapping file';

CREATE TABLE audit.allocation (
    source_id    int NOT NULL REFERENCES audit.source,
    job_id       text NOT NULL,
    host         text,
    gpu_uuid     text,
    from_time    timestamptz NOT NULL,
    to_time      timestamptz NOT NULL,
    gpus         numeric NOT NULL,
    user_name    text,
    account      text,
    project_hint text,
    queue_wait_seconds int,
    end_state    text
);
COMMENT ON TABLE audit.allocation IS 'One row is a job, pod or reservation holding GPUs; empty while no scheduler is configured: allocation is unknown then';

-- ---------------------------------------------------------------- people, projects, owned GPUs

CREATE TABLE audit.project (
    source_id  int NOT NULL REFERENCES audit.source,
    key        text NOT NULL,
    name       text,
    lead       text,
    PRIMARY KEY (source_id, key)
);
COMMENT ON TABLE audit.project IS 'One row is a project of a tracker';

CREATE TABLE audit.issue (
    source_id        int NOT NULL REFERENCES audit.source,
    key              text NOT NULL,
    project_key      text NOT NULL,
    project          text,
    summary          text,
    issue_type       text,
    status           text,
    status_category  text,
    team             text,
    cost_centre      text,
    assignee         text,
    labels           text[],
    created          timestamptz,
    updated          timestamptz,
    resolved         timestamptz,
    PRIMARY KEY (source_id, key)
);
COMMENT ON TABLE audit.issue IS 'One row is an issue of a tracker, with the fields the configuration maps';
COMMENT ON COLUMN audit.issue.project IS 'the project that GPU costs of this issue belong to: project-field of the configuration';
COMMENT ON COLUMN audit.issue.resolved IS 'when it was closed; NULL while open';

CREATE TABLE audit.tag_rule (
    source_id    int REFERENCES audit.source,
    rule_no      int NOT NULL,
    match_kind   text NOT NULL,
    match_key    text,
    match_value  text NOT NULL,
    team         text,
    project      text,
    valid_from   timestamptz,
    valid_to     timestamptz
);
COMMENT ON TABLE audit.tag_rule IS 'One row is a dated, ordered rule that gives matching resources a team or project';

CREATE TABLE audit.owned_gpu (
    source_id       int NOT NULL REFERENCES audit.source,
    line            int NOT NULL,
    asset           text NOT NULL,
    host            text,
    gpu_model       text NOT NULL,
    gpu_count       numeric NOT NULL CHECK (gpu_count > 0),
    gpu_uuids       text[] NOT NULL DEFAULT '{}',
    site            text,
    pool            text,
    team            text,
    project         text,
    issue           text,
    in_service_from timestamptz NOT NULL,
    in_service_to   timestamptz NOT NULL CHECK (in_service_to > in_service_from),
    cost_per_hour   numeric,
    currency        text NOT NULL
);
COMMENT ON TABLE audit.owned_gpu IS 'One row is a span of service of an owned machine; an asset may have several';
COMMENT ON COLUMN audit.owned_gpu.cost_per_hour IS 'of the whole machine, not of one GPU; NULL: unknown';

-- ---------------------------------------------------------------- catalog

CREATE TABLE audit.gpu_model (
    source_id            int NOT NULL REFERENCES audit.source,
    origin               text NOT NULL CHECK (origin IN ('user', 'shipped')),
    model                text NOT NULL,
    family               text NOT NULL,
    architecture         text,
    memory_gib           numeric,
    dense_fp16_tflops    numeric,
    memory_bandwidth_gb_s numeric,
    tdp_w                numeric,
    mig_slices_max       int NOT NULL DEFAULT 0,
    release_year         int,
    note                 text,
    PRIMARY KEY (model, source_id)
);
COMMENT ON TABLE audit.gpu_model IS 'One row is a GPU model; a user row wins over the shipped one of the same model';
COMMENT ON COLUMN audit.gpu_model.source_id IS 'source that gave the row; the shipped catalog is a source of kind catalog';
COMMENT ON COLUMN audit.gpu_model.family IS 'name the figures use: form factors of one chip and memory size together';

CREATE TABLE audit.instance_type (
    source_id            int NOT NULL REFERENCES audit.source,
    origin          text NOT NULL CHECK (origin IN ('user', 'shipped')),
    provider        text NOT NULL,
    instance_type   text NOT NULL,
    gpu_model       text NOT NULL,
    gpu_count       numeric NOT NULL CHECK (gpu_count > 0),
    gpu_memory_gib  numeric,
    mig_capable     boolean,
    vcpus           numeric,
    memory_gib      numeric,
    note            text,
    PRIMARY KEY (provider, instance_type, source_id)
);
COMMENT ON TABLE audit.instance_type IS 'One row says which GPUs an instance type has; gpu_count is decimal (0.125 of a GPU); a user row wins over a shipped one';
COMMENT ON COLUMN audit.instance_type.source_id IS 'source that gave the row; the shipped catalog is a source of kind catalog';

CREATE TABLE audit.price (
    source_id            int NOT NULL REFERENCES audit.source,
    origin         text NOT NULL CHECK (origin IN ('user', 'shipped')),
    provider       text NOT NULL,
    region         text NOT NULL,
    instance_type  text NOT NULL,
    pricing        text NOT NULL,
    usd_per_hour   numeric NOT NULL,
    as_of          date NOT NULL,
    note           text,
    PRIMARY KEY (provider, region, instance_type, pricing, as_of, source_id)
);
COMMENT ON TABLE audit.price IS 'One row is a public price of an instance type per machine-hour, as of a day';
COMMENT ON COLUMN audit.price.source_id IS 'source that gave the row; the shipped catalog is a source of kind catalog';
COMMENT ON COLUMN audit.price.as_of IS 'day of the price; -infinity where its source does not say';

CREATE TABLE audit.fx_rate (
    source_id  int NOT NULL REFERENCES audit.source,
    month      date NOT NULL,
    from_currency text NOT NULL,
    to_currency   text NOT NULL,
    rate       numeric NOT NULL CHECK (rate > 0),
    PRIMARY KEY (source_id, month, from_currency, to_currency)
);
COMMENT ON TABLE audit.fx_rate IS 'One row turns one unit of from_currency into rate units of to_currency, for charges of that month';

-- ---------------------------------------------------------------- cost model

CREATE TABLE audit.assumption (
    source_id   int NOT NULL REFERENCES audit.source,
    line        int NOT NULL,
    metric      text NOT NULL,
    scope_kind  text NOT NULL CHECK (scope_kind IN ('all', 'provider', 'pool', 'model', 'team', 'project', 'region', 'pricing')),
    scope_key   text NOT NULL,
    value       numeric NOT NULL,
    tolerance_pct numeric NOT NULL DEFAULT 10,
    valid_from  date,
    set_by      text,
    reason      text
);
COMMENT ON TABLE audit.assumption IS 'One row is an assumption of the cost model: what somebody expected of a metric in a scope, and how far off is still fine';
COMMENT ON COLUMN audit.assumption.tolerance_pct IS 'relative: 10 lets the measured value differ by a tenth of the assumed one';

-- ---------------------------------------------------------------- audits

CREATE TABLE audit.audit (
    audit_id        int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    estate          text NOT NULL,
    quarter         text NOT NULL,
    from_time       timestamptz NOT NULL,
    to_time         timestamptz NOT NULL,
    revision        int NOT NULL,
    is_final        boolean NOT NULL,
    currency        text NOT NULL,
    idle_threshold_pct numeric NOT NULL,
    inputs_sha256   text NOT NULL,
    created         timestamptz NOT NULL,
    program_version text NOT NULL,
    UNIQUE (estate, quarter, revision)
);
COMMENT ON TABLE audit.audit IS 'One row is a frozen audit of a window. Rows that hang on it are never changed; new inputs make a new revision';
COMMENT ON COLUMN audit.audit.estate IS 'the set of sources the audit reads, as a short hash: audits of different configurations never mix';
COMMENT ON COLUMN audit.audit.is_final IS 'false while a billing period of the window may still change: a draft';
COMMENT ON COLUMN audit.audit.inputs_sha256 IS 'hash over every load, setting and the program version the figures follow from';

CREATE TABLE audit.audit_input (
    audit_id   int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    source_id  int NOT NULL REFERENCES audit.source,
    slice_id   int NOT NULL REFERENCES audit.slice,
    object     text NOT NULL,
    sha256     text,
    rows_read  bigint NOT NULL,
    rows_kept  bigint NOT NULL,
    rows_totalled bigint NOT NULL,
    rows_rejected bigint NOT NULL,
    is_complete boolean NOT NULL
);
CREATE INDEX audit_input_audit ON audit.audit_input (audit_id);
COMMENT ON TABLE audit.audit_input IS 'One row is a load that an audit read';
