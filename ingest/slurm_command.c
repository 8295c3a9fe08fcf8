/* What is asked of sacct, month by month. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "common/calendar.h"
#include "common/log.h"
#include "ingest/slurm.h"

enum {
    WORDS_MOST = 32,
    ARGUMENTS = 16,
    HELP_MOST = 64 * 1024,
    SILENCE_SECONDS = 900,
    SETTLED_SECONDS = DAY_SECONDS,
    MARGIN_SECONDS = DAY_SECONDS,
    RANDOM_BYTES = 3,
};

/* ---------------------------------------------------------------- the words of it */

static bool
words_of(struct source_run *run, const char **argv, size_t *ret_count, struct error *err)
{
    const char *at = section_get(run->section, "command");

    *ret_count = 0;
    while (at && *(at += strspn(at, " \t"))) {
        size_t size = strcspn(at, " \t");

        if (*ret_count == WORDS_MOST) {
            return error_set(err, ERR_CONFIG, "%s: command has more than %d words",
                             section_origin(run->settings, run->section, "command"), WORDS_MOST);
        }
        argv[(*ret_count)++] = arena_strndup(run->arena, at, size);
        at += size;
    }
    if (*ret_count == 0) {
        error_set(err, ERR_CONFIG, "%s: command is empty", section_origin(run->settings, run->section, "command"));
        return error_hint(err, "Set it to sacct, or to where sacct is.");
    }
    return true;
}

/* "a,b" or "all": goes into an argument of its own. */
static bool
clusters_of(struct source_run *run, const char **ret_clusters, struct error *err)
{
    const char *clusters = section_get(run->section, "clusters");

    for (const char *c = clusters; c && *c; c++) {
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,", *c)) {
            error_set(err, ERR_CONFIG, "%s: no names of clusters: \"%s\"",
                      section_origin(run->settings, run->section, "clusters"), clusters);
            return error_hint(err, "List them parted by commas, or write all.");
        }
    }
    *ret_clusters = clusters && *clusters ? clusters : NULL;
    return true;
}

static bool
wants_steps(const struct source_run *run)
{
    const char *steps = section_get(run->section, "steps");

    return steps && strcasecmp(steps, "yes") == 0;
}

static bool
silence_of(struct source_run *run, int64_t *ret_seconds, struct error *err)
{
    long seconds = SILENCE_SECONDS;

    if (!section_int(run->section, "timeout", 1, 7 * DAY_SECONDS, &seconds, err)) {
        return false;
    }
    *ret_seconds = seconds;
    return true;
}

/* A job's name may hold any delimiter but one that nobody could know when it was named. */
static const char *
new_delimiter(struct arena *arena)
{
    unsigned char bytes[RANDOM_BYTES] = {0};

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes)) {
        return "|";
    }
    return arena_printf(arena, "|%02x%02x%02x|", bytes[0], bytes[1], bytes[2]);
}

static const char *
stamp(struct arena *arena, int64_t at)
{
    char text[CALENDAR_TEXT];

    time_format(at, text);
    text[strlen(text) - 1] = '\0'; /* sacct takes no Z; it is told TZ=UTC */
    return arena_strdup(arena, text);
}

bool
slurm_question_make(struct source_run *run, const char *columns, int64_t from, int64_t to,
                    struct slurm_question *ret_question, struct error *err)
{
    struct slurm_question question = {.delimiter = new_delimiter(run->arena)};
    const char **argv = arena_alloc(run->arena, (WORDS_MOST + ARGUMENTS) * sizeof(*argv));
    const char *clusters = NULL;
    size_t count = 0;

    if (!words_of(run, argv, &count, err) || !clusters_of(run, &clusters, err) ||
        !silence_of(run, &question.timeout_seconds, err)) {
        return false;
    }
    argv[count++] = "--allusers";
    argv[count++] = "--duplicates";
    argv[count++] = "--parsable2";
    if (!wants_steps(run)) {
        argv[count++] = "--allocations";
    }
    argv[count++] = "--starttime";
    argv[count++] = stamp(run->arena, from);
    argv[count++] = "--endtime";
    argv[count++] = stamp(run->arena, to);
    if (clusters) {
        argv[count++] = "--clusters";
        argv[count++] = clusters;
    }
    argv[count++] = "--format";
    argv[count++] = columns;
    question.name = argv[0];
    for (size_t i = 1; i < count; i++) {
        question.name = arena_printf(run->arena, "%s %s", question.name, argv[i]);
    }
    argv[count++] = "--delimiter";
    argv[count] = question.delimiter;
    question.argv = argv;
    *ret_question = question;
    return true;
}

/* ---------------------------------------------------------------- asking */

