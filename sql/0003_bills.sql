-- Bills of every provider: what a period's delivery says about itself, and the rates it carries.

CREATE TABLE audit.billing_period (
    slice_id        int PRIMARY KEY REFERENCES audit.slice,
    days_present    bit(64) NOT NULL,
    rows_invoiced   bigint,
    rows_uninvoiced bigint,
    delivered       timestamptz
);
COMMENT ON TABLE audit.billing_period IS 'One row says how complete the loaded bill of a period is. The view billing_completeness reads it';
COMMENT ON COLUMN audit.billing_period.slice_id IS 'source and billing period';
COMMENT ON COLUMN audit.billing_period.days_present IS 'bit n, from the left: there is use on day n of the period';
COMMENT ON COLUMN audit.billing_period.rows_invoiced IS 'rows that carry an invoice number; NULL where the format has none';
COMMENT ON COLUMN audit.billing_period.rows_uninvoiced IS 'rows without one: the provider has not closed the bill; NULL where the format has none';
COMMENT ON COLUMN audit.billing_period.delivered IS 'when the newest object of the period was delivered: its manifest''s word, else the time of the file; NULL: unknown';

CREATE TABLE audit.billing_fx (
    slice_id       int NOT NULL REFERENCES audit.slice,
    from_currency  text NOT NULL,
    to_currency    text NOT NULL,
    rate           numeric NOT NULL CHECK (rate > 0),
    row_count      bigint NOT NULL,
    PRIMARY KEY (slice_id, from_currency, to_currency, rate)
);
COMMENT ON TABLE audit.billing_fx IS 'One row is an exchange rate that rows of a bill carry: one unit of from_currency is rate of to_currency';
COMMENT ON COLUMN audit.billing_fx.to_currency IS 'the currency the bill asks to be paid in';
COMMENT ON COLUMN audit.billing_fx.row_count IS 'rows that carry it';

-- Bills by a map, and prices by a rate card: what a GPU row without an instance type is, where a
-- cost comes from that the bill does not have, and hours whose cost nobody knows.

ALTER TABLE audit.billing_item ADD COLUMN gpu_model text, ADD COLUMN priced_by text;
COMMENT ON COLUMN audit.billing_item.gpu_model IS 'model or family of the catalog that the bill''s text names; NULL: none, or the instance type says it';
COMMENT ON COLUMN audit.billing_item.priced_by IS 'the line of the rate card by which the costs are computed; NULL: the bill gives them';
ALTER TABLE audit.billing_charge ALTER COLUMN billed_cost DROP NOT NULL, ALTER COLUMN effective_cost DROP NOT NULL;
COMMENT ON COLUMN audit.billing_charge.billed_cost IS 'what the invoice asks, in the currency of billing_item; NULL: unknown, the bill tells quantities only and the rate card has no price';
COMMENT ON COLUMN audit.billing_charge.effective_cost IS 'amortized cost in the same currency; NULL as billed_cost';

CREATE TABLE audit.billing_map (
    source_id    int PRIMARY KEY REFERENCES audit.source,
    fingerprint  text NOT NULL
);
COMMENT ON TABLE audit.billing_map IS 'One row says by what map and rate card the bills of a source were read last; another one reads them again';
COMMENT ON COLUMN audit.billing_map.fingerprint IS 'hash of the section''s map and of its rate card';

-- Pods and tasks on AWS, from split cost allocation.

