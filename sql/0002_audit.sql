-- What an audit holds: the working grain (audit_subject, audit_hour) and the frozen results that the
-- workbook, the page, the mail, `figures` and people with psql read.
-- Money is in the audit's currency. The views view_*.sql compute these rows; a figure exists once.

CREATE TABLE audit.audit_setting (
    audit_id  int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    key       text NOT NULL,
    value     text NOT NULL,
    PRIMARY KEY (audit_id, key)
);
COMMENT ON TABLE audit.audit_setting IS 'One row is a setting the figures of an audit follow from: thresholds, tag keys, policies, sampling intervals';

CREATE TABLE audit.audit_subject (
    audit_id       int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    subject_no     int NOT NULL,
    provider       text NOT NULL,
    account        text NOT NULL,
    resource_id    text NOT NULL,
    resource_key   text NOT NULL,
    instance_type  text,
    model          text NOT NULL,
    region         text NOT NULL,
    pricing        text NOT NULL,
    pool           text NOT NULL,
    team           text NOT NULL,
    project        text NOT NULL,
    issue          text NOT NULL,
    is_tagged      boolean NOT NULL,
    gpus           numeric,
    chips          int NOT NULL,
    is_catalogued  boolean NOT NULL,
    group_no       int NOT NULL,
    owner_no       int NOT NULL,
    PRIMARY KEY (audit_id, subject_no)
);
COMMENT ON TABLE audit.audit_subject IS 'One row is a GPU resource under one attribution and price class; a resource retagged or repriced in the quarter has several';
COMMENT ON COLUMN audit.audit_subject.pool IS 'inventory pool or pool tag, else provider, region and model';
COMMENT ON COLUMN audit.audit_subject.team IS 'canonical spelling; empty: nothing names one';
COMMENT ON COLUMN audit.audit_subject.is_tagged IS 'a non-empty team tag on the resource itself';
COMMENT ON COLUMN audit.audit_subject.gpus IS 'decimal physical GPUs behind the resource; NULL: nobody knows';
COMMENT ON COLUMN audit.audit_subject.chips IS 'GPUs as cells: gpus rounded up';
COMMENT ON COLUMN audit.audit_subject.group_no IS 'subjects of one provider, model, region, pricing and pool share a group';
COMMENT ON COLUMN audit.audit_subject.owner_no IS 'subjects of one team, project and issue share an owner group; negative, so that the two kinds never meet';
COMMENT ON COLUMN audit.audit_subject.is_catalogued IS 'false: an instance type the catalog does not know; its GPU count is the bill''s own word';

CREATE TABLE audit.audit_scope (
    audit_id   int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    scope_no   int NOT NULL,
    dimension  text NOT NULL,
    key        text NOT NULL,
    PRIMARY KEY (audit_id, scope_no)
);
COMMENT ON TABLE audit.audit_scope IS 'One row is a scope that has figures: a dimension (total, provider, model, region, pricing, team, project, pool, issue) and its key';

CREATE TABLE audit.audit_scope_group (
    audit_id   int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    group_no   int NOT NULL,
    scope_no   int NOT NULL,
    PRIMARY KEY (audit_id, group_no, scope_no)
);
COMMENT ON TABLE audit.audit_scope_group IS 'One row says that a group of subjects, of either kind, belongs to a scope; so does the meeting of two groups in a resource''s hour, which takes back what both counted';

