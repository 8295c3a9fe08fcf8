#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/log.h"
#include "common/option.h"
#include "common/settings.h"

static struct arena arena;
static struct settings settings;
static struct error err;
static char folder[64];
static char path[128]; /* the configuration file of the test */

static int
begin(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/audit-settings.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/my.conf", folder);
    error_clear(&err);
    /* the tester's own configuration stays out of it */
    return setenv("XDG_CONFIG_HOME", folder, 1) == 0 ? chdir(folder) : -1;
}

static void
remove_file(const char *name)
{
    char file[256];

    snprintf(file, sizeof(file), "%s/%s", folder, name);
    unlink(file);
}

static int
end(void **state)
{
    static const char *const variables[] = {"GPU_AUDIT_CONFIG",        "GPU_AUDIT_QUARTER",
                                            "GPU_AUDIT_DAYS",          "GPU_AUDIT_CURRENCY",
                                            "GPU_AUDIT_DATABASE",      "GPU_AUDIT_MAIL_SERVER",
                                            "GPU_AUDIT_MAIL_PASSWORD", "AUDIT_TEST_TOKEN",
                                            "CREDENTIALS_DIRECTORY",   "GPU_AUDIT_IDLE_THRESHOLD"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        unsetenv(variables[i]);
    remove_file("my.conf");
    remove_file("token");
    arena_free(&arena);
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

static void
write_file(const char *name, const char *text, size_t size)
{
    char file[256];
    FILE *out;

    snprintf(file, sizeof(file), "%s/%s", folder, name);
    out = fopen(file, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(file, 0600), 0);
}

/* Parses the words of a command line (blanks part them) and loads the file if there is one. */
static bool
load(const char *words)
{
    char line[512];
    char *argv[32] = {(char[]){"gpu-audit"}};
    int argc = 1;
    char *rest = line, *word;

    snprintf(line, sizeof(line), "%s", words);
    while ((word = strsep(&rest, " ")))
        if (word[0])
            argv[argc++] = word;
    error_clear(&err);
    return settings_parse(&settings, &arena, argc, argv, &err) &&
           settings_load(&settings, true, &err);
}

static bool
load_text(const char *text, const char *words)
{
    char line[512];

    write_file("my.conf", text, strlen(text));
    snprintf(line, sizeof(line), "--config %s %s", path, words);
    return load(line);
}

static void
assert_error(enum error_code code, const char *text)
{
    assert_int_equal(err.code, code);
    if (!strstr(err.text, text))
        fail_msg("\"%s\" is not in \"%s\"", text, err.text);
}

static const struct section *
source(const char *kind, const char *name)
{
    const struct section *section;

    for (section = settings.sections; section; section = section->next)
        if (strcmp(section->kind, kind) == 0 && strcmp(section->name, name) == 0)
            return section;
    fail_msg("no [%s %s]", kind, name);
    return NULL;
}

/* ---- the command line */

static void
options_stand_before_and_after(void **state)
{
    (void)state;
    assert_true(load("--quarter=2026Q3 -vv ingest bills --format csv -- --not-an-option"));
    assert_string_equal(settings.command, "ingest");
    assert_int_equal(settings.argc, 2);
    assert_string_equal(settings.argv[0], "bills");
    assert_string_equal(settings.argv[1], "--not-an-option");
    assert_null(settings.argv[2]);
    assert_string_equal(settings.window.name, "2026Q3");
    assert_string_equal(settings.format, "csv");
    assert_int_equal(settings.verbosity, 2);
    assert_true(load("-q run --no-mail --draft --dry-run"));
    assert_int_equal(settings.verbosity, -1);
    assert_true(settings.no_mail && settings.draft && settings.dry_run);
    assert_true(load("status --json"));
    assert_string_equal(settings.format, "json");
}

static const struct {
    const char *words, *text, *hint;
} wrong_lines[] = {
    {"run --quartr 2026Q3", "there is no option --quartr", "--quarter"},
    {"run --bogusoption", "there is no option --bogusoption", "--help"},
    {"run -x", "there is no option -x", "--help"},
    {"run --quarter", "--quarter needs a value", "QUARTER"},
    {"run --quarter 2026Q7", "--quarter: \"2026Q7\" is not a quarter", "2026Q3"},
    {"run --no-mail=yes", "--no-mail takes no value", "alone"},
    {"run --format xml", "--format: \"xml\" is no format", "table|json|csv"},
    {"run --days 0", "--days: days must be a whole number from 1", ""},
    {"run --days 9e1", "--days: days must be", ""},
    {"run --until 2026-9-1 --days 4", "--until: \"2026-9-1\" is not a date", "2026-10-01"},
    {"run --until 2026-09-01T00:00:00Z --days 4", "is not a date", ""},
    {"run --as-of yesterday", "--as-of: \"yesterday\" is not a time", ""},
    {"run --days 90 --quarter 2026Q3", "--quarter and --days are both given", "one of them"},
    {"run --until 2026-09-01", "--until is given without --days", "--days"},
    {"run --log-format xml", "--log-format: \"xml\" is no log-format", "text|json"},
};

static void
usage_errors_say_what_to_do(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(wrong_lines) / sizeof(wrong_lines[0]); i++) {
        if (load(wrong_lines[i].words))
            fail_msg("taken: %s", wrong_lines[i].words);
        assert_error(ERR_USAGE, wrong_lines[i].text);
        if (!strstr(err.hint, wrong_lines[i].hint))
            fail_msg("\"%s\": hint is \"%s\"", wrong_lines[i].words, err.hint);
    }
}

static void
options_of_other_commands_are_refused(void **state)
{
    static const char *const names[] = {"no-mail", NULL};

    (void)state;
    assert_true(load("run --no-mail -v --quarter 2026Q3"));
    assert_true(settings_permit(&settings, names, &err));
    assert_false(settings_permit(&settings, NULL, &err));
    assert_error(ERR_USAGE, "run does not take --no-mail");
}

static void
window_is_the_last_whole_quarter_or_days(void **state)
{
    char text[CALENDAR_TEXT];

    (void)state;
    assert_true(load("run --as-of 2026-10-05T08:00:00Z"));
    assert_string_equal(settings.window.name, "2026Q3");
    assert_true(load("run --days 90 --until 2026-09-29"));
    assert_string_equal(settings.window.name, "2026-07-01..2026-09-29");
    time_format(settings.window.from, text);
    assert_string_equal(text, "2026-07-01T00:00:00Z");
    assert_true(load("run --days 1 --as-of 2026-10-05T08:00:00Z"));
    assert_string_equal(settings.window.name, "2026-10-04..2026-10-05");
    assert_true(load_text("[audit]\nfiscal-year-start = 2\n", "run --quarter 2026Q1"));
    time_format(settings.window.from, text);
    assert_string_equal(text, "2025-02-01T00:00:00Z");
}

/* ---- precedence */

static void
command_line_beats_environment_beats_file(void **state)
{
    static const char text[] =
        "[audit]\nquarter = 2026Q1\ncurrency = EUR\ndatabase = postgresql://file\n";

    (void)state;
    assert_true(load_text(text, "run"));
    assert_string_equal(settings.window.name, "2026Q1");
    assert_string_equal(settings.currency, "EUR");
    assert_string_equal(settings.database, "postgresql://file");
    setenv("GPU_AUDIT_QUARTER", "2026Q2", 1);
    setenv("GPU_AUDIT_CURRENCY", "GBP", 1);
    setenv("GPU_AUDIT_DATABASE", "postgresql://environment", 1);
    assert_true(load_text(text, "run"));
    assert_string_equal(settings.window.name, "2026Q2");
    assert_string_equal(settings.currency, "GBP");
    assert_string_equal(settings.database, "postgresql://environment");
    assert_true(load_text(text, "run --quarter 2026Q3 --database="));
    assert_string_equal(settings.window.name, "2026Q3");
    assert_string_equal(settings.database, "");
    assert_true(load_text(text, "run --days 3 --until 2026-02-04"));
    assert_string_equal(settings.window.name, "2026-02-01..2026-02-04");
    setenv("GPU_AUDIT_DAYS", "4", 1);
    assert_true(load_text(text, "run --quarter 2026Q3"));
    assert_string_equal(settings.window.name, "2026Q3");
}

static void
environment_reaches_other_sections_and_is_checked(void **state)
{
    (void)state;
    setenv("GPU_AUDIT_MAIL_SERVER", "smtp://127.0.0.1:25", 1);
    assert_true(load_text("[mail]\nserver = smtps://file\nfrom = a@example.com\n", "run"));
    assert_string_equal(section_get(settings_section(&settings, "mail"), "server"),
                        "smtp://127.0.0.1:25");
    assert_string_equal(section_get(settings_section(&settings, "mail"), "from"), "a@example.com");
    setenv("GPU_AUDIT_IDLE_THRESHOLD", "500", 1);
    assert_false(load_text("[audit]\n", "run"));
    assert_error(
        ERR_CONFIG,
        "GPU_AUDIT_IDLE_THRESHOLD: idle-threshold must be a number from 0 to 100, not \"500\"");
}

static void
folder_comes_from_the_command_line_too(void **state)
{
    char expected[200];

    (void)state;
    assert_true(load_text("[report]\nfolder = reports\n", "report"));
    snprintf(expected, sizeof(expected), "%s/reports", folder);
    assert_string_equal(section_path(&settings, settings_section(&settings, "report"), "folder"),
                        expected);
    assert_true(load_text("[report]\nfolder = reports\n", "report --out elsewhere"));
    assert_string_equal(section_path(&settings, settings_section(&settings, "report"), "folder"),
                        "elsewhere");
    assert_string_equal(settings_option(&settings, "out"), "elsewhere");
    assert_true(load_text("", "report"));
    assert_string_equal(section_path(&settings, settings_section(&settings, "report"), "folder"),
                        "out");
}

/* ---- the file */

static void
file_is_read(void **state)
{
    const struct section *bills;
    char expected[200];
    double threshold = -1;
    long timeout = -1;

    (void)state;
    assert_true(load_text("\xEF\xBB\xBF; a comment\r\n"
                          "[audit]\r\n"
                          "currency = EUR ; of the report\r\n"
                          "database =       ; empty\r\n"
                          "idle-threshold = 7.5\r\n"
                          "\r\n"
                          "# another\r\n"
                          "  [billing my bills]   ; a name of two words\r\n"
                          "  format = focus\r\n"
                          "\tpath=a;b\r\n"
                          "timeout: 30\r\n"
                          "[telemetry far]\n"
                          "url = https://example.com/x\n"
                          "path = /abs\n"
                          "[inventory empty]",
                          "run"));
    assert_string_equal(settings.currency, "EUR");
    assert_string_equal(settings.database, "");
    bills = source("billing", "my bills");
    assert_int_equal(bills->line, 8);
    assert_string_equal(section_get(bills, "format"), "focus");
    assert_string_equal(section_get(bills, "path"), "a;b");
    snprintf(expected, sizeof(expected), "%s/a;b", folder);
    assert_string_equal(section_path(&settings, bills, "path"), expected);
    snprintf(expected, sizeof(expected), "%s line 10", path);
    assert_string_equal(section_origin(&settings, bills, "path"), expected);
    assert_true(section_int(bills, "timeout", 1, 60, &timeout, &err));
    assert_int_equal(timeout, 30);
    assert_false(section_int(bills, "timeout", 1, 20, &timeout, &err));
    assert_error(ERR_CONFIG, "line 11: timeout must be a whole number from 1 to 20, not \"30\"");
    assert_true(section_number(settings_section(&settings, "audit"), "idle-threshold", 0, 100,
                               &threshold, &err));
    assert_true(threshold == 7.5);
    assert_string_equal(section_path(&settings, source("telemetry", "far"), "path"), "/abs");
    assert_null(section_get(source("inventory", "empty"), "path"));
    assert_true(settings_is_source(bills));
    assert_false(settings_is_source(settings_section(&settings, "audit")));
}

static void
defaults_come_from_the_table(void **state)
{
    double threshold = -1, other = -1;

    (void)state;
    assert_true(load_text("", "run"));
    assert_string_equal(settings.currency, "USD");
    assert_string_equal(section_get(settings_section(&settings, "tags"), "issue"), "jira");
    assert_null(section_get(settings_section(&settings, "mail"), "server"));
    assert_true(section_number(settings_section(&settings, "audit"), "idle-threshold", 0, 100,
                               &threshold, &err));
    assert_true(threshold == 5.0);
    assert_true(
        section_number(settings_section(&settings, "mail"), "server", 0, 100, &other, &err));
    assert_true(other == -1);
}

static const struct {
    const char *text, *error, *hint;
} wrong_files[] = {
    {"[audit]\ncurency = EUR\n", "my.conf line 2: [audit] has no key \"curency\"", "\"currency\""},
    {"[audit]\nidle_treshold = 5\n", "line 2: [audit] has no key \"idle_treshold\"",
     "\"idle-threshold\""},
    {"\n[audti]\n", "line 2: there is no section [audti]", "[audit]"},
    {"[biling x]\n", "line 1: there is no section [biling]", "[billing]"},
    {"[zzzzzzzz]\n", "there is no section [zzzzzzzz]", ""},
    {"[audit x]\n", "line 1: [audit] takes no name", "[audit]"},
    {"[billing]\n", "line 1: [billing] needs a name", "[billing main]"},
    {"[billing a]\n[billing a]\n", "line 2: [billing a] is already on line 1", ""},
    {"[billing a\n", "line 1: the section has no \"]\"", "[KIND NAME]"},
    {"[audit] x\n", "line 1: there is text after the section's \"]\"", ""},
    {"[audit]\nnonsense\n", "line 2: the line is not KEY = VALUE", ""},
    {"[audit]\n= 3\n", "line 2: there is no key", ""},
    {"currency = EUR\n", "line 1: \"currency\" is not in a section", ""},
    {"[audit]\ncurrency = EUR\ncurrency = USD\n", "line 3: \"currency\" is already on line 2", ""},
    {"[audit]\ncurrency = euro\n", "line 2: \"euro\" is not a currency", "ISO 4217"},
    {"[audit]\nidle-threshold = 5%\n",
     "line 2: idle-threshold must be a number from 0 to 100, not \"5%\"", ""},
    {"[audit]\nidle-threshold = 0x5\n", "line 2: idle-threshold must be", ""},
    {"[audit]\nquarter = Q3\n", "line 2: \"Q3\" is not a quarter", "2026Q3"},
    {"[audit]\ncurrency = \xFF\n", "line 2: the line is not UTF-8", "UTF-8"},
    {"[mail]\npasword-file = x\n", "line 2: [mail] has no key \"pasword-file\"", ""},
};

static void
file_errors_name_their_place(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(wrong_files) / sizeof(wrong_files[0]); i++) {
        if (load_text(wrong_files[i].text, "run"))
            fail_msg("taken: %s", wrong_files[i].text);
        assert_error(ERR_CONFIG, wrong_files[i].error);
        if (!strstr(err.hint, wrong_files[i].hint))
            fail_msg("%s: hint is \"%s\"", wrong_files[i].text, err.hint);
    }
}

