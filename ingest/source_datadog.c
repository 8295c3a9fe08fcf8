/* GPU telemetry that Datadog's agent took from DCGM. */
#include <config.h>

#include "ingest/datadog.h"
#include "ingest/source.h"

static const char *const keys[] = {
    "site", "api-key", "api-key-file", "api-key-env", "api-key-command", "app-key", "app-key-file", "app-key-env",
    "app-key-command", "tags", "sample-interval", NULL,
};

const struct source source_datadog = {
    .format = "datadog",
    .title = "Datadog: its DCGM integration",
    .kind = SOURCE_TELEMETRY,
    .keys = keys,
    .examine = datadog_examine,
    .ingest = datadog_live,
};
