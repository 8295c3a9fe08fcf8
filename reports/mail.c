#include <config.h>

#include "reports/mail.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/facts.h"
#include "reports/html.h"
#include "reports/output.h"
#include "reports/report.h"
#include "reports/template.h"

enum { ATTACHMENT_MAX = 18 << 20, MESSAGE_MAX = 40 << 20, TOP_ROWS = 10 };

struct draft {
    struct settings *settings;
    const struct section *section;
    struct db *db;
    struct arena *arena;
    const char *audit_id;
    struct facts facts;
    struct template_values values;
    struct mail mail;
};

static bool
read_addresses(struct draft *draft, const char *key, bool is_required,
               const struct address **ret_list, struct error *err)
{
    struct address *list = NULL;
    if (!address_parse(draft->arena, section_get(draft->section, key), &list, err))
        return error_context(err, "%s", section_origin(draft->settings, draft->section, key));
    if (list == NULL && is_required) {
        error_set(err, ERR_CONFIG, "%s: [mail] has no %s",
                  section_origin(draft->settings, draft->section, NULL), key);
        return error_hint(err, "Set %s in the section [mail] of the configuration.", key);
    }
    *ret_list = list;
    return true;
}

static bool
read_envelope(struct draft *draft, struct error *err)
{
    struct mail *mail = &draft->mail;
    if (!read_addresses(draft, "from", true, &mail->from, err) ||
        !read_addresses(draft, "to", true, &mail->to, err) ||
        !read_addresses(draft, "cc", false, &mail->cc, err) ||
        !read_addresses(draft, "bcc", false, &mail->bcc, err))
        return false;
    if (mail->from->next != NULL)
        return error_set(err, ERR_CONFIG, "%s: more than one sender",
                         section_origin(draft->settings, draft->section, "from"));
    return true;
}

static const struct table top = {
    .query = "sql/query_sheet_top.sql",
    .columns =
        (const struct column[]){
            {.name = "title", .heading = "What to do"},
            {.name = "scope", .heading = "Where"},
            {.name = "owner", .heading = "Owner"},
            {.name = "saving", .heading = "Saving a month", .kind = VALUE_ROUND_MONEY},
            {0},
        },
    .empty = "Nothing to recommend: no rule found a saving with enough evidence.",
};

static const struct table teams = {
    .query = "sql/query_sheet_team_top.sql",
    .columns =
        (const struct column[]){
            {.name = "name", .heading = "Team"},
            {.name = "gpu_cost", .heading = "GPU cost", .kind = VALUE_ROUND_MONEY},
            {.name = "idle_cost", .heading = "Idle", .kind = VALUE_ROUND_MONEY},
            {.name = "unknown_cost", .heading = "Unknown", .kind = VALUE_ROUND_MONEY},
            {.name = "idle_share", .heading = "Idle share", .kind = VALUE_SHARE},
            {0},
        },
    .empty = "No cost is attributed to any team.",
};

/* The recommendations for those who read plain text: a line each. */
static bool
set_top_lines(struct draft *draft, struct error *err)
{
    struct rows *rows = NULL;
    struct buf lines = {0};
    if (!table_rows(&rows, draft->db, &top, draft->audit_id, err))
        return false;
    while (rows_next(rows, err)) {
        const char *title = rows_text(rows, rows_column(rows, "title")),
                   *scope = rows_text(rows, rows_column(rows, "scope"));
        const char *saving = value_text(draft->arena, VALUE_ROUND_MONEY,
                                        rows_text(rows, rows_column(rows, "saving")));
        buf_printf(&lines, "  %12s  %s%s%s\n", saving, title, scope[0] == '\0' ? "" : ": ", scope);
    }
    if (rows_count(rows) == 0)
        buf_puts(&lines, top.empty);
    template_set(&draft->values, "top_lines", arena_strndup(draft->arena, lines.data, lines.size));
    buf_free(&lines);
    rows_close(rows);
    return err->code == ERR_NONE;
}

static bool
set_table(struct draft *draft, const char *name, const struct table *table, struct error *err)
{
    struct buf html = {0};
    bool is_done = html_table(&html, draft->db, table, draft->audit_id,
                              facts_text(&draft->facts, draft->arena, "currency"), HTML_MAIL,
                              TOP_ROWS + 1, err);
    if (is_done)
        template_set_markup(&draft->values, name,
                            arena_strndup(draft->arena, html.data, html.size));
    buf_free(&html);
    return is_done;
}

