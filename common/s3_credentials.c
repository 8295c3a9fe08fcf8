/* Credentials for S3, from where AWS's own tools find them. */
#include <config.h>

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/calendar.h"
#include "common/http.h"
#include "common/log.h"
#include "common/s3.h"

enum { ANSWER_MOST_BYTES = 64 << 10, LINE_MOST_BYTES = 16 << 10 };

/* What environment variables hold, "" as absent. */
static const char *
variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static void
register_secrets(const struct s3_credentials *credentials)
{
    log_secret(credentials->secret);
    log_secret(credentials->token);
}

/* What goes into a header must be one line. */
static bool
is_clean(const char *text)
{
    for (; text && *text; text++)
        if ((unsigned char)*text <= ' ' || *text == 0x7f)
            return false;
    return true;
}

static bool
check(const struct s3_credentials *credentials, const char *origin, struct error *err)
{
    register_secrets(credentials);
    if (credentials->key_id && credentials->secret && is_clean(credentials->key_id) && is_clean(credentials->secret)
        && is_clean(credentials->token))
        return true;
    error_set(err, ERR_CONFIG, "%s: %s holds no usable access key and secret", origin, credentials->from);
    return error_hint(err, "Set credentials to env, file:PATH, profile:NAME or instance.");
}

static bool
from_environment(const char *origin, struct s3_credentials *credentials, struct error *err)
{
    credentials->from = "the environment";
    credentials->key_id = variable("AWS_ACCESS_KEY_ID");
    credentials->secret = variable("AWS_SECRET_ACCESS_KEY");
    credentials->token = variable("AWS_SESSION_TOKEN");
    if (credentials->key_id && credentials->secret)
        return check(credentials, origin, err);
    error_set(err, ERR_CONFIG, "%s: the environment has no AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", origin);
    return error_hint(err, "Set both, and AWS_SESSION_TOKEN where there is one; or set credentials to file:PATH, "
                           "profile:NAME or instance.");
}

/* ---------------------------------------------------------------- files of profiles */

static char *
trim(char *text)
{
    size_t size;

    text += strspn(text, " \t\r\n");
    size = strlen(text);
    while (size && strchr(" \t\r\n", text[size - 1]))
        text[--size] = '\0';
    return text;
}

/* "[name]" of the file of credentials, "[profile name]" of the other. */
static bool
is_profile(char *line, const char *name)
{
    char *close = strchr(line, ']');

    if (!close)
        return false;
    *close = '\0';
    line = trim(line + 1);
    if (!strncmp(line, "profile ", 8) || !strncmp(line, "profile\t", 8))
        line = trim(line + 8);
    return !strcmp(line, name);
}

static void
take_line(struct arena *arena, char *line, struct s3_credentials *credentials, bool *refers)
{
    const struct {
        const char *name, **value;
    } keys[] = {
        {"aws_access_key_id", &credentials->key_id},
        {"aws_secret_access_key", &credentials->secret},
        {"aws_session_token", &credentials->token},
        {"region", &credentials->region},
    };
    char *equals = strchr(line, '=');
    const char *key;

    if (!equals || *line == ' ' || *line == '\t' || *line == '#' || *line == ';')
        return;
    *equals = '\0';
    key = trim(line);
    *refers |= !strcmp(key, "role_arn") || !strncmp(key, "sso_", 4) || !strcmp(key, "credential_process")
        || !strcmp(key, "web_identity_token_file");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!strcmp(key, keys[i].name) && !*keys[i].value)
            *keys[i].value = arena_strdup(arena, trim(equals + 1));
}

/* True when the file is there and has the profile. */
static bool
read_profile(struct arena *arena, const char *path, const char *name, struct s3_credentials *credentials, bool *refers)
{
    FILE *file = path ? fopen(path, "re") : NULL;
    bool is_inside = false, is_there = false;
    char *line = NULL;
    size_t room = 0;

    while (file && getline(&line, &room, file) > 0 && room <= LINE_MOST_BYTES)
        if (*line == '[') {
            is_inside = is_profile(line, name);
            is_there |= is_inside;
        } else if (is_inside) {
            take_line(arena, line, credentials, refers);
        }
    if (line)
        explicit_bzero(line, room);
    free(line);
    if (file)
        fclose(file);
    return is_there;
}