CREATE TABLE audit.audit_hour (
    audit_id            int NOT NULL,
    subject_no          int NOT NULL,
    hour                timestamptz NOT NULL,
    is_main             boolean NOT NULL,
    is_placed           boolean NOT NULL,
    chips               int NOT NULL,
    covered_chips       int NOT NULL,
    idle_chips          int NOT NULL,
    util_chips          int NOT NULL,
    sm_chips            int NOT NULL,
    samples             int NOT NULL,
    idle_samples        int,
    observed_seconds    int NOT NULL,
    util_sum            bigint NOT NULL,
    cell_util_sum       bigint NOT NULL,
    sm_samples          int NOT NULL,
    sm_sum              bigint NOT NULL,
    cell_sm_sum         bigint NOT NULL,
    running_gpu_hours   numeric,
    billed_cost         numeric,
    effective_cost      numeric,
    list_cost           numeric
) PARTITION BY LIST (audit_id);
COMMENT ON TABLE audit.audit_hour IS 'One row is a subject in one clock hour: supply, money and use of its cells. Every figure but percentiles is a sum or a maximum over these rows';
COMMENT ON COLUMN audit.audit_hour.is_main IS 'false where another subject of the same resource had more of the hour; GPUs and samples are counted on the main row only';
COMMENT ON COLUMN audit.audit_hour.is_placed IS 'true where a row longer than an hour was spread by rule';
COMMENT ON COLUMN audit.audit_hour.chips IS 'cells: GPUs of the resource in that hour, each counted whole, whichever subject had them';
COMMENT ON COLUMN audit.audit_hour.covered_chips IS 'cells with at least one sample';
COMMENT ON COLUMN audit.audit_hour.idle_chips IS 'covered cells whose mean util is below the idle threshold';
COMMENT ON COLUMN audit.audit_hour.util_chips IS 'covered cells with util';
COMMENT ON COLUMN audit.audit_hour.sm_chips IS 'covered cells with SM activity';
COMMENT ON COLUMN audit.audit_hour.samples IS 'util samples of all cells, partitions of one GPU counted once';
COMMENT ON COLUMN audit.audit_hour.idle_samples IS 'samples below the idle threshold; NULL: the source cannot tell';
COMMENT ON COLUMN audit.audit_hour.observed_seconds IS 'samples x interval, at most one hour a cell';
COMMENT ON COLUMN audit.audit_hour.util_sum IS 'sum of util samples in 1/28,000,000 of a percent, so that MIG sevenths and quarters stay whole';
COMMENT ON COLUMN audit.audit_hour.cell_util_sum IS 'sum of cell util in 1e-10 percent';
COMMENT ON COLUMN audit.audit_hour.sm_sum IS 'sum of sm samples in 1/28,000,000 of a percent';
COMMENT ON COLUMN audit.audit_hour.cell_sm_sum IS 'sum of the mean sm of the cells in 1e-10 percent';
COMMENT ON COLUMN audit.audit_hour.running_gpu_hours IS 'billed or owned GPU-hours before corrections; NULL where the GPU count of the instance type is unknown';
COMMENT ON COLUMN audit.audit_hour.billed_cost IS 'NULL: an owned machine without a cost, or a currency without a rate';
COMMENT ON COLUMN audit.audit_hour.list_cost IS 'at public on-demand price; NULL: unknown';

CREATE TABLE audit.audit_cell (
    audit_id    int NOT NULL,
    group_no    int NOT NULL,
    util_sum    bigint NOT NULL,
    cells       int NOT NULL
) PARTITION BY LIST (audit_id);
COMMENT ON TABLE audit.audit_cell IS 'Distribution of cell util: how many covered cells of a group had that mean; each cell stands in a group of either kind. Percentiles cumulate over it';
COMMENT ON COLUMN audit.audit_cell.util_sum IS 'cell util in 1e-10 percent';

CREATE TABLE audit.audit_group_hour (
    audit_id       int NOT NULL,
    group_no       int NOT NULL,
    hour           timestamptz NOT NULL,
    running_gpus   float8 NOT NULL,
    busy_gpus      float8 NOT NULL,
    cell_util_sum  bigint NOT NULL,
    util_chips     int NOT NULL
) PARTITION BY LIST (audit_id);
COMMENT ON TABLE audit.audit_group_hour IS 'One row is a group of subjects, of either kind, in one hour; peaks of a scope come from its groups';
COMMENT ON COLUMN audit.audit_group_hour.running_gpus IS 'GPUs there for any part of the hour, each counted whole, fractions of one as they are';
COMMENT ON COLUMN audit.audit_group_hour.busy_gpus IS 'covered and not idle';
COMMENT ON COLUMN audit.audit_group_hour.cell_util_sum IS 'sum of cell util in 1e-10 percent over util_chips cells';

CREATE TABLE audit.audit_use (
    audit_id             int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    subject_no           int NOT NULL,
    running_gpu_hours    numeric,
    covered_gpu_hours    numeric,
    idle_gpu_hours       numeric,
    sm_covered_gpu_hours numeric,
    effective_gpu_hours  numeric,
    billed_cost          numeric,
    effective_cost       numeric,
    list_cost            numeric,
    covered_cost         numeric,
    idle_cost            numeric,
    observed_seconds     numeric NOT NULL,
    samples              numeric NOT NULL,
    util_sum             numeric NOT NULL,
    sm_samples           numeric NOT NULL,
    sm_sum               numeric NOT NULL,
    idle_samples         numeric,
    idle_samples_of      numeric,
    placed_hours         bigint NOT NULL,
    machines             int NOT NULL DEFAULT 1,
    PRIMARY KEY (audit_id, subject_no)
);
COMMENT ON TABLE audit.audit_use IS 'One row is a subject over the whole window, frozen from view subject_use: supply, use and money before corrections';

