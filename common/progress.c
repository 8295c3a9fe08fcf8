#include <config.h>

#include "common/progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/arena.h"
#include "common/buf.h"
#include "common/log.h"

enum { LIVE_INTERVAL_MS = 100, LINE_INTERVAL_MS = 10000 };

struct progress {
    char label[128], note[128], outcome[256];
    char unit[24];
    uint64_t done, total;
    int64_t began_ms, ended_ms; /* ended 0: still running */
    struct progress *next;
};

static struct {
    pthread_mutex_t lock;
    struct progress *first, *last;
    int64_t printed_ms;
    bool is_live; /* a line without its end stands on the terminal */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int64_t
clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool
has_terminal(void)
{
    static int answer = -1;
    const char *term = getenv("TERM");

    if (answer < 0)
        answer = isatty(STDERR_FILENO) && term && term[0] && strcmp(term, "dumb") != 0;
    return answer && !log_is_json();
}

static size_t
terminal_width(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20)
        return size.ws_col;
    return 80;
}

/* Called by the log, perhaps in another thread, before it prints: so it takes no lock. */
static void
hide_line(void)
{
    if (__atomic_exchange_n(&state.is_live, false, __ATOMIC_SEQ_CST))
        fputs("\r\033[K", stderr);
}

static void
add_count(struct buf *buf, uint64_t count)
{
    char digits[24];
    size_t size, i;

    size = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count);
    for (i = 0; i < size; i++) {
        if (i && (size - i) % 3 == 0)
            buf_putc(buf, ',');
        buf_putc(buf, digits[i]);
    }
}

static void
add_bytes(struct buf *buf, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1024;
        unit++;
    }
    buf_printf(buf, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

static void
add_amount(struct buf *buf, const struct progress *step, uint64_t amount)
{
    if (strcmp(step->unit, "bytes") == 0)
        add_bytes(buf, amount);
    else
        add_count(buf, amount);
}

/* "ingest billing bills: 12.3 MiB of 96.0 MiB (12 %), aws-2026-07.csv.gz" */
static void
describe(struct buf *buf, const struct progress *step)
{
    buf_puts(buf, step->label);
    if (step->unit[0]) {
        buf_puts(buf, ": ");
        add_amount(buf, step, step->done);
        if (step->total) {
            double share = (double)step->done / (double)step->total;

            buf_puts(buf, " of ");
            add_amount(buf, step, step->total);
            buf_printf(buf, " (%.0f %%)", share > 1 ? 100 : share * 100);
        }
        if (strcmp(step->unit, "bytes") != 0)
            buf_printf(buf, " %s", step->unit);
    }
    if (step->note[0])
        buf_printf(buf, "%s%s", step->unit[0] ? ", " : ": ", step->note);
}

/* The lock is not held: the log has one of its own and calls hide_line. */
static void
show(const char *text)
{
    struct buf masked = {0};
    size_t width;

    if (!has_terminal()) {
        log_note("%s", text);
        return;
    }
    log_mask(&masked, text);
    width = terminal_width() - 1;
    if (masked.size > width) {
        while (width && ((unsigned char)masked.data[width] & 0xC0) == 0x80)
            width--;
        masked.data[width] = '\0';
    }
    fprintf(stderr, "\r\033[K%s", masked.size ? masked.data : "");
    fflush(stderr);
    __atomic_store_n(&state.is_live, true, __ATOMIC_SEQ_CST);
    buf_free(&masked);
}

/* Foreign text in a label or note (a file's name, say) is kept to one printable line. */
static void format_into(char *field, size_t room, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));
static void
format_into(char *field, size_t room, const char *fmt, va_list args)
{
    if (vsnprintf(field, room, fmt, args) < 0)
        field[0] = '\0';
    for (; *field; field++)
        if ((unsigned char)*field < 0x20 || *field == 0x7f)
            *field = '?';
}