static void
zero_bytes_are_refused(void **state)
{
    char words[200];

    (void)state;
    write_file("my.conf", "[audit]\ncurr\0ency = EUR\n", 24);
    snprintf(words, sizeof(words), "run -c%s", path);
    assert_false(load(words));
    assert_error(ERR_CONFIG, "line 2: the line is not UTF-8 text");
}

static void
named_file_must_be_there(void **state)
{
    (void)state;
    assert_false(load("run --config /nonexistent/x.conf"));
    assert_error(ERR_CONFIG, "could not open \"/nonexistent/x.conf\": No such file or directory");
    assert_non_null(strstr(err.hint, "gpu-audit init"));
    setenv("GPU_AUDIT_CONFIG", "/nonexistent/y.conf", 1);
    assert_false(load("run"));
    assert_error(ERR_CONFIG, "/nonexistent/y.conf");
}

/* Longer than what the INI library has room for, with and without a comment behind. */
static void
long_values_are_whole(void **state)
{
    enum { LONG = 20000 };
    char *text = malloc(LONG + 200), *jql = malloc(LONG + 1);

    (void)state;
    assert_non_null(text);
    assert_non_null(jql);
    memset(jql, 'j', LONG);
    jql[LONG] = '\0';
    snprintf(text, LONG + 200, "[tracker jira]\njql = %s   ; a comment\nurl = u\n", jql);
    assert_true(load_text(text, "run"));
    assert_string_equal(section_get(source("tracker", "jira"), "jql"), jql);
    assert_string_equal(section_get(source("tracker", "jira"), "url"), "u");
    free(text);
    free(jql);
}