COMMENT ON COLUMN audit.audit_use.machines IS 'the most machines the resource was in one hour: a scale set is one resource';

CREATE TABLE audit.audit_correction (
    audit_id            int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    subject_no          int NOT NULL,
    corrected_gpu_hours numeric NOT NULL,
    billed_cost         numeric,
    effective_cost      numeric,
    booked_from         timestamptz NOT NULL
);
CREATE INDEX audit_correction_audit ON audit.audit_correction (audit_id);
COMMENT ON TABLE audit.audit_correction IS 'One row is what a later bill corrected of a subject''s use in this window';
COMMENT ON COLUMN audit.audit_correction.billed_cost IS 'NULL: a currency without a rate';
COMMENT ON COLUMN audit.audit_correction.booked_from IS 'start of the billing period that booked it';

CREATE TABLE audit.audit_figure (
    audit_id                     int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    dimension                    text NOT NULL,
    key                          text NOT NULL,
    gpus                         numeric,
    instances                    bigint,
    provisioned_gpu_hours        numeric,
    running_gpu_hours            numeric,
    billed_gpu_hours             numeric,
    corrected_gpu_hours          numeric,
    unused_commitment_gpu_hours  numeric,
    owned_gpu_hours              numeric,
    observed_gpu_hours           numeric,
    covered_gpu_hours            numeric,
    coverage_pct                 double precision,
    unknown_gpu_hours            numeric,
    idle_gpu_hours               numeric,
    idle_pct                     double precision,
    idle_time_pct                double precision,
    busy_gpu_hours               numeric,
    effective_gpu_hours          numeric,
    sm_covered_gpu_hours         numeric,
    allocated_gpu_hours          numeric,
    avg_util_pct                 double precision,
    p50_cell_util_pct            double precision,
    p95_cell_util_pct            double precision,
    p99_cell_util_pct            double precision,
    max_cell_util_pct            double precision,
    peak_hour_util_pct           double precision,
    peak_hour                    timestamptz,
    avg_sm_pct                   double precision,
    peak_running_gpus            numeric,
    peak_busy_gpus               numeric,
    billed_cost                  numeric,
    effective_cost               numeric,
    correction_cost              numeric,
    unused_commitment_cost       numeric,
    idle_cost                    numeric,
    unknown_cost                 numeric,
    gpu_cost                     numeric,
    list_cost                    numeric,
    cost_per_provisioned_gpu_hour numeric,
    cost_per_busy_gpu_hour       numeric,
    cost_per_effective_gpu_hour  numeric,
    untagged_cost                numeric,
    PRIMARY KEY (audit_id, dimension, key)
);
COMMENT ON TABLE audit.audit_figure IS 'One row is every headline figure of one scope of an audit: dimension total, provider, model, region, pricing, team, project, pool or issue';

CREATE TABLE audit.audit_ledger (
    audit_id    int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    dimension   text NOT NULL,
    key         text NOT NULL,
    line_no     int NOT NULL,
    line        text NOT NULL,
    in_sum      boolean NOT NULL,
    gpu_hours   numeric,
    cost        numeric,
    PRIMARY KEY (audit_id, dimension, key, line_no)
);
COMMENT ON TABLE audit.audit_ledger IS 'One row is a line of the GPU-hour ledger of a scope; lines in_sum add up to provisioned GPU-hours and to GPU cost, the others stand beneath';

