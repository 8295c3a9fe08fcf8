/* Hands a message to a mail server with libcurl. */
#include <config.h>

#include <string.h>

#include <curl/curl.h>

#include "common/log.h"
#include "reports/mail.h"

enum { CONNECT_SECONDS = 20, REPLY_SECONDS = 120, STALL_SECONDS = 60, REPLY_BYTES = 400 };

struct delivery {
    const struct mail *mail;
    size_t sent;                 /* bytes of the message given to libcurl */
    char reply[REPLY_BYTES];     /* last line of the server */
    char refused[REPLY_BYTES];   /* the first refusal, and ... */
    char recipient[REPLY_BYTES]; /* ... the MAIL or RCPT command it answered */
    char command[REPLY_BYTES];
    struct error *err; /* of an interruption */
};

static size_t
give(char *into, size_t size, size_t count, void *context)
{
    struct delivery *delivery = context;
    const struct buf *message = &delivery->mail->message;
    size_t room = size * count, left = message->size - delivery->sent;
    size_t now = left < room ? left : room;
    memcpy(into, message->data + delivery->sent, now);
    delivery->sent += now;
    return now;
}

static int
rewind_message(void *context, curl_off_t offset, int origin)
{
    struct delivery *delivery = context;
    if (origin != SEEK_SET || offset < 0 || (size_t)offset > delivery->mail->message.size)
        return CURL_SEEKFUNC_FAIL;
    delivery->sent = (size_t)offset;
    return CURL_SEEKFUNC_OK;
}

/* Copies one line without its end and without control characters. */
static void
keep_line(char into[REPLY_BYTES], const char *line, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < size && used + 1 < REPLY_BYTES && line[i] != '\r' && line[i] != '\n';
         i++)
        into[used++] =
            (unsigned char)line[i] < ' ' || (unsigned char)line[i] >= 0x7F ? '?' : line[i];
    into[used] = '\0';
}

/* Sees the conversation. Of what we say only MAIL and RCPT are kept: never a login. */
static int
hear(CURL *curl, curl_infotype type, char *data, size_t size, void *context)
{
    struct delivery *delivery = context;
    (void)curl;
    if (type == CURLINFO_HEADER_OUT && size > 5 &&
        (memcmp(data, "RCPT ", 5) == 0 || memcmp(data, "MAIL ", 5) == 0))
        keep_line(delivery->command, data, size);
    else if (type == CURLINFO_HEADER_OUT)
        delivery->command[0] = '\0';
    if (type != CURLINFO_HEADER_IN)
        return 0;
    keep_line(delivery->reply, data, size);
    if ((delivery->reply[0] == '4' || delivery->reply[0] == '5') && delivery->refused[0] == '\0') {
        memcpy(delivery->refused, delivery->reply, sizeof delivery->refused);
        memcpy(delivery->recipient, delivery->command, sizeof delivery->recipient);
    }
    return 0;
}

static int
watch(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    struct delivery *delivery = context;
    (void)a, (void)b, (void)c, (void)d;
    return interrupt_check(delivery->err) ? 0 : 1;
}

static bool
is_loopback(const char *server)
{
    const char *host = strstr(server, "://");
    host = host == NULL ? server : host + 3;
    return strncmp(host, "127.", 4) == 0 || strncmp(host, "localhost", 9) == 0 ||
           strncmp(host, "[::1]", 5) == 0;
}

static bool
check_server(struct settings *settings, const struct section *section, const char *server,
             struct error *err)
{
    if (server == NULL || server[0] == '\0') {
        error_set(err, ERR_CONFIG, "%s: [mail] has no server",
                  section_origin(settings, section, NULL));
        return error_hint(
            err,
            "Set server = smtp://host:25 or smtps://host in the section [mail], or use --dry-run.");
    }
    if (strncmp(server, "smtp://", 7) != 0 && strncmp(server, "smtps://", 8) != 0) {
        error_set(err, ERR_CONFIG, "%s: the mail server must begin with smtp:// or smtps://",
                  section_origin(settings, section, "server"));
        return error_hint(
            err,
            "Write smtp://host:25, smtp://host:587 with starttls = required, or smtps://host.");
    }
    if (strchr(server, '@') != NULL) {
        error_set(err, ERR_CONFIG, "%s: the mail server holds a user or password",
                  section_origin(settings, section, "server"));
        return error_hint(err, "Use the keys user and password-file instead.");
    }
    return true;
}

/* TLS by starttls = no, yes (when offered) or required; required whenever a password goes along. */
static bool
choose_tls(struct settings *settings, const struct section *section, const char *server,
           bool has_login, long *ret_level, struct error *err)
{
    const char *text = section_get(section, "starttls");
    bool is_no = text != NULL && strcmp(text, "no") == 0;
    if (text != NULL && !is_no && strcmp(text, "yes") != 0 && strcmp(text, "required") != 0)
        return error_set(err, ERR_CONFIG, "%s: starttls is no, yes or required, not \"%.40s\"",
                         section_origin(settings, section, "starttls"), text);
    bool is_required = has_login || (text != NULL && strcmp(text, "required") == 0);
    if (is_no && has_login && !is_loopback(server) && strncmp(server, "smtps:", 6) != 0) {
        error_set(err, ERR_CONFIG, "%s: starttls = no would send the password in clear text",
                  section_origin(settings, section, "starttls"));
        return error_hint(err, "Take starttls = no away, or use smtps://.");
    }
    *ret_level = is_no ? CURLUSESSL_NONE : is_required ? CURLUSESSL_ALL : CURLUSESSL_TRY;
    return true;
}