static void
source_keys_are_checked_against_their_lists(void **state)
{
    static const char *const keys[] = {"project-field", "team-field", "jql", NULL};

    (void)state;
    assert_true(load_text("[tracker jira]\nformat = jira-cloud\nheader = A: 1\nheader = B: 2\n"
                          "token-env = T\njql = x\n[tracker other]\nprojekt-field = x\n",
                          "run"));
    assert_true(settings_check_source(&settings, source("tracker", "jira"), keys, &err));
    assert_false(settings_check_source(&settings, source("tracker", "other"), keys, &err));
    assert_error(ERR_CONFIG, "my.conf line 8: [tracker other] has no key \"projekt-field\"");
    assert_string_equal(err.hint, "Did you mean \"project-field\"?");
    assert_false(settings_check_source(&settings, source("tracker", "jira"), NULL, &err));
    assert_error(ERR_CONFIG, "line 6: [tracker jira] has no key \"jql\"");
}

/* ---- secrets */

static const char *
secret(const char *text)
{
    const char *value = "untouched";

    assert_true(load_text(text, "run"));
    if (!section_secret(&settings, source("tracker", "jira"), "token", &value, &err))
        return NULL;
    return value ? value : "none";
}

static void
secrets_come_from_four_places(void **state)
{
    char text[400];

    (void)state;
    setenv("AUDIT_TEST_TOKEN", " from-env\n", 1);
    write_file("token", "from-file\n\n", 11);
    assert_string_equal(secret("[tracker jira]\nurl = x\n"), "none");
    assert_string_equal(secret("[tracker jira]\ntoken = plain\n"), "plain");
    assert_string_equal(secret("[tracker jira]\ntoken-env = AUDIT_TEST_TOKEN\n"), "from-env");
    assert_string_equal(secret("[tracker jira]\ntoken-file = token\n"), "from-file");
    snprintf(text, sizeof(text), "[tracker jira]\ntoken-file = %s/token\n", folder);
    assert_string_equal(secret(text), "from-file");
    assert_string_equal(secret("[tracker jira]\ntoken-command = printf 'from %s' command\n"),
                        "from command");
}

