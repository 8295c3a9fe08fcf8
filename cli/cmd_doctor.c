/* Checks everything an audit stands on, and says what to do about each fault. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "cli/doctor.h"
#include "common/cluster.h"
#include "common/log.h"
#include "common/migrate.h"

struct doctor {
    struct command_run *run;
    bool is_json;
    int checks, faults, lines;
};

enum outcome { OUTCOME_GOOD, OUTCOME_NOTE, OUTCOME_FAULT };

static void
print_json(struct doctor *doctor, enum outcome outcome, const char *subject, const char *text,
           const char *hint)
{
    static const char *const names[] = {"ok", "note", "fault"};
    struct buf buf = {0};

    buf_puts(&buf, doctor->lines ? ",\n {\"subject\": " : " {\"subject\": ");
    buf_json(&buf, subject);
    buf_printf(&buf, ", \"outcome\": \"%s\", \"text\": ", names[outcome]);
    buf_json(&buf, text);
    buf_puts(&buf, ", \"hint\": ");
    buf_json(&buf, hint[0] ? hint : NULL);
    buf_putc(&buf, '}');
    fputs(buf.data, stdout);
    buf_free(&buf);
}

/* Text may come from a server: it is shown as the log would show it. */
static void
print(struct doctor *doctor, enum outcome outcome, const char *subject, const char *text,
      const char *hint)
{
    static const char *const names[] = {"ok", "note", "FAULT"};
    struct buf shown = {0}, shown_hint = {0};

    log_mask(&shown, text);
    log_mask(&shown_hint, hint);
    if (doctor->is_json)
        print_json(doctor, outcome, subject, shown.size ? shown.data : "",
                   shown_hint.size ? shown_hint.data : "");
    else
        printf("%-6s %-24s %s\n", names[outcome], subject, shown.size ? shown.data : "");
    if (!doctor->is_json && shown_hint.size)
        printf("%-6s %-24s -> %s\n", "", "", shown_hint.data);
    doctor->lines++;
    fflush(stdout);
    buf_free(&shown);
    buf_free(&shown_hint);
}

static void
tell(struct doctor *doctor, const char *subject, bool is_good, const struct buf *finding,
     const struct error *err)
{
    struct buf text = {0};

    doctor->checks++;
    if (is_good) {
        print(doctor, OUTCOME_GOOD, subject, finding->size ? finding->data : "", "");
        return;
    }
    doctor->faults++;
    buf_puts(&text, err->text);
    if (err->detail[0])
        buf_printf(&text, " (%s)", err->detail);
    print(doctor, OUTCOME_FAULT, subject, text.data, err->hint);
    buf_free(&text);
}

static void
check_configuration(struct doctor *doctor)
{
    const struct settings *settings = doctor->run->settings;
    struct buf finding = {0};
    struct error err = {0};

    if (settings->file) {
        buf_printf(&finding, "%s, window %s", settings->file, settings->window.name);
    } else {
        error_set(&err, ERR_CONFIG, "there is no configuration file");
        error_hint(&err, "Write one with gpu-audit init, or name one with --config FILE.");
    }
    tell(doctor, "configuration", settings->file != NULL, &finding, &err);
    buf_free(&finding);
}

static void
check_database(struct doctor *doctor)
{
    struct settings *settings = doctor->run->settings;
    struct buf finding = {0};
    struct error err = {0};
    struct db *db = NULL;
    bool is_good = cluster_open(settings, &db, "gpu-audit doctor", &err) && migrate_run(db, &err);

    buf_puts(&finding, settings->database[0] ? "the configured server, schema up to date"
                                             : "the private server, schema up to date");
    tell(doctor, "database", is_good, &finding, &err);
    buf_free(&finding);
    db_close(db);
}

