/*
 * Split cost allocation: which pod or task used how much of a machine's accelerators. Rows wait in a
 * temporary table while the bill streams by; when a slice is sealed, its own go to audit.pod_share in
 * the place of the old ones, in the load's transaction. Of machines without a GPU none are kept.
 */
#include <config.h>

#include <string.h>

#include "common/calendar.h"
#include "common/decimal.h"
#include "ingest/bill_aws.h"
#include "ingest/ingest.h"

enum { PODS_FLUSH = 4096 };

struct pod {
    char period[CALENDAR_TEXT];
    const char *parent, *resource, *usage, *split, *unused;
    bool is_accelerator, is_gpu;
    int64_t from, to;
};

struct aws_pods {
    struct source_run *run;
    struct arena arena; /* of rows that wait */
    struct pod *pods;
    size_t count;
    bool has_stage;
    struct error err;   /* the first */
};

struct aws_pods *
aws_pods_new(struct source_run *run)
{
    struct aws_pods *pods = arena_alloc(run->arena, sizeof *pods);

    pods->run = run;
    return pods;
}

static void
copy_amount(struct copy *copy, const char *text)
{
    if (*text)
        copy_numeric(copy, text, strlen(text));
    else
        copy_null(copy);
}

static bool
send(struct copy *copy, const struct pod *pod, struct error *err)
{
    copy_cstring(copy, pod->period);
    copy_cstring(copy, pod->parent);
    copy_cstring(copy, pod->resource);
    copy_bool(copy, pod->is_accelerator);
    copy_bool(copy, pod->is_gpu);
    copy_time(copy, pod->from);
    copy_time(copy, pod->to);
    copy_amount(copy, pod->usage);
    copy_amount(copy, pod->split);
    copy_amount(copy, pod->unused);
    return copy_row(copy, err);
}

static bool
flush(struct aws_pods *pods, struct error *err)
{
    struct copy *copy;
    bool is_good = true;

    if (!pods->count)
        return true;
    if (!pods->has_stage && !db_run(pods->run->db, "sql/billing_pod_stage.sql", 0, NULL, err))
        return false;
    pods->has_stage = true;
    if (!copy_begin(&copy, pods->run->db,
                    "COPY stage_pod (period, parent_key, resource_id, is_accelerator, is_gpu, share_from, share_to, usage, "
                    "split_cost, unused_cost) FROM STDIN (FORMAT binary)", 10, err))
        return false;
    for (size_t i = 0; is_good && i < pods->count; i++)
        is_good = send(copy, &pods->pods[i], err);
    pods->count = 0;
    pods->pods = NULL;
    arena_free(&pods->arena);
    if (is_good)
        return copy_end(copy, NULL, err);
    struct error told_already = {0};
    bool ended = copy_end(copy, "a row could not be sent", &told_already);
    (void)ended;
    return false;
}

/* A number that is none is unknown; the row's money counts elsewhere. */
static const char *
amount(struct arena *arena, struct field number)
{
    return decimal_fits(number.text, number.size) ? arena_strndup(arena, number.text, number.size) : "";
}

void
aws_pods_add(struct aws_pods *pods, const struct aws_class *class, const struct bill_charge *charge, int64_t period,
             struct field usage, struct field split, struct field unused)
{
    struct arena *arena = &pods->arena;
    struct pod *pod;

    if (pods->err.code)
        return; /* the transaction is over */
    if (!pods->pods)
        pods->pods = arena_alloc(arena, PODS_FLUSH * sizeof *pods->pods);
    pod = &pods->pods[pods->count++];
    *pod = (struct pod){
        .parent = arena_strdup(arena, class->parent),
        .resource = arena_strdup(arena, class->pod),
        .usage = amount(arena, usage),
        .split = amount(arena, split),
        .unused = amount(arena, unused),
        .is_accelerator = class->is_accelerator,
        .is_gpu = class->is_gpu,
        .from = charge->from,
        .to = charge->to,
    };
    month_format(month_start(period), pod->period);
    if (pods->count == PODS_FLUSH && !flush(pods, &pods->err))
        pods->count = 0;
}

bool
aws_pods_seal(const void *state, const char *slice_id, const char *period, struct error *err)
{
    struct aws_pods *pods = ((const struct aws_state *)state)->pods;
    const char *const param[] = {slice_id, period};

    if (!flush(pods, err) || !db_run(pods->run->db, "sql/billing_pod_delete.sql", 1, param, err))
        return false;
    return !pods->has_stage || db_run(pods->run->db, "sql/billing_pod.sql", 2, param, err);
}

void
aws_pods_end(struct aws_pods *pods, struct error *err)
{
    arena_free(&pods->arena);
    if (pods->err.code)
        *err = pods->err;
}