static void
systemd_credentials_are_found_by_name(void **state)
{
    (void)state;
    write_file("token", "credential", 10);
    setenv("CREDENTIALS_DIRECTORY", folder, 1);
    assert_true(load_text("[mail]\npassword-file = token\n", "run"));
    settings.file = "/nowhere/x.conf"; /* relative to the file there would be none */
    {
        const char *value = NULL;

        assert_true(section_secret(&settings, settings_section(&settings, "mail"), "password",
                                   &value, &err));
        assert_string_equal(value, "credential");
    }
}

static void
environment_password_wins(void **state)
{
    const char *value = NULL;

    (void)state;
    setenv("GPU_AUDIT_MAIL_PASSWORD", "from-environment", 1);
    assert_true(load_text("[mail]\npassword-file = nosuch\n", "run"));
    assert_true(
        section_secret(&settings, settings_section(&settings, "mail"), "password", &value, &err));
    assert_string_equal(value, "from-environment");
}

static const struct {
    const char *text, *error;
} wrong_secrets[] = {
    {"token = a\ntoken-env = AUDIT_TEST_TOKEN\n", "line 3: both token and token-env are set"},
    {"token-env = AUDIT_TEST_NOSUCH\n", "line 2: the environment has no AUDIT_TEST_NOSUCH"},
    {"token-file = nosuch\n", "nosuch\": No such file or directory"},
    {"token-file = /dev/zero\n", "line 2: token-file gives more than 64 KiB"},
    {"token-file = /dev/null\n", "line 2: token-file gives an empty token"},
    {"token-command = exit 3\n", "line 2: token-command ended with status 3"},
    {"token-command = printf 'hunter2\\nX: y'\n", "of several lines"},
    {"token-command = yes hunter2\n", "line 2: token-command gives more than 64 KiB"},
    {"token-command = echo hunter2; exit 1\n", "line 2: token-command ended with status 1"},
};

