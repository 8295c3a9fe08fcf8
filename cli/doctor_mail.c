/* Whether the mail server takes us: connection, TLS, and login, but no message. */
#include <config.h>

#include <string.h>

#include <curl/curl.h>

#include "cli/doctor.h"

enum { CONNECT_SECONDS = 20 };

/* A password only ever goes over TLS. */
static bool
set_login(CURL *curl, struct settings *settings, const struct section *mail, struct error *err)
{
    const char *user = section_get(mail, "user");
    const char *password = NULL;

    if (!section_secret(settings, mail, "password", &password, err))
        return false;
    if (!user && password) {
        error_set(err, ERR_CONFIG, "%s: [mail] has a password and no user",
                  section_origin(settings, mail, NULL));
        return error_hint(err, "Set user in [mail], or take the password away.");
    }
    curl_easy_setopt(curl, CURLOPT_USE_SSL, (long)(user ? CURLUSESSL_ALL : CURLUSESSL_TRY));
    if (user)
        curl_easy_setopt(curl, CURLOPT_USERNAME, user);
    if (password)
        curl_easy_setopt(curl, CURLOPT_PASSWORD, password);
    return true;
}

static bool
set_options(CURL *curl, struct settings *settings, const struct section *mail, char *reason,
            struct error *err)
{
    const char *ca_file = section_path(settings, mail, "ca-file");

    curl_easy_setopt(curl, CURLOPT_URL, section_get(mail, "server"));
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
    if (ca_file)
        curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file);
    return set_login(curl, settings, mail, err);
}

static const char *
hint_for(CURLcode code)
{
    switch (code) {
    case CURLE_LOGIN_DENIED:
        return "Check user and password of [mail]; many providers want an application password.";
    case CURLE_USE_SSL_FAILED:
        return "The server offers no STARTTLS: use smtps://, or a server without a login.";
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        return "Name the authority's certificate with ca-file in [mail], or the server by its own "
               "name.";
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
        return "Write server as smtps://HOST or smtp://HOST:PORT.";
    default:
        return "Check server in [mail], and whether a firewall lets this machine reach it.";
    }
}

bool
doctor_mail(struct settings *settings, struct buf *finding, struct error *err)
{
    const struct section *mail = settings_section(settings, "mail");
    char reason[CURL_ERROR_SIZE] = "";
    CURL *curl = curl_easy_init();
    CURLcode code;

    if (!curl)
        return error_set(err, ERR_MEMORY, "could not set libcurl up");
    if (!set_options(curl, settings, mail, reason, err)) {
        curl_easy_cleanup(curl);
        return false;
    }
    code = curl_easy_perform(curl);
    curl_easy_cleanup(curl);
    if (code == CURLE_OK) {
        buf_printf(finding, "%s takes us", section_get(mail, "server"));
        return true;
    }
    error_set(err, ERR_NET, "could not reach the mail server %s: %s", section_get(mail, "server"),
              reason[0] ? reason : curl_easy_strerror(code));
    return error_hint(err, "%s", hint_for(code));
}