struct progress *
progress_begin(const char *fmt, ...)
{
    struct progress *step = mem_resize(NULL, 1, sizeof(*step));
    va_list args;

    memset(step, 0, sizeof(*step));
    va_start(args, fmt);
    format_into(step->label, sizeof(step->label), fmt, args);
    va_end(args);
    step->began_ms = clock_ms();
    pthread_mutex_lock(&state.lock);
    if (state.last)
        state.last->next = step;
    else
        state.first = step;
    state.last = step;
    if (!state.printed_ms)
        state.printed_ms = step->began_ms;
    pthread_mutex_unlock(&state.lock);
    log_before(hide_line);
    return step;
}

/* Shows the step if the last line is old enough. */
static void
tick(struct progress *step)
{
    struct buf buf = {0};
    int64_t now = clock_ms();
    bool is_due;

    if (!log_wants(LOG_NORMAL))
        return;
    pthread_mutex_lock(&state.lock);
    is_due = now - state.printed_ms >= (has_terminal() ? LIVE_INTERVAL_MS : LINE_INTERVAL_MS);
    if (is_due) {
        state.printed_ms = now;
        describe(&buf, step);
    }
    pthread_mutex_unlock(&state.lock);
    if (is_due)
        show(buf.data);
    buf_free(&buf);
}

void
progress_at(struct progress *step, uint64_t done, uint64_t total, const char *unit)
{
    pthread_mutex_lock(&state.lock);
    step->done = done;
    step->total = total;
    snprintf(step->unit, sizeof(step->unit), "%s", unit ? unit : "");
    pthread_mutex_unlock(&state.lock);
    tick(step);
}

void
progress_note(struct progress *step, const char *fmt, ...)
{
    va_list args;

    pthread_mutex_lock(&state.lock);
    va_start(args, fmt);
    format_into(step->note, sizeof(step->note), fmt, args);
    va_end(args);
    pthread_mutex_unlock(&state.lock);
    tick(step);
}

static double
seconds(const struct progress *step)
{
    return (double)(step->ended_ms - step->began_ms) / 1000.0;
}

void
progress_end(struct progress *step, const char *fmt, ...)
{
    va_list args;

    pthread_mutex_lock(&state.lock);
    va_start(args, fmt);
    format_into(step->outcome, sizeof(step->outcome), fmt, args);
    va_end(args);
    step->ended_ms = clock_ms();
    pthread_mutex_unlock(&state.lock);
    log_note("%s: %s (%.1f s)", step->label, step->outcome, seconds(step));
}

static size_t
widest_label(void)
{
    const struct progress *step;
    size_t widest = 4;

    for (step = state.first; step; step = step->next)
        if (step->ended_ms && strlen(step->label) > widest)
            widest = strlen(step->label);
    return widest;
}

/* Steps that still run belong to whoever began them. */
static void
free_ended(void)
{
    struct progress **link = &state.first;

    state.last = NULL;
    while (*link) {
        struct progress *step = *link;

        if (step->ended_ms) {
            *link = step->next;
            free(step);
        } else {
            state.last = step;
            link = &step->next;
        }
    }
}

void
progress_summary(void)
{
    const struct progress *step;
    struct rusage usage;
    int width = (int)widest_label();
    int64_t began_ms = state.first ? state.first->began_ms : 0, ended_ms = began_ms;

    for (step = state.first; step; step = step->next) {
        if (!step->ended_ms)
            continue;
        log_note("%-*s %9.1f s  %s", width, step->label, seconds(step), step->outcome);
        if (step->ended_ms > ended_ms)
            ended_ms = step->ended_ms;
    }
    if (state.first && getrusage(RUSAGE_SELF, &usage) == 0)
        log_note("%-*s %9.1f s  peak memory %.1f MiB", width, "all",
                 (double)(ended_ms - began_ms) / 1000.0, (double)usage.ru_maxrss / 1024.0);
    free_ended();
}
