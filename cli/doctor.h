/*
 * What doctor looks at, one function for each kind of thing. A check either says in `finding`
 * what it saw, or fails with an error whose hint says what to do. No check changes anything but
 * the schema of the database, which every command brings up to date.
 */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "cli/command.h"

bool doctor_source(struct settings *settings, const struct section *section, struct buf *finding,
                   struct error *err) MUST_CHECK;
bool doctor_mail(struct settings *settings, struct buf *finding, struct error *err) MUST_CHECK;

#endif
