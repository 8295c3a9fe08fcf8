/* Which column of sacct's text is what. */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "ingest/slurm.h"

struct column_name {
    const char *name;
    int column; /* -1: not used */
    bool is_free;
};

/* The first name of a column is the one to ask for. Free text stands last, as it is asked for. */
static const struct column_name names[] = {
    {"JobID", SLURM_JOB_ID, false},
    {"JobIDRaw", SLURM_JOB_ID_RAW, false},
    {"Cluster", SLURM_CLUSTER, false},
    {"User", SLURM_USER, false},
    {"Account", SLURM_ACCOUNT, false},
    {"Partition", SLURM_PARTITION, false},
    {"QOS", SLURM_QOS, false},
    {"State", SLURM_STATE, false},
    {"Submit", SLURM_SUBMIT, false},
    {"Eligible", SLURM_ELIGIBLE, false},
    {"Start", SLURM_START, false},
    {"End", SLURM_END, false},
    {"ElapsedRaw", SLURM_ELAPSED_RAW, false},
    {"Elapsed", SLURM_ELAPSED, false},
    {"Suspended", SLURM_SUSPENDED, false},
    {"Restarts", SLURM_RESTARTS, false},
    {"AllocTRES", SLURM_ALLOC_TRES, false},
    {"ReqTRES", SLURM_REQ_TRES, false},
    {"AllocGRES", SLURM_ALLOC_GRES, false},
    {"ReqGRES", SLURM_REQ_GRES, false},
    {"NNodes", SLURM_NODES, false},
    {"AllocNodes", SLURM_NODES, false},
    {"NodeList", SLURM_NODE_LIST, false},
    {"TRESUsageInAve", SLURM_USAGE, false},
    {"WCKey", SLURM_WCKEY, true},
    {"Comment", SLURM_COMMENT, true},
    {"AdminComment", SLURM_ADMIN_COMMENT, true},
    {"JobName", SLURM_JOB_NAME, true},
    {"SystemComment", -1, true},
    {"WorkDir", -1, true},
    {"SubmitLine", -1, true},
    {"Constraints", -1, true},
    {"Extra", -1, true},
    {"Reason", -1, true},
    {"Container", -1, true},
    {"Licenses", -1, true},
    {"StdErr", -1, true},
    {"StdIn", -1, true},
    {"StdOut", -1, true},
};

static const struct column_name *
name_find(struct field name)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i].name) == name.size && strncasecmp(names[i].name, name.text, name.size) == 0) {
            return &names[i];
        }
    }
    return NULL;
}

static bool
is_word(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* What stands between the first two names. */
static size_t
find_delimiter(struct field header, char ret_delimiter[SLURM_DELIMITER_MOST + 1])
{
    size_t start = 0, end;

    while (start < header.size && is_word((unsigned char)header.text[start])) {
        start++;
    }
    end = start;
    while (end < header.size && !is_word((unsigned char)header.text[end])) {
        end++;
    }
    if (end - start > SLURM_DELIMITER_MOST) {
        return 0;
    }
    memcpy(ret_delimiter, header.text + start, end - start);
    ret_delimiter[end - start] = '\0';
    return end - start;
}

/* "JobName%40" asks for a width: it is no part of the name. */
static struct field
name_only(struct field name)
{
    const char *percent = memchr(name.text, '%', name.size);

    name.size = percent ? (size_t)(percent - name.text) : name.size;
    return csv_trim(name);
}

static bool
add_column(struct slurm_layout *layout, struct field text, char reason[ALLOCATION_REASON])
{
    struct field name = name_only(text);
    const struct column_name *known = name_find(name);
    int column = known ? known->column : -1;

    for (size_t i = 0; i < name.size; i++) {
        if (!is_word((unsigned char)name.text[i])) {
            snprintf(reason, ALLOCATION_REASON, "\"%.*s\" is no name of a column", name.size < 60 ? (int)name.size : 60,
                     name.text);
            return false;
        }
    }
    if (layout->count >= SLURM_FIELDS_MOST) {
        snprintf(reason, ALLOCATION_REASON, "it has more than %d columns", SLURM_FIELDS_MOST);
        return false;
    }
    if (column >= 0 && layout->has[column]) {
        column = -1; /* the first of two counts */
    }
    if (column >= 0) {
        layout->has[column] = true;
    }
    layout->column[layout->count] = column;
    layout->is_free[layout->count++] = known && known->is_free;
    return true;
}

struct slurm_record
slurm_record_empty(void)
{
    struct slurm_record record = {.raw = {"", 0}};

    for (size_t i = 0; i < SLURM_COLUMNS; i++) {
        record.cell[i] = (struct field){"", 0};
    }
    return record;
}

bool
slurm_layout_parse(struct field header, const char *delimiter, struct slurm_layout *ret_layout,
                   char ret_reason[ALLOCATION_REASON])
{
    struct slurm_layout layout = {.delimiter_size = strlen(delimiter)};
    bool is_last = header.size == 0;

    snprintf(layout.delimiter, sizeof(layout.delimiter), "%s", delimiter);
    if (!layout.delimiter_size) {
        layout.delimiter_size = find_delimiter(header, layout.delimiter);
    }
    while (!is_last) {
        const char *end = layout.delimiter_size
                              ? memmem(header.text, header.size, layout.delimiter, layout.delimiter_size)
                              : NULL;
        struct field name = {header.text, end ? (size_t)(end - header.text) : header.size};

        is_last = !end;
        if (!(is_last && name.size == 0) && !add_column(&layout, name, ret_reason)) {
            return false; /* but for the bar that -p puts at the end */
        }
        header.text += name.size + (end ? layout.delimiter_size : 0);
        header.size -= name.size + (end ? layout.delimiter_size : 0);
    }
    if (!layout.has[SLURM_JOB_ID] && !layout.has[SLURM_JOB_ID_RAW]) {
        snprintf(ret_reason, ALLOCATION_REASON, "it begins with no header that names JobID");
        return false;
    }
    *ret_layout = layout;
    return true;
}

const char *
slurm_layout_missing(const struct slurm_layout *layout)
{
    const bool *has = layout->has;

    if (!has[SLURM_START]) {
        return "Start";
    }
    if (!has[SLURM_END] && !has[SLURM_ELAPSED] && !has[SLURM_ELAPSED_RAW]) {
        return "End";
    }
    if (!has[SLURM_ALLOC_TRES] && !has[SLURM_ALLOC_GRES] && !has[SLURM_REQ_TRES] && !has[SLURM_REQ_GRES]) {
        return "AllocTRES";
    }
    return NULL;
}

/* A whole word of a list, without case. */
static bool
lists(const char *known, const char *name)
{
    size_t size = strlen(name);

    for (const char *at = strcasestr(known, name); at; at = strcasestr(at + 1, name)) {
        if ((at == known || !is_word((unsigned char)at[-1])) && !is_word((unsigned char)at[size])) {
            return true;
        }
    }
    return false;
}

const char *
slurm_layout_ask(struct arena *arena, const char *known)
{
    const char *ask = "";

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        bool is_wanted = names[i].column >= 0 && strcmp(names[i].name, "AllocNodes") != 0;

        if (is_wanted && lists(known, names[i].name)) {
            ask = arena_printf(arena, "%s%s%s", ask, *ask ? "," : "", names[i].name);
        }
    }
    return ask;
}