CREATE TABLE audit.pod_share (
    slice_id        int NOT NULL REFERENCES audit.slice,
    parent_key      text NOT NULL,
    cluster         text,
    namespace       text,
    pod             text,
    resource_id     text NOT NULL,
    is_accelerator  boolean NOT NULL,
    share_from      timestamptz NOT NULL,
    share_to        timestamptz NOT NULL,
    usage           numeric,
    split_cost      numeric,
    unused_cost     numeric
);
CREATE INDEX ON audit.pod_share (slice_id, parent_key);
COMMENT ON TABLE audit.pod_share IS 'One row is what a pod or task had of a machine with GPUs in an hour, by the bill''s own split. Its money and hours are those of the machine and stand in billing_charge: never add the two';
COMMENT ON COLUMN audit.pod_share.slice_id IS 'source and billing period';
COMMENT ON COLUMN audit.pod_share.parent_key IS 'the machine: resource_key of billing_item';
COMMENT ON COLUMN audit.pod_share.cluster IS 'of the pod or task; NULL where its ARN does not say';
COMMENT ON COLUMN audit.pod_share.namespace IS 'of the pod; NULL for a task';
COMMENT ON COLUMN audit.pod_share.pod IS 'name of the pod, or of the task';
COMMENT ON COLUMN audit.pod_share.resource_id IS 'as the bill writes it';
COMMENT ON COLUMN audit.pod_share.is_accelerator IS 'the row measures accelerators; else cores or memory of a machine with GPUs';
COMMENT ON COLUMN audit.pod_share.usage IS 'accelerator-hours (else core- or gigabyte-hours) that the pod used or had reserved, whichever is more; NULL: the bill does not say';
COMMENT ON COLUMN audit.pod_share.split_cost IS 'amortized cost of that, in the currency of the machine';
COMMENT ON COLUMN audit.pod_share.unused_cost IS 'the pod''s share of what nobody used of the machine';

-- Objects elsewhere are known by what their store says of them.

COMMENT ON COLUMN audit.load.object IS 'file, object or query the rows came from: a path, s3://BUCKET/KEY, an https address without its query; a member of a zip file stands behind it (bill.zip/july.csv), a delivery that is not whole under its manifest';
COMMENT ON COLUMN audit.load.sha256 IS 'hash of the object as delivered, or etag:… of one that lies in a bucket or behind an address; equal with equal size: nothing to load';

-- How far an audit's bills can be trusted, what its money lacks, and what became of the tags.

CREATE TABLE audit.audit_completeness (
    audit_id        int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    source_name     text NOT NULL,
    period          text NOT NULL,
    in_window        boolean,
    state           text NOT NULL CHECK (state IN ('open', 'closed', 'final', 'unknown', 'missing')),
    reason          text NOT NULL,
    doubt           text,
    days_expected   int NOT NULL,
    days_with_use   int,
    days_missing    text,
    first_day       date,
    last_day        date,
    delivered       timestamptz,
    rows_invoiced   bigint,
    rows_uninvoiced bigint,
    rows_rejected   bigint NOT NULL,
    PRIMARY KEY (audit_id, source_name, period)
);
COMMENT ON TABLE audit.audit_completeness IS 'One row is a source and billing period of an audit, frozen from view billing_completeness';
COMMENT ON COLUMN audit.audit_completeness.in_window IS 'the period holds time of the window; false: a later one, read for its corrections';
COMMENT ON COLUMN audit.audit_completeness.state IS 'open or missing: the audit is a draft; closed, final: the provider is done; unknown: nothing tells';
COMMENT ON COLUMN audit.audit_completeness.doubt IS 'why the figures of the period cannot be trusted, whatever its state; NULL: nothing against them';
COMMENT ON COLUMN audit.audit_completeness.days_missing IS 'days without use, as ranges; NULL: none';

CREATE TABLE audit.audit_rate (
    audit_id     int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    source_name  text NOT NULL,
    month        text NOT NULL,
    currency     text NOT NULL,
    rate         numeric,
    how          text NOT NULL,
    rates        int NOT NULL,
    billed_cost  numeric,
    PRIMARY KEY (audit_id, source_name, month, currency)
);
COMMENT ON TABLE audit.audit_rate IS 'One row is the rate by which an audit converts a source''s money of a month and currency';
COMMENT ON COLUMN audit.audit_rate.rate IS 'one unit is so much of the audit''s currency; NULL: no rate, and the money is in no figure';
COMMENT ON COLUMN audit.audit_rate.how IS 'where the rate comes from, or what is missing';
COMMENT ON COLUMN audit.audit_rate.rates IS 'how many different rates the bill carries for the pair; 0: none';
COMMENT ON COLUMN audit.audit_rate.billed_cost IS 'the whole bill of that month in that currency; NULL for owned machines';

