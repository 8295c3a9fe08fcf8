#include <config.h>

#include "common/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/arena.h"
#include "common/calendar.h"
#include "common/utf8.h"

static struct {
    pthread_mutex_t lock;
    enum log_level level;
    bool json;
    void (*before)(void);
    char **secrets; /* longest first, so that one inside another does not leave its rest behind */
    size_t secret_count;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

void
log_open(enum log_level level, bool json)
{
    state.level = level;
    state.json = json;
}

bool
log_wants(enum log_level level)
{
    return state.level >= level;
}

bool
log_is_json(void)
{
    return state.json;
}

void
log_before(void (*hook)(void))
{
    __atomic_store_n(&state.before, hook, __ATOMIC_RELAXED);
}

void
log_secret(const char *secret)
{
    size_t size = secret ? strlen(secret) : 0;
    size_t i, at = 0;
    char *copy;

    if (!size)
        return;
    pthread_mutex_lock(&state.lock);
    for (i = 0; i < state.secret_count; i++) {
        if (strcmp(state.secrets[i], secret) == 0) {
            pthread_mutex_unlock(&state.lock);
            return;
        }
        if (strlen(state.secrets[i]) >= size)
            at = i + 1;
    }
    copy = mem_resize(NULL, size + 1, 1);
    memcpy(copy, secret, size + 1);
    state.secrets = mem_resize(state.secrets, state.secret_count + 1, sizeof(*state.secrets));
    memmove(state.secrets + at + 1, state.secrets + at,
            (state.secret_count - at) * sizeof(*state.secrets));
    state.secrets[at] = copy;
    state.secret_count++;
    pthread_mutex_unlock(&state.lock);
}

void
log_close(void)
{
    pthread_mutex_lock(&state.lock);
    while (state.secret_count > 0) {
        char *secret = state.secrets[--state.secret_count];

        explicit_bzero(secret, strlen(secret));
        free(secret);
    }
    free(state.secrets);
    state.secrets = NULL;
    pthread_mutex_unlock(&state.lock);
}

static size_t
secret_size_at(const char *text)
{
    size_t i;

    for (i = 0; i < state.secret_count; i++) {
        size_t size = strlen(state.secrets[i]);

        if (strncmp(text, state.secrets[i], size) == 0)
            return size;
    }
    return 0;
}

/* With the lock held. */
static void
mask(struct buf *buf, const char *text)
{
    while (*text) {
        size_t secret_size = state.secret_count ? secret_size_at(text) : 0;

        if (secret_size)
            buf_puts(buf, "***");
        else
            buf_putc(buf, *text);
        text += secret_size ? secret_size : 1;
    }
}

/* Foreign text must not move the cursor or colour the terminal; a line break stays, indented. */
static void
add_printable(struct buf *buf, const char *text)
{
    size_t left = strlen(text);

    while (left) {
        unsigned char c = (unsigned char)*text;
        size_t size = utf8_size(text, left);
        bool is_c1 = size == 2 && c == 0xC2 && (unsigned char)text[1] < 0xA0;

        if (c == '\n')
            buf_puts(buf, "\n    ");
        else if (size == 0 || (c < 0x20 && c != '\t') || c == 0x7f)
            buf_printf(buf, "\\x%02X", c);
        else if (is_c1)
            buf_printf(buf, "\\x%02X", (unsigned char)text[1]);
        else
            buf_add(buf, text, size);
        size = size ? size : 1;
        text += size;
        left -= size;
    }
}

void
log_mask(struct buf *buf, const char *text)
{
    struct buf masked = {0};

    pthread_mutex_lock(&state.lock);
    mask(&masked, text);
    pthread_mutex_unlock(&state.lock);
    if (masked.size)
        add_printable(buf, masked.data);
    buf_free(&masked);
}

static void
add_line(struct buf *buf, const char *label, const char *text)
{
    struct buf masked = {0};

    if (!text[0])
        return;
    mask(&masked, text);
    buf_printf(buf, "gpu-audit: %s", label);
    add_printable(buf, masked.data);
    buf_putc(buf, '\n');
    buf_free(&masked);
}

static void
add_member(struct buf *buf, const char *name, const char *text)
{
    struct buf masked = {0};

    if (!text[0])
        return;
    mask(&masked, text);
    buf_printf(buf, ", \"%s\": ", name);
    buf_json(buf, masked.data);
    buf_free(&masked);
}

static void
add_object(struct buf *buf, const char *level, const struct error *message)
{
    char now[CALENDAR_TEXT];

    time_format((int64_t)time(NULL), now);
    buf_printf(buf, "{\"time\": \"%s\", \"level\": \"%s\"", now, level);
    if (message->code != ERR_NONE)
        buf_printf(buf, ", \"status\": %d", (int)message->code);
    add_member(buf, "sqlstate", message->sqlstate);
    add_member(buf, "message", message->text);
    add_member(buf, "detail", message->detail);
    add_member(buf, "hint", message->hint);
    buf_puts(buf, "}\n");
}

/* One write per message, so that lines of several processes do not mix. */
static void
print(const char *level, const char *label, const struct error *message)
{
    struct buf buf = {0};

    pthread_mutex_lock(&state.lock);
    void (*before)(void) = __atomic_load_n(&state.before, __ATOMIC_RELAXED);

    if (before)
        before();
    if (state.json) {
        add_object(&buf, level, message);
    } else {
        add_line(&buf, label, message->text);
        add_line(&buf, "detail: ", message->detail);
        add_line(&buf, "hint: ", message->hint);
    }
    if (buf.size)
        fwrite(buf.data, 1, buf.size, stderr);
    fflush(stderr);
    pthread_mutex_unlock(&state.lock);
    buf_free(&buf);
}

void
log_error(const struct error *err)
{
    print("error", "error: ", err);
}

PRINTF_LIKE(3, 0)
static void
print_args(const char *level, const char *label, const char *fmt, va_list args)
{
    struct error message;

    error_clear(&message);
    vsnprintf(message.text, sizeof(message.text), fmt, args);
    print(level, label, &message);
}

#define PRINT(least, level, label)                                                                 \
    do {                                                                                           \
        va_list args;                                                                              \
                                                                                                   \
        if (!log_wants(least))                                                                     \
            return;                                                                                \
        va_start(args, fmt);                                                                       \
        print_args(level, label, fmt, args);                                                       \
        va_end(args);                                                                              \
    } while (0)

void
log_warning(const char *fmt, ...)
{
    PRINT(LOG_QUIET, "warning", "warning: ");
}

void
log_note(const char *fmt, ...)
{
    PRINT(LOG_NORMAL, "note", "");
}

void
log_info(const char *fmt, ...)
{
    PRINT(LOG_VERBOSE, "info", "");
}

void
log_debug(const char *fmt, ...)
{
    PRINT(LOG_DEBUG, "debug", "debug: ");
}
