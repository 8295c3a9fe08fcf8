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
