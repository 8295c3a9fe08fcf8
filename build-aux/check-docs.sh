#!/bin/sh
# check-docs.sh [SOURCE-TREE]
#
# The option table (common/settings_table.c), the manual pages, the sample of the configuration and
# the lists of commands and formats must agree. Prints what does not, and fails.
#
#     settings, options    table           = doc/gpu-audit.1.in, doc/gpu-audit.conf.5.in, etc/gpu-audit.conf.sample
#     commands             COMMANDS_C      = doc/gpu-audit.1.in, README.md
#     formats, keys        SOURCES_C       = doc/gpu-audit.conf.5.in
#     exit statuses        common/error.h  = doc/gpu-audit.1.in, README.md
#     tables               sql/NNNN_*.sql  = doc/data-model.md
# shellcheck disable=SC1003,SC2016,SC2020,SC2317 # the lists are made by functions that compare names
set -eu
LC_ALL=C
export LC_ALL
top=${1:-$(cd "$(dirname "$0")/.." && pwd)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# compare WHAT LEFT RIGHT: two lists, a word or "section key" a line, from functions of these names.
compare() {
    "$2" | sort -u >"$work/left"
    "$3" | sort -u >"$work/right"
    if [ ! -s "$work/left" ]; then
        printf '%s: %s found nothing\n' "$1" "$2"
        status=1
    elif ! diff "$work/left" "$work/right" >"$work/diff"; then
        printf '%s: < %s, > %s\n' "$1" "$2" "$3"
        grep '^[<>]' "$work/diff"
        status=1
    fi
}

# "section key places" of each row of the option table.
table_rows() {
    tr '\n' ' ' <"$top/common/settings_table.c" | sed 's/\.section = /\n/g' |
        sed -n 's/^"\([a-z-]*\)", \.key = "\([a-z-]*\)".*\.places = \([A-Z_ |]*[A-Z]\).*/\1 \2 \3/p'
}

table_options() {
    table_rows | grep -E 'ON_COMMAND_LINE|ON_EVERY_COMMAND|EVERYWHERE' | cut -d' ' -f2
}

table_settings() {
    table_rows | grep IN_FILE | cut -d' ' -f1,2
}

manual_options() {
    sed -n '/^\.SH OPTIONS/,/^\.SH EXIT/{/^\.TP/{n;p}}' "$top/doc/gpu-audit.1.in" |
        sed -n 's/\\-/-/g; s/.*--\([a-z-]*\).*/\1/p'
}

# "section key" in the part of the page that tells of sections without a name.
manual_settings() {
    sed 's/\\-/-/g' "$top/doc/gpu-audit.conf.5.in" | awk '
        /^\.SH/ { inside = /SECTIONS/ }
        inside && /^\.SS/ { section = substr($2, 2, length($2) - 2) }
        inside && wanted { print section, $2 }
        { wanted = /^\.TP/ }'
}

# A key of the sample may be a comment: it shows the default then. A secret stands as KEY-file or the like.
sample_settings() {
    awk '
        /^;? *\[/ { sub(/^; */, ""); section = substr($1, 2); named = section !~ /\]$/; sub(/\].*/, "", section) }
        !named && /^;? *[a-z-]+ *=/ { sub(/^; */, ""); sub(/ *=.*/, ""); print section, $0 }' \
        "$top/etc/gpu-audit.conf.sample" | sed -E 's/ (password|token)-(file|env|command)$/ \1/'
}

list_of() {
    sed -n "/^$1 = /,/[^\\\\]\$/p" "$top/Makefile.am" | tr ' \t\\' '\n\n\n' | grep '\.c$'
}

program_commands() {
    list_of COMMANDS_C | while read -r file; do
        sed -n '/^const struct command /,$s/.*\.name = "\([a-z-]*\)".*/\1/p' "$top/$file"
    done
}

manual_commands() {
    sed -n '/^\.SH COMMANDS/,/^\.SH OPTIONS/{/^\.TP/{n;p}}' "$top/doc/gpu-audit.1.in" | awk '{ print $2 }'
}

readme_commands() {
    sed -n '/^## Commands/,/^## Exit/s/^| `\([a-z-]*\).*/\1/p' "$top/README.md"
}

# "kind format" of each source.
program_formats() {
    list_of SOURCES_C | while read -r file; do
        sed -n '/^const struct source /,$p' "$top/$file" | tr '\n' ' ' |
            sed -n 's/.*\.format = "\([a-z0-9-]*\)".*\.kind = SOURCE_\([A-Z]*\).*/\2 \1\n/p' | tr '[:upper:]' '[:lower:]'
    done | awk '$2 == "csv" && $1 != "billing" && $1 != "telemetry" { $2 = "" } { sub(/ $/, ""); print }'
}

manual_formats() {
    sed -n '/^\.SH SOURCES/,/^\.SH EXAMPLE/p' "$top/doc/gpu-audit.conf.5.in" | sed 's/\\-/-/g' | awk '
        /^\.SS/ { if (kind && !formats) print kind; kind = substr($2, 2); formats = 0 }
        /^\.BR? / && before ~ /^(Format|or)$/ && kind { print kind, $2; formats++ }
        { before = $0 }
        END { if (kind && !formats) print kind }'
}

# The keys sources take: those of all, and those of one kind.
program_keys() {
    {
        sed -n '/source_keys\[\] = {/,/};/p' "$top/common/settings_table.c"
        { list_of SOURCES_C; echo ingest/csv_map.c; } | while read -r file; do
            awk '/^(static )?const char \*const [a-z_]*keys\[\] = / { inside = 1 }
                inside { print }
                /;/ { inside = 0 }' "$top/$file"
        done
    } | grep -oE '"[a-z.-]+"' | tr -d '"' | sed 's/\.$/.NAME/'
}

manual_keys() {
    sed -n '/^\.SH SOURCES/,/^\.SH EXAMPLE/{/^\.TP/{n;p}}' "$top/doc/gpu-audit.conf.5.in" |
        sed 's/\\-/-/g; s/^\.BR* //; s/[",]/ /g' | tr -s ' ' '\n' | grep .
}

program_statuses() {
    sed -n 's/^ *ERR_[A-Z]* = \([0-9]*\),.*/\1/p' "$top/common/error.h"
}

manual_statuses() {
    sed -n '/^\.SH EXIT/,/^\.SH ENV/s/^\.B \([0-9]*\)$/\1/p' "$top/doc/gpu-audit.1.in"
}

readme_statuses() {
    sed -n 's/^| \([0-9][0-9]*\) |.*/\1/p' "$top/README.md"
}

schema_tables() {
    sed -n 's/^CREATE TABLE audit\.\([a-z_]*\).*/\1/p' "$top"/sql/[0-9]*.sql
}

guide_tables() {
    sed -n 's/^| `\([a-z_]*\)` |.*/\1/p' "$top/doc/data-model.md"
}

compare 'options of the command line' table_options manual_options
compare 'settings in the manual' table_settings manual_settings
compare 'settings in the sample' table_settings sample_settings
compare 'commands in the manual' program_commands manual_commands
compare 'commands in README.md' program_commands readme_commands
compare 'formats in the manual' program_formats manual_formats
compare 'keys of sources in the manual' program_keys manual_keys
compare 'exit statuses in the manual' program_statuses manual_statuses
compare 'exit statuses in README.md' program_statuses readme_statuses
compare 'tables in doc/data-model.md' schema_tables guide_tables
exit "$status"
