/* Rows of a query on standard output: an aligned table for people, CSV, or JSON. */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include "common/db.h"
#include "common/error.h"

/* Reads rows to the end. Unknown (NULL) is "unknown" in a table, empty in CSV, null in JSON.
 * format: NULL or "table", "csv", "json" (an array of objects whose values are strings, exact). */
bool print_rows(struct rows *rows, const char *format, struct error *err) MUST_CHECK;

/* Foreign text on standard output, control characters as blanks. */
void print_text(const char *text);

#endif