static void
secret_errors_say_where_and_not_what(void **state)
{
    size_t i;

    (void)state;
    setenv("AUDIT_TEST_TOKEN", "hunter2", 1);
    for (i = 0; i < sizeof(wrong_secrets) / sizeof(wrong_secrets[0]); i++) {
        char text[256];

        snprintf(text, sizeof(text), "[tracker jira]\n%s", wrong_secrets[i].text);
        if (secret(text))
            fail_msg("taken: %s", text);
        assert_error(ERR_CONFIG, wrong_secrets[i].error);
        assert_null(strstr(err.text, "hunter2"));
        assert_null(strstr(err.detail, "hunter2"));
    }
}

static void
database_passwords_are_hidden(void **state)
{
    static const char *const addresses[] = {
        "postgresql://audit:hunter2@db.example.com:5432/x?sslmode=require",
        "postgresql://db.example.com/x?user=audit&password=hunter2",
        "host=db.example.com password=hunter2 user=audit",
        "host=db.example.com password='hunter2'",
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        struct buf shown = {0};

        log_close();
        setenv("GPU_AUDIT_DATABASE", addresses[i], 1);
        assert_true(load("run"));
        assert_string_equal(settings.database, addresses[i]);
        log_mask(&shown, addresses[i]);
        assert_null(strstr(shown.data, "hunter2"));
        assert_non_null(strstr(shown.data, "db.example.com"));
        buf_free(&shown);
    }
}

