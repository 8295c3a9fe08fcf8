/* SIGINT and SIGTERM as a flag that loops ask for. */
#include <config.h>

#include <signal.h>
#include <string.h>
#include <time.h>

#include "common/error.h"

enum { SLICE_MS = 100 };

static volatile sig_atomic_t received;

static void
remember(int signal_number)
{
    received = signal_number;
}

/*
 * SA_RESETHAND: a second signal of the kind ends the program at once, for whoever cannot wait.
 * SA_RESTART: code that never heard of signals sees no EINTR; poll and select return it anyway.
 * SIGPIPE is ignored, so that a closed pipe is an error like a full disk.
 */
void
interrupt_install(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = remember;
    action.sa_flags = (int)(SA_RESTART | SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = SIG_IGN;
    action.sa_flags = 0;
    sigaction(SIGPIPE, &action, NULL);
}

bool
interrupt_check(struct error *err)
{
    if (!received)
        return true;
    return error_set(err, ERR_INTERRUPTED, "interrupted");
}

bool
interrupt_sleep(int64_t milliseconds, struct error *err)
{
    while (milliseconds > 0 && !received) {
        int64_t slice = milliseconds < SLICE_MS ? milliseconds : SLICE_MS;
        const struct timespec pause = {0, (long)slice * 1000000};

        nanosleep(&pause, NULL);
        milliseconds -= slice;
    }
    return interrupt_check(err);
}
