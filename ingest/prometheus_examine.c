/* For doctor: whether a live server lets us in, and which signals it has for the window. */
#include <config.h>

#include "ingest/prometheus.h"
#include "ingest/prometheus_query.h"

static bool
has_signal(const struct prometheus_server *server, enum signal signal)
{
    size_t i;

    for (i = 0; i < server->query_count; i++)
        if (server->queries[i].metric.signal == signal)
            return true;
    return false;
}

static void
say_signals(const struct prometheus_server *server, struct buf *finding)
{
    static const enum signal asked[] = {SIGNAL_UTIL, SIGNAL_SM, SIGNAL_MEMORY, SIGNAL_POWER};
    const char *between = "";
    size_t i;

    buf_printf(finding, "%s has ", server->url);
    for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        if (!has_signal(server, asked[i]))
            continue;
        buf_printf(finding, "%s%s", between, signal_name(asked[i]));
        between = ", ";
    }
    if (!has_signal(server, SIGNAL_UTIL))
        buf_puts(finding, "; without util nothing tells idle from busy");
    if (!has_signal(server, SIGNAL_SM))
        buf_puts(finding, "; without sm effective GPU-hours stay unknown");
}

bool
prometheus_examine(struct source_run *run, struct buf *finding, struct error *err)
{
    const struct window *window = &run->settings->window;
    struct prometheus_server server;
    bool is_good;

    if (!prometheus_connect(&server, run, err))
        return false;
    is_good = prometheus_discover(&server, window->from, window->to, err);
    if (is_good)
        say_signals(&server, finding);
    prometheus_disconnect(&server);
    return is_good;
}