/* ---- the table */

static void
every_option_is_in_the_help(void **state)
{
    const struct option *option;

    (void)state;
    for (option = option_table; option->key; option++) {
        const char *const names[] = {option->key, NULL};
        bool is_common = (option->places & ON_EVERY_COMMAND) == ON_EVERY_COMMAND;
        struct buf buf = {0};
        char text[64];

        assert_true(option->help[0] && option->help[strlen(option->help) - 1] != '.');
        assert_true((option->type == OPTION_FLAG) == (option->argument == NULL));
        if (!(option->places & ON_COMMAND_LINE))
            continue;
        option_help(&buf, is_common ? NULL : names);
        snprintf(text, sizeof(text), "--%s", option->key);
        assert_non_null(strstr(buf.data, text));
        buf_free(&buf);
    }
}

static void
defaults_pass_their_own_checks(void **state)
{
    const struct option *option;

    (void)state;
    for (option = option_table; option->key; option++)
        if (option->fallback && option->fallback[0])
            assert_true(option_check(option, option->fallback, option->key, ERR_BUG, &err));
}

static void
environment_names_follow_the_section(void **state)
{
    char name[64];

    (void)state;
    option_environment(option_find("audit", "as-of"), name, sizeof(name));
    assert_string_equal(name, "GPU_AUDIT_AS_OF");
    option_environment(option_find("mail", "ca-file"), name, sizeof(name));
    assert_string_equal(name, "GPU_AUDIT_MAIL_CA_FILE");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(options_stand_before_and_after),
        TEST(usage_errors_say_what_to_do),
        TEST(options_of_other_commands_are_refused),
        TEST(window_is_the_last_whole_quarter_or_days),
        TEST(command_line_beats_environment_beats_file),
        TEST(environment_reaches_other_sections_and_is_checked),
        TEST(folder_comes_from_the_command_line_too),
        TEST(file_is_read),
        TEST(defaults_come_from_the_table),
        TEST(file_errors_name_their_place),
        TEST(zero_bytes_are_refused),
        TEST(named_file_must_be_there),
        TEST(long_values_are_whole),
        TEST(source_keys_are_checked_against_their_lists),
        TEST(secrets_come_from_four_places),
        TEST(systemd_credentials_are_found_by_name),
        TEST(environment_password_wins),
        TEST(secret_errors_say_where_and_not_what),
        TEST(database_passwords_are_hidden),
        TEST(every_option_is_in_the_help),
        TEST(defaults_pass_their_own_checks),
        TEST(environment_names_follow_the_section),
    };

    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