static const char *
usual_file(struct arena *arena, const char *variable_name, const char *name)
{
    const char *home = variable("HOME"), *path = variable(variable_name);

    return path ? path : home ? arena_printf(arena, "%s/.aws/%s", home, name) : NULL;
}

static bool
from_profile(struct arena *arena, const char *origin, const char *name, struct s3_credentials *credentials,
             struct error *err)
{
    const char *path = usual_file(arena, "AWS_SHARED_CREDENTIALS_FILE", "credentials");
    const char *config = usual_file(arena, "AWS_CONFIG_FILE", "config");
    bool refers = false, is_there = read_profile(arena, path, name, credentials, &refers);

    is_there |= read_profile(arena, config, name, credentials, &refers);
    credentials->from = arena_printf(arena, "profile %s", name);
    if (!is_there) {
        error_set(err, ERR_CONFIG, "%s: there is no profile \"%s\" in \"%s\"", origin, name, path ? path : "~/.aws/credentials");
        return error_hint(err, "Set credentials to profile:NAME of a profile that is there, or to env, file:PATH or instance.");
    }
    if (!credentials->secret && refers) {
        error_set(err, ERR_CONFIG, "%s: profile \"%s\" holds no keys but says where to get them", origin, name);
        return error_hint(err, "Run aws configure export-credentials --profile %s --format env, and set credentials to env.",
                          name);
    }
    return check(credentials, origin, err);
}

static bool
from_file(struct settings *settings, const char *origin, const char *path, struct s3_credentials *credentials,
          struct error *err)
{
    const char *name = variable("AWS_PROFILE");
    bool refers = false;

    if (*path != '/' && settings->file && strrchr(settings->file, '/'))
        path = arena_printf(settings->arena, "%.*s/%s", (int)(strrchr(settings->file, '/') - settings->file),
                            settings->file, path);
    credentials->from = arena_printf(settings->arena, "file \"%s\"", path);
    if (access(path, R_OK)) {
        error_set(err, ERR_CONFIG, "%s: could not open \"%s\": %s", origin, path, strerror(errno));
        return error_hint(err, "Write aws_access_key_id and aws_secret_access_key into that file, under [default].");
    }
    if (!read_profile(settings->arena, path, name ? name : "default", credentials, &refers)) {
        error_set(err, ERR_CONFIG, "%s: \"%s\" has no profile [%s]", origin, path, name ? name : "default");
        return error_hint(err, "Write aws_access_key_id and aws_secret_access_key into that file, under [default].");
    }
    return check(credentials, origin, err);
}

/* ---------------------------------------------------------------- the machine's role */

struct metadata {
    struct settings *settings;
    struct http *http;
    const char *base, *header[2];
};

static const char *const *
metadata_headers(void *context)
{
    return ((struct metadata *)context)->header;
}

static bool
metadata_ask(struct metadata *metadata, const char *method, const char *path, const char **ret_text, struct error *err)
{
    struct http_request request = {
        .method = method,
        .url = arena_printf(metadata->settings->arena, "%s%s", metadata->base, path),
        .limit_bytes = ANSWER_MOST_BYTES,
        .context = metadata,
        .headers = metadata_headers,
        .is_near = true,
    };
    struct http_reply reply = {0};
    bool is_good = http_send(metadata->http, &request, &reply, err);

    if (is_good)
        *ret_text = arena_strndup(metadata->settings->arena, reply.body.data ? reply.body.data : "", reply.body.size);
    else
        error_hint(err, "The machine has no role, or no metadata service: set credentials to env, file:PATH or profile:NAME.");
    buf_free(&reply.body);
    return is_good;
}

static const char *
json_text_copy(struct arena *arena, const json_t *object, const char *key)
{
    return arena_strdup(arena, json_string_value(json_object_get(object, key)));
}

static bool
take_role(struct metadata *metadata, const char *text, struct s3_credentials *credentials, struct error *err)
{
    struct arena *arena = metadata->settings->arena;
    json_t *root = json_loads(text, 0, NULL);
    const char *expires = json_string_value(json_object_get(root, "Expiration"));

    credentials->key_id = json_text_copy(arena, root, "AccessKeyId");
    credentials->secret = json_text_copy(arena, root, "SecretAccessKey");
    credentials->token = json_text_copy(arena, root, "Token");
    if (!expires || !time_parse(expires, strlen(expires), &credentials->expires))
        credentials->expires = 0;
    json_decref(root);
    return check(credentials, metadata->base, err);
}