static const char *
hint_for(CURLcode code, const struct delivery *delivery)
{
    if (delivery->refused[0] == '4')
        return "The server asks to try later: run gpu-audit mail again in some minutes.";
    switch (code) {
    case CURLE_LOGIN_DENIED:
        return "Check user and password-file in [mail].";
    case CURLE_USE_SSL_FAILED:
        return "The server offers no STARTTLS: use its TLS port (587 or smtps://), or starttls = "
               "no on a network you trust.";
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        return "Name the authority's certificate with ca-file in [mail], or the server by its own "
               "name.";
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
        return "Check server in [mail], and whether a firewall lets this machine reach it; "
               "--dry-run writes the mail to a file.";
    default:
        return delivery->recipient[0] != '\0'
                   ? "Check the address in [mail], and whether the server accepts mail from this "
                     "sender."
                   : "gpu-audit mail --dry-run writes the message to a file to look at.";
    }
}

static bool
tell(const char *server, CURLcode code, const struct delivery *delivery, struct error *err)
{
    if (err->code == ERR_INTERRUPTED)
        return false;
    if (delivery->recipient[0] != '\0')
        error_set(err, ERR_NET, "%s refused \"%s\"", server, delivery->recipient);
    else if (delivery->refused[0] != '\0')
        error_set(err, ERR_NET, "%s refused the mail", server);
    else
        error_set(err, ERR_NET, "could not send the mail through %s: %s", server,
                  curl_easy_strerror(code));
    if (delivery->refused[0] != '\0')
        error_detail(err, "the server said: %s", delivery->refused);
    return error_hint(err, "%s", hint_for(code, delivery));
}

/* Appends the mailboxes of a list; false when memory is out. */
static bool
add_recipients(struct curl_slist **list, const struct address *address)
{
    for (; address != NULL; address = address->next) {
        struct curl_slist *longer = curl_slist_append(*list, address->mailbox);
        if (longer == NULL)
            return false;
        *list = longer;
    }
    return true;
}

static void
set_message(CURL *curl, struct delivery *delivery)
{
    curl_easy_setopt(curl, CURLOPT_MAIL_FROM, delivery->mail->from->mailbox);
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, give);
    curl_easy_setopt(curl, CURLOPT_READDATA, delivery);
    curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, rewind_message);
    curl_easy_setopt(curl, CURLOPT_SEEKDATA, delivery);
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE,
                     (curl_off_t)delivery->mail->message.size); /* offers SIZE= */
    curl_easy_setopt(curl, CURLOPT_VERBOSE, 1L);                /* for hear(); nothing is printed */
    curl_easy_setopt(curl, CURLOPT_DEBUGFUNCTION, hear);
    curl_easy_setopt(curl, CURLOPT_DEBUGDATA, delivery);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, watch);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, delivery);
}

static bool
set_connection(CURL *curl, struct settings *settings, const struct section *section,
               const char *server, struct error *err)
{
    const char *user = section_get(section, "user"), *password = NULL,
               *ca_file = section_path(settings, section, "ca-file");
    long tls;
    if (!section_secret(settings, section, "password", &password, err) ||
        !choose_tls(settings, section, server, password != NULL, &tls, err))
        return false;
    if (password != NULL && user == NULL) {
        error_set(err, ERR_CONFIG, "%s: [mail] has a password and no user",
                  section_origin(settings, section, NULL));
        return error_hint(err, "Set user in the section [mail].");
    }
    curl_easy_setopt(curl, CURLOPT_URL, server);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(curl, CURLOPT_USE_SSL, tls);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_SERVER_RESPONSE_TIMEOUT, (long)REPLY_SECONDS);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)STALL_SECONDS);
    if (ca_file != NULL)
        curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file);
    if (user != NULL)
        curl_easy_setopt(curl, CURLOPT_USERNAME, user);
    if (password != NULL)
        curl_easy_setopt(curl, CURLOPT_PASSWORD, password);
    return true;
}

static bool
deliver(CURL *curl, const char *server, struct delivery *delivery, struct error *err)
{
    struct curl_slist *recipients = NULL;
    const struct mail *mail = delivery->mail;
    CURLcode code = CURLE_OUT_OF_MEMORY;
    if (add_recipients(&recipients, mail->to) && add_recipients(&recipients, mail->cc) &&
        add_recipients(&recipients, mail->bcc)) {
        curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, recipients);
        code = curl_easy_perform(curl);
    }
    bool is_done = code == CURLE_OK || tell(server, code, delivery, err);
    curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, NULL);
    curl_slist_free_all(recipients);
    return is_done;
}

bool
smtp_send(struct settings *settings, const struct mail *mail, struct error *err)
{
    const struct section *section = settings_section(settings, "mail");
    const char *server = section_get(section, "server");
    if (!check_server(settings, section, server, err))
        return false;
    CURL *curl = curl_easy_init();
    if (curl == NULL)
        return error_set(err, ERR_MEMORY, "could not start libcurl");
    struct delivery delivery = {.mail = mail, .err = err};
    set_message(curl, &delivery);
    bool is_done = set_connection(curl, settings, section, server, err) &&
                   deliver(curl, server, &delivery, err);
    curl_easy_cleanup(curl);
    if (is_done)
        log_info("%s took the mail: %s", server, delivery.reply);
    return is_done;
}