CREATE TABLE audit.audit_gap (
    audit_id        int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    subject_no      int,
    provider        text NOT NULL,
    kind            text NOT NULL CHECK (kind IN ('rate', 'price', 'cost', 'gpu count')),
    month           text NOT NULL,
    currency        text,
    billed_cost     numeric,
    effective_cost  numeric
);
CREATE INDEX audit_gap_audit ON audit.audit_gap (audit_id);
COMMENT ON TABLE audit.audit_gap IS 'One row is what sums of a subject leave out: money without a rate, use without a price, owned machines without a cost, hours of an unknown number of GPUs';
COMMENT ON COLUMN audit.audit_gap.subject_no IS 'NULL: an unused commitment';
COMMENT ON COLUMN audit.audit_gap.billed_cost IS 'what is left out, in its own currency; NULL: unknown, or hours';

CREATE TABLE audit.audit_unknown_type (
    audit_id        int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    provider        text NOT NULL,
    instance_type   text,
    gpu_count       numeric,
    resources       bigint NOT NULL,
    instance_hours  numeric,
    gpu_hours       numeric,
    billed_cost     numeric,
    effective_cost  numeric,
    catalog_line    text
);
CREATE INDEX audit_unknown_type_audit ON audit.audit_unknown_type (audit_id);
COMMENT ON TABLE audit.audit_unknown_type IS 'One row is an instance type with GPUs that no catalog knows, with what it ran and cost in the window';
COMMENT ON COLUMN audit.audit_unknown_type.instance_type IS 'NULL: the bill names none';
COMMENT ON COLUMN audit.audit_unknown_type.gpu_count IS 'GPUs by the bill''s own word; NULL: nobody knows';
COMMENT ON COLUMN audit.audit_unknown_type.gpu_hours IS 'by the bill''s own count; NULL: unknown';
COMMENT ON COLUMN audit.audit_unknown_type.effective_cost IS 'in every figure of money: unknown hours are no unknown money';
COMMENT ON COLUMN audit.audit_unknown_type.catalog_line IS 'the line to put into a [prices] file; MODEL and GPUS are for you to fill in';

CREATE TABLE audit.audit_tag_collision (
    audit_id     int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    provider     text NOT NULL,
    resource_id  text NOT NULL,
    tag          text NOT NULL,
    spellings    text NOT NULL,
    taken        text,
    why          text NOT NULL,
    cost         numeric
);
CREATE INDEX audit_tag_collision_audit ON audit.audit_tag_collision (audit_id);
COMMENT ON TABLE audit.audit_tag_collision IS 'One row is a resource with several tags whose keys are one (trimmed, without case and prefix) and whose values differ';
COMMENT ON COLUMN audit.audit_tag_collision.spellings IS 'the keys with their values, as delivered';
COMMENT ON COLUMN audit.audit_tag_collision.taken IS 'the value that counts; NULL: no figure goes by this tag';
COMMENT ON COLUMN audit.audit_tag_collision.cost IS 'effective cost of the resource under these tags';

CREATE TABLE audit.audit_tag_spelling (
    audit_id   int NOT NULL REFERENCES audit.audit ON DELETE CASCADE,
    tag        text NOT NULL,
    spelling   text NOT NULL,
    resources  bigint NOT NULL,
    PRIMARY KEY (audit_id, tag, spelling)
);
COMMENT ON TABLE audit.audit_tag_spelling IS 'One row is a spelling of a tag that comes in several';
COMMENT ON COLUMN audit.audit_tag_spelling.resources IS 'resources that carry it';

ALTER TABLE audit.audit_figure ADD COLUMN lacks_cost boolean NOT NULL DEFAULT false, ADD COLUMN lacks_gpu_hours boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN audit.audit_figure.lacks_cost IS 'true where sums of money leave something out (see audit_gap): ratios of it are unknown';
COMMENT ON COLUMN audit.audit_figure.lacks_gpu_hours IS 'true where sums of GPU-hours leave out machines with an unknown number of GPUs: ratios of them are unknown';