CREATE TABLE audit.audit_idle_stretch (
    audit_id    int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    stretch_no  int NOT NULL,
    provider    text NOT NULL,
    resource_id text NOT NULL,
    resource_key text NOT NULL,
    instance_type text,
    model       text NOT NULL,
    region      text NOT NULL,
    pricing     text NOT NULL,
    pool        text NOT NULL,
    team        text NOT NULL,
    project     text NOT NULL,
    issue       text NOT NULL,
    gpus        numeric,
    from_time   timestamptz NOT NULL,
    to_time     timestamptz NOT NULL,
    hours       int NOT NULL,
    gpu_hours   numeric,
    cost        numeric,
    util_pct    double precision NOT NULL,
    signal      text NOT NULL,
    is_open     boolean NOT NULL,
    PRIMARY KEY (audit_id, stretch_no)
);
COMMENT ON TABLE audit.audit_idle_stretch IS 'One row is an instance that ran for more than 24 hours on end below 20 percent';
COMMENT ON COLUMN audit.audit_idle_stretch.cost IS 'NULL: an owned machine without a cost, or a currency without a rate';
COMMENT ON COLUMN audit.audit_idle_stretch.util_pct IS 'mean over its samples of the signal';
COMMENT ON COLUMN audit.audit_idle_stretch.signal IS 'sm; util where no GPU has sm; sm and util where some hours or GPUs have none';
COMMENT ON COLUMN audit.audit_idle_stretch.is_open IS 'true when the stretch lasts to the end of the window';

CREATE TABLE audit.audit_unobserved (
    audit_id    int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    provider    text NOT NULL,
    resource_id text NOT NULL,
    instance_type text,
    team        text NOT NULL,
    project     text NOT NULL,
    gpu_hours   numeric NOT NULL,
    cost        numeric,
    is_never_seen boolean NOT NULL
);
CREATE INDEX audit_unobserved_audit ON audit.audit_unobserved (audit_id);
COMMENT ON TABLE audit.audit_unobserved IS 'One row is a resource with running GPU-hours that no sample covers';

CREATE TABLE audit.audit_unbilled (
    audit_id    int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    gpu_uuid    text NOT NULL,
    host        text,
    model_name  text,
    gpu_hours   numeric NOT NULL,
    from_time   timestamptz NOT NULL,
    to_time     timestamptz NOT NULL
);
CREATE INDEX audit_unbilled_audit ON audit.audit_unbilled (audit_id);
COMMENT ON TABLE audit.audit_unbilled IS 'One row is a GPU with samples that no bill or inventory knows';

CREATE TABLE audit.audit_invoice (
    audit_id     int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    source_name  text NOT NULL,
    provider     text NOT NULL,
    month        text NOT NULL,
    currency     text NOT NULL,
    row_count    bigint NOT NULL,
    billed_cost  numeric NOT NULL,
    kept         numeric NOT NULL,
    totalled     numeric NOT NULL,
    gpu_use      numeric NOT NULL,
    gpu_corrections numeric NOT NULL,
    commitment_purchases numeric NOT NULL,
    other        numeric NOT NULL,
    rows_rejected bigint NOT NULL,
    is_final     boolean NOT NULL,
    days_present int NOT NULL,
    PRIMARY KEY (audit_id, source_name, provider, month, currency)
);
COMMENT ON TABLE audit.audit_invoice IS 'One row is a provider''s bill of one month: kept + totalled = billed_cost = gpu_use + gpu_corrections + commitment_purchases + other';

CREATE TABLE audit.audit_commitment (
    audit_id          int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    provider          text NOT NULL,
    commitment_id     text NOT NULL,
    commitment_name   text,
    commitment_type   text,
    category          text,
    model             text NOT NULL,
    region            text NOT NULL,
    pool              text NOT NULL,
    bought            numeric,
    used_gpu_hours    numeric NOT NULL,
    used_cost         numeric,
    unused_gpu_hours  numeric,
    unused_cost       numeric,
    gpu_share         numeric NOT NULL,
    discount_pct      double precision,
    PRIMARY KEY (audit_id, provider, commitment_id)
);
COMMENT ON TABLE audit.audit_commitment IS 'One row is a commitment that covers GPUs: what was bought, used and left unused in the window';
COMMENT ON COLUMN audit.audit_commitment.unused_cost IS 'NULL, as the other money: a currency without a rate';
COMMENT ON COLUMN audit.audit_commitment.model IS 'model, region and pool of the use it covered, else of what its unused rows name; empty where there are several or none';
COMMENT ON COLUMN audit.audit_commitment.unused_gpu_hours IS '0 for a spend-based commitment; NULL where the hours cannot be known';
COMMENT ON COLUMN audit.audit_commitment.gpu_share IS 'share of GPU use in what it covered, by cost; unused_cost is that share of the unused money';
COMMENT ON COLUMN audit.audit_commitment.discount_pct IS 'measured: 100 x (list - effective) / list of the use it covered';

