/* The one table of options. Its order is that of --help and of the manual page. */
#include <config.h>

#include "common/option.h"

#define EVERYWHERE (ON_EVERY_COMMAND | IN_ENVIRONMENT)

/* clang-format off: rows read alike, and build-aux/check-docs.sh reads them too. */
const struct option option_table[] = {

    /* On the command line of every command. */
    { .section = "audit", .key = "config", .letter = 'c', .type = OPTION_TEXT,
      .places = EVERYWHERE, .argument = "FILE",
      .help = "configuration file; without it ./gpu-audit.conf, "
              "$XDG_CONFIG_HOME/gpu-audit/gpu-audit.conf and /etc/gpu-audit/gpu-audit.conf are "
              "tried" },
    { .section = "audit", .key = "database", .type = OPTION_TEXT, .places = EVERYWHERE | IN_FILE,
      .argument = "URL", .fallback = "",
      .help = "PostgreSQL database as a postgresql:// address; empty: a private server that "
              "gpu-audit keeps itself" },
    { .section = "audit", .key = "quarter", .type = OPTION_QUARTER,
      .places = EVERYWHERE | IN_FILE, .argument = "QUARTER",
      .help = "quarter to audit, such as 2026Q3; without it the last whole one" },
    { .section = "audit", .key = "days", .type = OPTION_INTEGER, .places = EVERYWHERE,
      .argument = "N", .least = 1, .most = 1100,
      .help = "audit N days instead of a quarter; they end where --until says" },
    { .section = "audit", .key = "until", .type = OPTION_DATE, .places = EVERYWHERE,
      .argument = "DATE",
      .help = "the day after the last of --days; without it today" },
    { .section = "audit", .key = "as-of", .type = OPTION_TIME, .places = EVERYWHERE,
      .argument = "TIME",
      .help = "take TIME for now, so that a run can be repeated exactly" },
    { .section = "audit", .key = "format", .type = OPTION_CHOICE, .places = EVERYWHERE,
      .argument = "FORMAT", .choices = "table|json|csv",
      .help = "how results are printed: table, json or csv" },
    { .section = "audit", .key = "verbose", .letter = 'v', .type = OPTION_FLAG,
      .places = ON_EVERY_COMMAND,
      .help = "tell more; twice: much more" },
    { .section = "audit", .key = "quiet", .letter = 'q', .type = OPTION_FLAG,
      .places = ON_EVERY_COMMAND,
      .help = "tell only warnings and errors" },
    { .section = "audit", .key = "log-format", .type = OPTION_CHOICE, .places = EVERYWHERE,
      .argument = "FORMAT", .choices = "text|json", .fallback = "text",
      .help = "messages as text, or as one JSON object a line" },
    { .section = "audit", .key = "help", .letter = 'h', .type = OPTION_FLAG,
      .places = ON_EVERY_COMMAND,
      .help = "print help" },
    { .section = "audit", .key = "version", .letter = 'V', .type = OPTION_FLAG,
      .places = ON_EVERY_COMMAND,
      .help = "print the version" },

    /* Of some commands. */
    { .section = "report", .key = "out", .sets = "folder", .letter = 'o', .type = OPTION_TEXT,
      .places = ON_COMMAND_LINE, .argument = "DIR",
      .help = "folder for the workbook and the page; without it [report] folder" },
    { .section = "audit", .key = "no-mail", .type = OPTION_FLAG, .places = ON_COMMAND_LINE,
      .help = "leave the mail out" },
    { .section = "audit", .key = "draft", .type = OPTION_FLAG, .places = ON_COMMAND_LINE,
      .help = "mail the audit even while it is a draft: a bill of the window may still change" },
    { .section = "audit", .key = "dry-run", .type = OPTION_FLAG, .places = ON_COMMAND_LINE,
      .help = "show what would be done; for a mail, write it to a file" },
    { .section = "audit", .key = "fail-on", .type = OPTION_TEXT,
      .places = ON_COMMAND_LINE | IN_ENVIRONMENT, .argument = "FINDING",
      .help = "exit with status 1 when the audit has a finding of this kind" },
    { .section = "audit", .key = "list", .type = OPTION_FLAG, .places = ON_COMMAND_LINE,
      .help = "list what there is to choose from" },
    { .section = "audit", .key = "json", .type = OPTION_FLAG, .places = ON_COMMAND_LINE,
      .help = "the same as --format json" },

    /* In the file. */
    { .section = "audit", .key = "currency", .type = OPTION_TEXT,
      .places = IN_FILE | IN_ENVIRONMENT, .argument = "CODE", .fallback = "USD",
      .help = "currency of the report, an ISO 4217 code" },
    { .section = "audit", .key = "fiscal-year-start", .type = OPTION_INTEGER,
      .places = IN_FILE | IN_ENVIRONMENT, .argument = "MONTH", .least = 1, .most = 12,
      .fallback = "1",
      .help = "month in which fiscal years begin; they have the name of the calendar year in "
              "which they end" },
    { .section = "audit", .key = "idle-threshold", .type = OPTION_NUMBER,
      .places = IN_FILE | IN_ENVIRONMENT, .argument = "PCT", .least = 0, .most = 100,
      .fallback = "5",
      .help = "utilization in percent below which an hour of a GPU is idle" },
    { .section = "audit", .key = "gpu-share", .type = OPTION_NUMBER,
      .places = IN_FILE | IN_ENVIRONMENT, .argument = "SHARE", .least = 0, .most = 1,
      .fallback = "1.0",
      .help = "share of a GPU machine's price that counts as GPU cost" },
    { .section = "audit", .key = "parquet-library", .type = OPTION_TEXT,
      .places = IN_FILE | IN_ENVIRONMENT, .argument = "FILE",
      .help = "DuckDB's libduckdb.so, by which bills in Parquet are read; without it the one that "
              "the system finds" },
    { .section = "tags", .key = "team", .type = OPTION_TEXT, .places = IN_FILE, .argument = "KEY",
      .fallback = "team",
      .help = "tag key that names the team" },
    { .section = "tags", .key = "project", .type = OPTION_TEXT, .places = IN_FILE,
      .argument = "KEY", .fallback = "project",
      .help = "tag key that names the project" },
    { .section = "tags", .key = "issue", .type = OPTION_TEXT, .places = IN_FILE,
      .argument = "KEY", .fallback = "jira",
      .help = "tag key that names the issue in the tracker" },
    { .section = "report", .key = "folder", .type = OPTION_TEXT,
      .places = IN_FILE | IN_ENVIRONMENT, .argument = "DIR", .fallback = "out",
      .help = "folder for the workbook and the page" },
    { .section = "mail", .key = "server", .type = OPTION_TEXT, .places = IN_FILE | IN_ENVIRONMENT,
      .argument = "URL",
      .help = "mail server: smtps://HOST, or smtp://HOST:PORT with STARTTLS" },
    { .section = "mail", .key = "user", .type = OPTION_TEXT, .places = IN_FILE | IN_ENVIRONMENT,
      .argument = "NAME",
      .help = "name to log in with; without it nobody logs in" },
    { .section = "mail", .key = "password", .type = OPTION_SECRET,
      .places = IN_FILE | IN_ENVIRONMENT, .argument = "TEXT",
      .help = "password; better password-file, password-env or password-command" },
    { .section = "mail", .key = "from", .type = OPTION_TEXT, .places = IN_FILE | IN_ENVIRONMENT,
      .argument = "ADDRESS",
      .help = "sender" },
    { .section = "mail", .key = "to", .type = OPTION_TEXT, .places = IN_FILE | IN_ENVIRONMENT,
      .argument = "ADDRESSES",
      .help = "recipients, separated by commas" },
    { .section = "mail", .key = "cc", .type = OPTION_TEXT, .places = IN_FILE | IN_ENVIRONMENT,
      .argument = "ADDRESSES",
      .help = "who gets a copy" },
    { .section = "mail", .key = "bcc", .type = OPTION_TEXT, .places = IN_FILE | IN_ENVIRONMENT,
      .argument = "ADDRESSES",
      .help = "who gets a copy that the others do not see" },
    { .section = "mail", .key = "starttls", .type = OPTION_TEXT,
      .places = IN_FILE | IN_ENVIRONMENT, .argument = "WHEN",
      .help = "no, yes (when the server offers it) or required; a password always needs it" },
    { .section = "mail", .key = "subject-prefix", .type = OPTION_TEXT,
      .places = IN_FILE | IN_ENVIRONMENT, .argument = "TEXT",
      .help = "text in front of the subject" },
    { .section = "mail", .key = "organisation", .type = OPTION_TEXT,
      .places = IN_FILE | IN_ENVIRONMENT, .argument = "TEXT",
      .help = "named in the mail as its sender's" },
    { .section = "mail", .key = "ca-file", .type = OPTION_TEXT,
      .places = IN_FILE | IN_ENVIRONMENT, .argument = "FILE",
      .help = "certificates to trust instead of the system's" },
    { .key = NULL },
};

const char *const source_kinds[] = {
    "billing", "telemetry", "scheduler", "tracker", "inventory", "binding", "prices", "model", "fx",
    NULL,
};

/* Where the data is, and how to get in: what common/http and the openers of files take. */
const char *const source_keys[] = {
    "format", "path", "url", "user", "header", "timeout", "org-id",
    "ca-file", "cert-file", "key-file",
    "token", "token-file", "token-env", "token-command",
    "password", "password-file", "password-env", "password-command",
    NULL,
};

/* Bills may lie in a bucket, or behind an address that is a secret. */
const char *const billing_source_keys[] = {
    "url-file", "url-env", "url-command", "endpoint", "region", "addressing", "credentials", "export", "folders",
    NULL,
};
