/*
 * The mail of an audit: composed as bytes (mail.c), so that what --dry-run writes is what would be
 * sent, then handed to a mail server (smtp.c). Every line is ASCII and short: no server has to
 * promise anything, and no attachment is changed on the way.
 */
#ifndef REPORTS_MAIL_H
#define REPORTS_MAIL_H

#include "common/buf.h"
#include "common/settings.h"
#include "reports/mime.h"

struct mail {
    const struct address *from, *to, *cc, *bcc; /* bcc: only in the envelope */
    struct buf message;                         /* the caller frees */
};

/* Sends the message as [mail] of the settings says. ERR_NET names the server, its reply and what to
 * do. */
bool smtp_send(struct settings *settings, const struct mail *mail, struct error *err) MUST_CHECK;

#endif
