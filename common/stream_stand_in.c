/* What is no file of its own and yet is opened by its name. */
#include <config.h>

#include <fcntl.h>
#include <pthread.h>
#include <string.h>

#include "common/stream.h"
#include "common/zip.h"

static pthread_mutex_t stand_in_lock = PTHREAD_MUTEX_INITIALIZER;
static struct stream_stand_in *stand_ins;

void
stream_stand_in_begin(struct stream_stand_in *stand_in)
{
    pthread_mutex_lock(&stand_in_lock);
    stand_in->next = stand_ins;
    stand_ins = stand_in;
    pthread_mutex_unlock(&stand_in_lock);
}

void
stream_stand_in_end(struct stream_stand_in *stand_in)
{
    pthread_mutex_lock(&stand_in_lock);
    for (struct stream_stand_in **at = &stand_ins; *at; at = &(*at)->next)
        if (*at == stand_in) {
            *at = stand_in->next;
            break;
        }
    pthread_mutex_unlock(&stand_in_lock);
}

int
stream_stand_in_open(const char *name, struct zip_member *ret_member, bool *ret_is_member)
{
    int fd = -1;

    pthread_mutex_lock(&stand_in_lock);
    for (const struct stream_stand_in *at = stand_ins; at && fd < 0; at = at->next)
        if (!strcmp(at->name, name)) {
            fd = fcntl(at->fd, F_DUPFD_CLOEXEC, 3);
            *ret_is_member = at->member;
            if (at->member)
                *ret_member = *at->member;
        }
    pthread_mutex_unlock(&stand_in_lock);
    return fd;
}
