#!/bin/sh
# registry.sh HEADER TYPE ARRAY FILE...
#
# Prints the C table of what FILES define: ingest/source_focus.c holds `const struct source
# source_focus`, cli/cmd_db.c holds `const struct command command_db`. The order is the order given.
set -eu
header=$1 type=$2 array=$3
shift 3

symbol_of() {
    base=${1##*/}
    base=${base%.c}
    printf '%s_%s' "$type" "${base#*_}"
}

printf '/* Written by build-aux/registry.sh from the lists in Makefile.am. */\n'
printf '#include <config.h>\n\n#include "%s"\n\n' "$header"
for file in "$@"; do
    printf 'extern const struct %s %s;\n' "$type" "$(symbol_of "$file")"
done
printf '\nconst struct %s *const %s[] = {\n' "$type" "$array"
for file in "$@"; do
    printf '    &%s,\n' "$(symbol_of "$file")"
done
printf '    0,\n};\n'