static bool
metadata_role(struct metadata *metadata, struct s3_credentials *credentials, struct error *err)
{
    static const char roles[] = "/latest/meta-data/iam/security-credentials/";
    struct arena *arena = metadata->settings->arena;
    const char *token, *role;

    metadata->header[0] = "X-aws-ec2-metadata-token-ttl-seconds: 21600";
    if (!metadata_ask(metadata, "PUT", "/latest/api/token", &token, err))
        return false;
    log_secret(token);
    if (!is_clean(token))
        return error_set(err, ERR_NET, "%s: the token is no token", metadata->base);
    metadata->header[0] = arena_printf(arena, "X-aws-ec2-metadata-token: %s", token);
    if (!metadata_ask(metadata, "GET", roles, &role, err))
        return false;
    role = arena_strndup(arena, role, strcspn(role, "\r\n"));
    if (!*role) {
        error_set(err, ERR_CONFIG, "%s: this machine has no role", metadata->base);
        return error_hint(err, "Attach a role to it that may read the bucket.");
    }
    return metadata_ask(metadata, "GET", arena_printf(arena, "%s%s", roles, s3_escape(arena, role)), &role, err)
        && take_role(metadata, role, credentials, err);
}

bool
s3_credentials_instance(struct settings *settings, const struct section *section, struct s3_credentials *ret_credentials,
                        struct error *err)
{
    struct section bare = {.kind = section->kind, .name = section->name, .line = section->line};
    const char *base = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    struct metadata metadata = {.settings = settings, .base = base ? base : "http://169.254.169.254"};
    struct s3_credentials credentials = {.from = "the machine's role"};
    size_t size = strlen(metadata.base);
    bool is_good;

    while (size && metadata.base[size - 1] == '/')
        size--;
    metadata.base = arena_strndup(settings->arena, metadata.base, size);
    if (!http_open(&metadata.http, settings, &bare, err))
        return false;
    is_good = metadata_role(&metadata, &credentials, err);
    http_close(metadata.http);
    if (is_good)
        *ret_credentials = credentials;
    return is_good;
}

/* ---------------------------------------------------------------- any of them */

static bool
from_usual(struct settings *settings, const char *origin, struct s3_credentials *credentials, struct error *err)
{
    const char *name = variable("AWS_PROFILE");

    if (!name && variable("AWS_ACCESS_KEY_ID"))
        return from_environment(origin, credentials, err);
    if (from_profile(settings->arena, origin, name ? name : "default", credentials, err))
        return true;
    if (name)
        return false;
    error_set(err, ERR_CONFIG, "%s: there are no credentials: neither AWS_ACCESS_KEY_ID nor a default profile", origin);
    return error_hint(err, "Set credentials to env, file:PATH, profile:NAME, instance (the machine's role) or none.");
}

bool
s3_credentials_read(struct settings *settings, const struct section *section, const char *how,
                    struct s3_credentials *ret_credentials, struct error *err)
{
    const char *origin = section_origin(settings, section, "credentials");
    struct s3_credentials credentials = {0};
    bool is_good;

    if (!how)
        is_good = from_usual(settings, origin, &credentials, err);
    else if (!strcmp(how, "env"))
        is_good = from_environment(origin, &credentials, err);
    else if (!strncmp(how, "file:", 5) && how[5])
        is_good = from_file(settings, origin, how + 5, &credentials, err);
    else if (!strncmp(how, "profile:", 8) && how[8])
        is_good = from_profile(settings->arena, origin, how + 8, &credentials, err);
    else if (!strcmp(how, "instance"))
        is_good = s3_credentials_instance(settings, section, &credentials, err);
    else if (!strcmp(how, "none"))
        is_good = true;
    else {
        error_set(err, ERR_CONFIG, "%s: credentials is not env, file:PATH, profile:NAME, instance or none", origin);
        return error_hint(err, "Keys themselves never stand in the configuration.");
    }
    if (is_good)
        *ret_credentials = credentials;
    return is_good;
}
