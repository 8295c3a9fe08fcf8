#include <config.h>

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/log.h"
#include "common/progress.h"

static char output[16384];

/* Runs scene in a child of its own whose stderr is fd, since progress keeps what it has seen. */
static void
play(void (*scene)(void), int fd)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        setenv("TERM", "xterm", 1);
        dup2(fd, STDERR_FILENO);
        scene();
        fflush(stderr);
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static const char *
play_into_file(void (*scene)(void))
{
    FILE *file = tmpfile();
    ssize_t size;

    assert_non_null(file);
    play(scene, fileno(file));
    size = pread(fileno(file), output, sizeof(output) - 1, 0);
    assert_true(size >= 0);
    output[size] = '\0';
    fclose(file);
    return output;
}

static void
pause_ms(long ms)
{
    struct timespec time = {0, ms * 1000000};

    nanosleep(&time, NULL);
}

static const char *
play_on_terminal(void (*scene)(void))
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    struct pollfd ready = {.fd = master, .events = POLLIN};
    size_t used = 0;
    ssize_t size;
    int terminal;

    assert_true(master >= 0);
    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    play(scene, terminal);
    /* what was written comes over in pieces, some of them late */
    while (used < sizeof(output) - 1 && poll(&ready, 1, 500) > 0 &&
           (size = read(master, output + used, sizeof(output) - 1 - used)) > 0) {
        used += (size_t)size;
    }
    assert_true(used > 0);
    output[used] = '\0';
    close(terminal);
    close(master);
    return output;
}

static void
two_steps(void)
{
    struct progress *bills = progress_begin("ingest billing %s", "bills");
    struct progress *jira = progress_begin("ingest tracker jira");

    pause_ms(120);
    progress_at(bills, 12 * 1024 * 1024, 24 * 1024 * 1024, "bytes");
    progress_note(bills, "july\x1b.csv");
    pause_ms(120);
    progress_at(bills, 24 * 1024 * 1024, 24 * 1024 * 1024, "bytes");
    progress_end(bills, "%d rows", 7);
    progress_at(jira, 1234567, 0, "issues");
    progress_end(jira, "failed");
    progress_summary();
}

static void
lines_elsewhere(void **state)
{
    const char *text = play_into_file(two_steps);

    (void)state;
    assert_non_null(strstr(text, "gpu-audit: ingest billing bills: 7 rows (0."));
    assert_non_null(strstr(text, "gpu-audit: ingest tracker jira: failed (0."));
    assert_non_null(strstr(text, "ingest billing bills       0."));
    assert_non_null(strstr(text, "peak memory "));
    assert_null(strchr(text, '\r'));
    assert_null(strchr(text, '\x1b'));
    assert_null(strstr(text, "12.0 MiB")); /* ten seconds have not gone by */
}

static void
live_line_on_a_terminal(void **state)
{
    const char *text = play_on_terminal(two_steps);
    const char *live = strstr(text, "\r\x1b[Kingest billing bills: 12.0 MiB of 24.0 MiB (50 %)");

    (void)state;
    assert_non_null(live);
    assert_non_null(strstr(live, "100 %), july?.csv"));
    /* erased before the line that stays */
    assert_non_null(strstr(live, "\r\x1b[Kgpu-audit: ingest billing bills: 7 rows"));
}

static void
quiet_scene(void)
{
    log_open(LOG_QUIET, false);
    two_steps();
}

static void
silent_when_quiet(void **state)
{
    (void)state;
    assert_string_equal(play_into_file(quiet_scene), "");
}

static void
summary_twice(void)
{
    struct progress *first = progress_begin("first"), *open_step = progress_begin("open");

    progress_end(first, "done");
    progress_summary();
    progress_end(open_step, "done later");
    log_note("--");
    progress_summary();
}

static void
running_steps_outlive_a_summary(void **state)
{
    const char *text = play_into_file(summary_twice);
    const char *second = strstr(text, "--\n");

    (void)state;
    assert_non_null(second);
    assert_null(strstr(second, "first"));
    assert_non_null(strstr(second, "done later"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_elsewhere),
        cmocka_unit_test(live_line_on_a_terminal),
        cmocka_unit_test(silent_when_quiet),
        cmocka_unit_test(running_steps_outlive_a_summary),
    };

    return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
