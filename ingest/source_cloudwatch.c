/* GPU telemetry that CloudWatch's agent or Container Insights sent to Amazon CloudWatch. */
#include <config.h>

#include "ingest/cloudwatch.h"
#include "ingest/source.h"

static const char *const keys[] = {"region", "endpoint", "credentials", "namespace", "sample-interval", NULL};

const struct source source_cloudwatch = {
    .format = "cloudwatch",
    .title = "Amazon CloudWatch: its agent's nvidia_gpu, or Container Insights",
    .kind = SOURCE_TELEMETRY,
    .keys = keys,
    .examine = cloudwatch_examine,
    .ingest = cloudwatch_live,
};