static bool
set_words(struct draft *draft, const char *name, const char *asset, struct error *err)
{
    struct buf text = {0};
    bool is_done = template_fill(&text, asset, TEMPLATE_HEADER, &draft->values, err);
    if (is_done)
        template_set(&draft->values, name,
                     arena_strndup(draft->arena, text.size > 0 ? text.data : "", text.size));
    buf_free(&text);
    return is_done;
}

/* The key's value, or "" when it is absent. */
static const char *
text_of(const struct draft *draft, const char *key)
{
    const char *text = section_get(draft->section, key);
    return text == NULL ? "" : text;
}

static bool
set_values(struct draft *draft, const char *workbook_path, struct error *err)
{
    const char *slash = strrchr(workbook_path, '/'), *prefix = text_of(draft, "subject-prefix");
    if (!facts_read(&draft->facts, draft->db, draft->arena, draft->audit_id, err))
        return false;
    template_set_facts(&draft->values, &draft->facts);
    template_set(&draft->values, "workbook", slash == NULL ? workbook_path : slash + 1);
    template_set(&draft->values, "organisation", text_of(draft, "organisation"));
    template_set(&draft->values, "prefix",
                 prefix[0] == '\0' ? "" : arena_printf(draft->arena, "%s ", prefix));
    template_set(&draft->values, "draft", facts_is(&draft->facts, "is_final") ? "" : "DRAFT ");
    return set_words(draft, "words", "templates/summary.txt", err) && set_top_lines(draft, err) &&
           set_table(draft, "top_table", &top, err) && set_table(draft, "team_table", &teams, err);
}

/* Stable for an audit: a mail that is sent again is the same mail to those who got it already. */
static const char *
message_id(struct draft *draft)
{
    char *quarter = arena_strdup(draft->arena, facts_text(&draft->facts, draft->arena, "quarter"));
    for (char *c = quarter; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c))
            *c = '-';
    return arena_printf(draft->arena, "<gpu-audit.%s.r%s.%.24s@%s>", quarter,
                        facts_text(&draft->facts, draft->arena, "revision"),
                        facts_text(&draft->facts, draft->arena, "inputs_sha256"),
                        strchr(draft->mail.from->mailbox, '@') + 1);
}

static bool
add_headers(struct draft *draft, const char *boundary, struct error *err)
{
    struct buf *out = &draft->mail.message;
    const char *organisation = text_of(draft, "organisation");
    if (!set_words(draft, "subject", "templates/mail_subject.txt", err))
        return false;
    mime_date(out, draft->settings->now);
    mime_addresses(out, "From", draft->mail.from);
    mime_addresses(out, "To", draft->mail.to);
    mime_addresses(out, "Cc", draft->mail.cc);
    mime_header(out, "Subject", draft->values.first->text);
    buf_printf(out, "Message-ID: %s\r\n", message_id(draft));
    if (organisation[0] != '\0')
        mime_header(out, "Organization", organisation);
    buf_puts(out, "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n");
    buf_printf(out, "Content-Type: multipart/mixed;\r\n boundary=\"%s\"\r\n\r\n", boundary);
    return true;
}

static bool
add_text(struct draft *draft, const char *asset, enum template_kind kind, const char *type,
         struct error *err)
{
    struct buf text = {0};
    bool is_done = template_fill(&text, asset, kind, &draft->values, err);
    if (is_done) {
        buf_printf(&draft->mail.message,
                   "Content-Type: %s; charset=utf-8\r\nContent-Transfer-Encoding: "
                   "quoted-printable\r\n\r\n",
                   type);
        mime_quoted_printable(&draft->mail.message, text.data);
    }
    buf_free(&text);
    return is_done;
}