CREATE TABLE audit.audit_assumption (
    audit_id      int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    line          int NOT NULL,
    metric        text NOT NULL,
    scope_kind    text NOT NULL,
    scope_key     text NOT NULL,
    assumed       numeric NOT NULL,
    measured      numeric,
    deviation     numeric,
    deviation_pct double precision,
    tolerance_pct numeric NOT NULL,
    coverage_pct  double precision,
    unit          text NOT NULL,
    verdict       text NOT NULL CHECK (verdict IN ('holds', 'deviates', 'not enough evidence')),
    why           text NOT NULL,
    set_by        text,
    valid_from    date,
    reason        text,
    PRIMARY KEY (audit_id, line)
);
COMMENT ON TABLE audit.audit_assumption IS 'One row is an assumption of the cost model beside what was measured, with the verdict';

CREATE TABLE audit.recommendation (
    audit_id      int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    recommendation_no int NOT NULL,
    rule          text NOT NULL,
    stack         int NOT NULL,
    title         text NOT NULL,
    provider      text NOT NULL,
    pool          text NOT NULL,
    resource_id   text,
    team          text NOT NULL,
    project       text NOT NULL,
    now           text NOT NULL,
    proposed      text NOT NULL,
    saving_low    numeric NOT NULL,
    saving        numeric NOT NULL,
    saving_high   numeric NOT NULL,
    cost_acted_on numeric NOT NULL,
    formula       text NOT NULL,
    evidence      text NOT NULL,
    evidence_grade text NOT NULL,
    confidence    text NOT NULL,
    risk          text NOT NULL,
    effort        text NOT NULL,
    owner         text NOT NULL,
    PRIMARY KEY (audit_id, recommendation_no)
);
COMMENT ON TABLE audit.recommendation IS 'One row is a recommendation; savings are per month and stacked: each acts on what the ones before left';
COMMENT ON COLUMN audit.recommendation.stack IS 'place of the rule in the stack, from 1';
COMMENT ON COLUMN audit.recommendation.saving IS 'expected saving per month; low and high bound it';
COMMENT ON COLUMN audit.recommendation.cost_acted_on IS 'cost per month the saving is taken from';
COMMENT ON COLUMN audit.recommendation.evidence IS 'query that shows the rows behind it';

CREATE TABLE audit.audit_quality (
    audit_id   int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    check_no   int NOT NULL,
    check_name text NOT NULL,
    finding    text NOT NULL,
    items      bigint,
    gpu_hours  numeric,
    cost       numeric,
    remedy     text NOT NULL,
    PRIMARY KEY (audit_id, check_no)
);
COMMENT ON TABLE audit.audit_quality IS 'One row is a finding about the data itself: what is missing, unmatched, unknown or rejected, and what to do about it';

-- Exact share n of d equal cells. A division rounds; these reciprocals do not, and cells of one
-- machine are nearly always 1, 2, 4, 5, 8, 10 or 16.
CREATE FUNCTION audit.cell_share(amount numeric, n int, d int) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN n = d THEN amount
        WHEN n = 0 THEN 0 * amount
        WHEN d = 8 THEN amount * n * 0.125
        WHEN d = 4 THEN amount * n * 0.25
        WHEN d = 2 THEN amount * n * 0.5
        WHEN d = 16 THEN amount * n * 0.0625
        WHEN d = 10 THEN amount * n * 0.1
        WHEN d = 5 THEN amount * n * 0.2
        ELSE round(amount * n, 30) / d
    END;
COMMENT ON FUNCTION audit.cell_share(numeric, int, int) IS 'amount x n / d, exact where d divides a power of ten';

-- What of an amount lies in the first n of d seconds. Rounded, so that differences add up exactly; the
-- whole is the amount itself, with every digit.
CREATE FUNCTION audit.running_share(amount numeric, n numeric, d numeric) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN n = 0 THEN 0 * amount WHEN n >= d THEN amount ELSE round(amount * n / d, 12) END;
COMMENT ON FUNCTION audit.running_share(numeric, numeric, numeric) IS 'amount x n / d, rounded to 12 decimals; exact at both ends';

-- The audit a session's analysis works on. Written into WHERE, it lets the planner see one
-- partition, where a join with the audit's row would read those of every audit.
CREATE FUNCTION audit.this_audit() RETURNS int
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN current_setting('gpu_audit.audit_id')::int;
COMMENT ON FUNCTION audit.this_audit() IS 'audit_id of the session setting gpu_audit.audit_id';
