-- What CloudWatch has listed of GPUs. It forgets who did not report for two weeks; this table does not.

CREATE TABLE audit.cloudwatch_metric (
    source_id     int NOT NULL REFERENCES audit.source,
    namespace     text NOT NULL,
    metric        text NOT NULL,
    dimensions    jsonb NOT NULL,
    first_listed  timestamptz NOT NULL,
    last_listed   timestamptz NOT NULL,
    PRIMARY KEY (source_id, namespace, metric, dimensions)
);
COMMENT ON TABLE audit.cloudwatch_metric IS 'One row is a metric of a GPU that CloudWatch has listed once: instances that are gone are listed no more, their hours can still be asked for by these dimensions';
COMMENT ON COLUMN audit.cloudwatch_metric.source_id IS 'section of the configuration: a region with its credentials';
COMMENT ON COLUMN audit.cloudwatch_metric.namespace IS 'such as CWAgent or ContainerInsights';
COMMENT ON COLUMN audit.cloudwatch_metric.metric IS 'name of the metric, as CloudWatch has it';
COMMENT ON COLUMN audit.cloudwatch_metric.dimensions IS 'names and values; only the whole set finds the metric';
COMMENT ON COLUMN audit.cloudwatch_metric.first_listed IS 'when it was listed for the first time: months loaded before are asked for again';
COMMENT ON COLUMN audit.cloudwatch_metric.last_listed IS 'when it was listed last';
