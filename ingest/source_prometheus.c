/*
 * GPU telemetry from Prometheus and what answers like it (Thanos, Mimir, VictoriaMetrics): a live
 * server with `url`, answers of query_range or query saved as files with `path`.
 */
#include <config.h>

#include "ingest/prometheus.h"
#include "ingest/source.h"

static bool
prometheus_ingest(struct source_run *run, struct error *err)
{
    const char *url = section_get(run->section, "url");
    const char *path = section_get(run->section, "path");

    if (!url == !path) {
        error_set(err, ERR_CONFIG, "%s line %d: [%s %s] has %s",
                  run->settings->file ? run->settings->file : "configuration", run->section->line,
                  run->section->kind, run->section->name,
                  url ? "both url and path" : "neither url nor path");
        return error_hint(err, "Set url for a live server, or path for a folder of saved answers.");
    }
    return url ? prometheus_live(run, err) : prometheus_saved(run, err);
}

static const char *const keys[] = {
    "url",           "path",          "sample-interval",  "user",      "password",
    "password-file", "password-env",  "password-command", "token",     "token-file",
    "token-env",     "token-command", "ca-file",          "cert-file", "key-file",
    "header",        "org-id",        "parallel",         "timeout",   NULL,
};

const struct source source_prometheus = {
    .format = "prometheus",
    .title = "Prometheus and compatible servers, or their saved answers",
    .kind = SOURCE_TELEMETRY,
    .keys = keys,
    .examine = prometheus_examine,
    .ingest = prometheus_ingest,
};