static bool
read_file(const char *path, struct buf *out, struct error *err)
{
    char block[65536];
    ssize_t size = -1;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        while ((size = read(file, block, sizeof block)) > 0 && out->size <= ATTACHMENT_MAX)
            buf_add(out, block, (size_t)size);
        int reason = errno;
        close(file);
        errno = reason;
    }
    if (size < 0)
        return error_set(err, ERR_REPORT, "could not read \"%s\": %s", path, strerror(errno));
    if (out->size > ATTACHMENT_MAX) {
        error_set(err, ERR_REPORT, "\"%s\" is too large to mail: more than %d MiB", path,
                  ATTACHMENT_MAX >> 20);
        return error_hint(err,
                          "Put the workbook where people can fetch it, and run with --no-mail.");
    }
    return true;
}

/* File names in headers stay ASCII without quotes. */
static const char *
safe_file_name(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = arena_strdup(arena, slash == NULL ? path : slash + 1);
    for (char *c = name; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && strchr(".-_", *c) == NULL)
            *c = '_';
    return name;
}

static bool
add_workbook(struct draft *draft, const char *path, struct error *err)
{
    struct buf file = {0};
    const char *name = safe_file_name(draft->arena, path);
    bool is_done = read_file(path, &file, err);
    if (is_done) {
        buf_printf(
            &draft->mail.message,
            "Content-Type:\r\n "
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet;\r\n name=\"%s\"\r\n"
            "Content-Transfer-Encoding: base64\r\nContent-Disposition: attachment;\r\n "
            "filename=\"%s\"\r\n\r\n",
            name, name);
        mime_base64(&draft->mail.message, file.data, file.size);
    }
    buf_free(&file);
    return is_done;
}

/* "=_" never stands in base64 or quoted-printable text, so a boundary cannot be met in a part. */
static bool
compose(struct draft *draft, const char *workbook_path, struct error *err)
{
    struct buf *out = &draft->mail.message;
    const char *hash = facts_text(&draft->facts, draft->arena, "inputs_sha256");
    const char *mixed = arena_printf(draft->arena, "=_mixed_%.24s", hash);
    const char *alternative = arena_printf(draft->arena, "=_alternative_%.24s", hash);
    if (!add_headers(draft, mixed, err))
        return false;
    buf_printf(out,
               "--%s\r\nContent-Type: multipart/alternative;\r\n boundary=\"%s\"\r\n\r\n--%s\r\n",
               mixed, alternative, alternative);
    if (!add_text(draft, "templates/mail_body.txt", TEMPLATE_TEXT, "text/plain", err))
        return false;
    buf_printf(out, "--%s\r\n", alternative);
    if (!add_text(draft, "templates/mail_body.html", TEMPLATE_HTML, "text/html", err))
        return false;
    buf_printf(out, "--%s--\r\n\r\n--%s\r\n", alternative, mixed);
    if (!add_workbook(draft, workbook_path, err))
        return false;
    buf_printf(out, "--%s--\r\n", mixed);
    return !out->overflow ||
           error_set(err, ERR_REPORT, "the mail would be larger than %d MiB", MESSAGE_MAX >> 20);
}

/* A draft may still change: it goes out only when somebody says so. Written to a file it harms nobody. */
static bool
may_send(const struct draft *draft, struct error *err)
{
    if (facts_is(&draft->facts, "is_final") || draft->settings->draft || draft->settings->dry_run)
        return true;
    error_set(err, ERR_REPORT, "the audit is a draft: a bill of the window may still change");
    return error_hint(err, "Add --draft to mail it all the same, marked as such.");
}

bool
report_mail(struct settings *settings, struct db *db, int audit_id, const char *workbook_path,
            const char *dry_path, struct error *err)
{
    struct arena arena = {0};
    struct draft draft = {
        .settings = settings,
        .section = settings_section(settings, "mail"),
        .db = db,
        .arena = &arena,
        .audit_id = arena_printf(&arena, "%d", audit_id),
        .values = {.arena = &arena},
        .mail = {.message = {.cap = MESSAGE_MAX}},
    };
    bool is_done = read_envelope(&draft, err) && set_values(&draft, workbook_path, err) &&
                   may_send(&draft, err) && compose(&draft, workbook_path, err);
    if (is_done && settings->dry_run)
        is_done = output_write(&arena, dry_path, &draft.mail.message, err);
    else if (is_done)
        is_done = smtp_send(settings, &draft.mail, err);
    buf_free(&draft.mail.message);
    arena_free(&arena);
    return is_done || error_context(err, "mail");
}