bool
slurm_child_blame(struct slurm_child *child, bool is_good, struct error *err)
{
    struct error of_child = {0};
    bool may_tell = is_good || err->code == ERR_INPUT; /* an answer that ends too early: why? */
    bool ended = slurm_child_end(child, may_tell, &of_child);

    if (!ended && may_tell) {
        *err = of_child;
    }
    return ended && is_good;
}

bool
slurm_question_begin(struct source_run *run, const char **ret_columns, struct error *err)
{
    const char **argv = arena_alloc(run->arena, (WORDS_MOST + 2) * sizeof(*argv)), *clusters;
    char *help = arena_alloc(run->arena, HELP_MOST + 1);
    struct slurm_child child;
    size_t count = 0, used = 0, size = 1;
    int64_t silence = 0;
    bool good = true;

    if (!words_of(run, argv, &count, err) || !clusters_of(run, &clusters, err) || !silence_of(run, &silence, err)) {
        return false;
    }
    argv[count] = "--helpformat";
    if (!slurm_child_start(&child, argv, silence, err)) {
        return false;
    }
    while (good && size > 0 && used < HELP_MOST) {
        good = slurm_child_read(&child, help + used, HELP_MOST - used, &size, err);
        used += good ? size : 0;
    }
    if (!slurm_child_blame(&child, good, err)) {
        return false;
    }
    *ret_columns = slurm_layout_ask(run->arena, help);
    if (!strstr(*ret_columns, "JobID") || !strstr(*ret_columns, "Start")) {
        error_set(err, ERR_INPUT, "\"%s --helpformat\" does not list the columns of sacct", argv[0]);
        return error_hint(err, "Set command to sacct, or to where sacct is.");
    }
    return true;
}

/* A whole answer may still be no whole truth: what sacct complained of is kept with it. */
static void
note_complaint(struct source_run *run, const struct slurm_child *child, struct allocation_object *object)
{
    object->size_bytes = (int64_t)child->bytes;
    if (strcasestr(child->said, "error")) {
        object->problem = arena_printf(run->arena, "sacct said: %.*s", (int)strcspn(child->said, "\r\n"), child->said);
        log_warning("%s: %s", object->name, object->problem);
    } else if (child->said_size) {
        log_info("%s: %s", object->name, child->said);
    }
}

static bool
ask(struct source_run *run, struct slurm_feed *feed, const struct slurm_question *question, struct allocation_object *object,
    struct error *err)
{
    struct slurm_child child;
    struct slurm_reader reader = {0};
    bool good;

    log_debug("running %s", question->name);
    if (!slurm_child_start(&child, question->argv, question->timeout_seconds, err)) {
        return false;
    }
    good = slurm_reader_open(&reader, (struct slurm_input){&child, slurm_child_read}, "", question->delimiter, err) &&
           slurm_feed_all(feed, &reader, err);
    slurm_reader_close(&reader);
    good = slurm_child_blame(&child, good, err);
    if (good) {
        note_complaint(run, &child, object);
    }
    return good;
}

static bool
load_month(struct allocation_load *load, const struct slurm_rules *rules, size_t month, const char *columns,
           struct error *err)
{
    struct source_run *run = load->run;
    struct allocation_object *object = arena_alloc(run->arena, sizeof(*object));
    struct slurm_feed feed = {.load = load, .rules = rules};
    struct slurm_question question;
    struct error told = {0};
    bool good;

    if (!slurm_question_make(run, columns, load->months[month].from - MARGIN_SECONDS,
                             load->months[month].to + MARGIN_SECONDS, &question, err)) {
        return false;
    }
    object->name = question.name;
    object->size_bytes = -1;
    if (!allocation_compare(load, month, object, 1, SETTLED_SECONDS, err)) {
        return false;
    }
    if (load->months[month].is_current) {
        return true;
    }
    good = allocation_begin(load, month, month + 1, object, 1, err) && ask(run, &feed, &question, object, err);
    good = slurm_feed_end(&feed, good ? err : &told) && good && allocation_commit(load, err);
    if (good) {
        slurm_feed_warn(&feed, question.argv[0]);
    } else {
        allocation_failed(load, object->name, err);
    }
    return good;
}

bool
slurm_command(struct source_run *run, const struct slurm_rules *rules, struct error *err)
{
    struct allocation_load load;
    const char *columns = NULL;

    if (!allocation_open(&load, run, err)) {
        return false;
    }
    if (!slurm_question_begin(run, &columns, err)) {
        load.end = load.month_count; /* none of them could be asked for */
        allocation_failed(&load, section_get(run->section, "command"), err);
        return false;
    }
    for (size_t month = 0; month < load.month_count; month++) {
        if (!load_month(&load, rules, month, columns, err)) {
            return false;
        }
    }
    return true;
}
