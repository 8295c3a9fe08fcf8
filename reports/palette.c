#include <config.h>

#include "reports/palette.h"

#include <string.h>

unsigned
palette_line(const char *line)
{
    static const struct {
        const char *begins;
        unsigned colour;
    } known[] = {
        {"busy", COLOUR_BUSY},
        {"idle while allocated", COLOUR_IDLE_ALLOCATED},
        {"idle and unallocated", COLOUR_IDLE_UNALLOCATED},
        {"idle", COLOUR_IDLE},
        {"unknown", COLOUR_UNKNOWN},
        {"unused commitment", COLOUR_UNUSED},
        {"corrected", COLOUR_CORRECTED},
        {"effective", COLOUR_EFFECTIVE},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strncmp(line, known[i].begins, strlen(known[i].begins)) == 0)
            return known[i].colour;
    return COLOUR_SUPPLY;
}
