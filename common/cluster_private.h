/* What the files cluster*.c share: where the private server is, and the processes around it. */
#ifndef COMMON_CLUSTER_PRIVATE_H
#define COMMON_CLUSTER_PRIVATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/arena.h"
#include "common/error.h"

enum {
    CLUSTER_PORT = 5432,     /* only part of the socket's name */
    SOCKET_DIR_MOST = 93,    /* sun_path less "/.s.PGSQL.5432" and its NUL */
};

struct place {
    struct arena *arena;     /* owns the strings */
    bool is_root;            /* then the server runs as another user than this program */
    uid_t uid;               /* of the server */
    gid_t gid;
    const char *user;        /* of the server, by name */
    const char *own_user;    /* of this program, by name */
    const char *home;        /* …/gpu-audit: locks, and below it what the server's user owns: */
    const char *pg;          /* …/gpu-audit/pg */
    const char *log;         /* …/gpu-audit/pg/log */
    const char *users, *keep;/* …/gpu-audit/users, …/gpu-audit/keep: see cluster.h */
    const char *data;        /* …/gpu-audit/pg/15, perhaps still to be made; NULL before place_server */
    const char *bindir;      /* of the same major version */
    const char *socket_dir;
};

/* cluster_place.c: user and folders; makes none. */
bool place_find(struct place *place, struct arena *arena, struct error *err) MUST_CHECK;
/* Makes home and pg, with owner and mode checked. */
bool place_make(const struct place *place, struct error *err) MUST_CHECK;
/* Server programs that fit the data folder there is, or the newest; sets data and bindir. */
bool place_server(struct place *place, struct error *err) MUST_CHECK;
/* The data folder of the newest version in pg; NULL when there is none. */
const char *place_data(const struct place *place);
/* Finds and makes the folder of the socket. */
bool place_socket(struct place *place, struct error *err) MUST_CHECK;
const char *place_bindir(struct arena *arena, int major); /* 0: the first there is; NULL: none */

/* cluster_process.c. A child changes to the server's user, goes to / and dies with its parent. */
/* Runs a program to its end; its output (both streams) is cut at room. */
int process_run(const struct place *place, const char *const *argv, char *ret_output, size_t room);
/* Runs a function in a child as the server's user; its result is 0 to 254, 255 is a failure. */
int process_call(const struct place *place, int (*function)(void *), void *argument);
/* In a child: becomes the server's user for good. */
bool process_become(const struct place *place);
/* Starts the server under a supervisor of its own. *ret_alive reads end-of-file once both are gone. */
bool process_spawn(const struct place *place, int *ret_alive, pid_t *ret_supervisor, struct error *err) MUST_CHECK;
void process_reap(pid_t child); /* waits for its end */

/* cluster_server.c: what runs in the data folder. */
void server_pause(int ms); /* below a second, between two looks at a lock or a process */
/* Process id of the postmaster; 0: none. ret_socket_dir (in arena) may be NULL. */
pid_t server_pid(const struct place *place, const char **ret_socket_dir);
/* After a crash: waits for orphaned backends, ends them, removes stale lock files. */
bool server_clear(const struct place *place, struct error *err) MUST_CHECK;
/* Ends the server and waits for it; true if there was one, or none. */
bool server_stop(const struct place *place, struct error *err) MUST_CHECK;
/* Sets `text` as detail from the last telling lines of the server's log, with a hint. */
bool server_log_error(const struct place *place, struct error *err);
bool server_init(const struct place *place, struct error *err) MUST_CHECK; /* initdb, renamed when whole */
/* Removes what server_init left and, with all, every data folder and the log. */
bool server_remove(const struct place *place, bool all, struct error *err) MUST_CHECK;

#endif