static bool
check_sources(struct doctor *doctor, struct error *err)
{
    struct settings *settings = doctor->run->settings;
    const struct section *section;

    for (section = settings->sections; section; section = section->next) {
        struct buf finding = {0};
        struct error fault = {0};
        bool is_good;

        if (!settings_is_source(section))
            continue;
        if (!interrupt_check(err))
            return false;
        is_good = doctor_source(settings, section, &finding, &fault);
        tell(doctor, arena_printf(doctor->run->arena, "%s %s", section->kind, section->name),
             is_good, &finding, &fault);
        buf_free(&finding);
    }
    return true;
}

static void
check_mail(struct doctor *doctor)
{
    struct settings *settings = doctor->run->settings;
    const struct section *mail = settings_section(settings, "mail");
    struct buf finding = {0};
    struct error err = {0};
    bool is_good;

    if (!section_get(mail, "server")) {
        print(doctor, OUTCOME_NOTE, "mail", "no server is set: nothing will be mailed", "");
        return;
    }
    is_good = doctor_mail(settings, &finding, &err);
    if (is_good && (!section_get(mail, "from") || !section_get(mail, "to"))) {
        is_good = error_set(&err, ERR_CONFIG, "[mail] has no %s",
                            section_get(mail, "from") ? "to" : "from");
        error_hint(&err, "Set from and to in [mail].");
    }
    tell(doctor, "mail", is_good, &finding, &err);
    buf_free(&finding);
}

static bool
has_source(const struct settings *settings, const char *kind)
{
    const struct section *section;

    for (section = settings->sections; section; section = section->next)
        if (section->name[0] && strcmp(section->kind, kind) == 0)
            return true;
    return false;
}

/* What the audit will lack, told before anybody waits for it. */
static void
tell_evidence(struct doctor *doctor)
{
    static const struct {
        const char *kind, *lack;
    } evidence[] = {
        {"billing", "no bill: only owned GPUs will be counted"},
        {"telemetry", "no telemetry: every GPU-hour will be unknown, neither idle nor busy"},
        {"tracker", "no issue tracker: teams and projects come from tags alone"},
        {"inventory", "no inventory: GPUs you own are left out"},
        {"binding", "no host map: telemetry finds its bill by instance name only"},
        {"model", "no cost model: nothing to hold the figures against"},
    };
    size_t i;

    for (i = 0; i < sizeof(evidence) / sizeof(evidence[0]); i++)
        if (!has_source(doctor->run->settings, evidence[i].kind))
            print(doctor, OUTCOME_NOTE, "evidence", evidence[i].lack, "");
}

static bool
run_doctor(struct command_run *run, struct error *err)
{
    const char *format = run->settings->format;
    struct doctor doctor = {.run = run, .is_json = format && strcmp(format, "json") == 0};
    bool is_done;

    if (run->settings->argc || (format && strcmp(format, "csv") == 0)) {
        error_set(err, ERR_USAGE, "doctor takes no %s", run->settings->argc ? "arguments" : "CSV");
        return error_hint(err, "Write gpu-audit doctor, or gpu-audit doctor --json.");
    }
    if (doctor.is_json)
        puts("[");
    check_configuration(&doctor);
    check_database(&doctor);
    is_done = check_sources(&doctor, err);
    if (is_done)
        check_mail(&doctor);
    if (is_done && run->settings->file)
        tell_evidence(&doctor);
    if (doctor.is_json)
        puts("\n]");
    if (!is_done)
        return false;
    if (!doctor.faults)
        return true;
    error_set(err, ERR_FINDINGS, "%d of %d checks found a fault", doctor.faults, doctor.checks);
    return error_hint(err, "Each fault above says what to do; then run gpu-audit doctor again.");
}

static const char *const options[] = {"json", NULL};

const struct command command_doctor = {
    .name = "doctor",
    .arguments = "",
    .title = "check configuration, database, sources and mail server",
    .help = "Checks that the configuration is sound, that the database answers, that the files of\n"
            "every source can be read or its server lets us in, and that the mail server does.\n"
            "Each fault comes with what to do about it; notes tell what evidence the audit will\n"
            "lack. Exit status 1 when there is a fault.\n",
    .options = options,
    .needs = NEEDS_NOTHING,
    .run = run_doctor,
};
