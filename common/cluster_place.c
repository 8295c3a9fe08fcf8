/* Where the private server lives and which programs run it. */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cluster_private.h"

enum { SERVER_MAJOR_LEAST = 13 };

/* ---------------------------------------------------------------- user and folders */

static bool
find_users(struct place *place, struct error *err)
{
    const struct passwd *entry = getpwuid(geteuid());

    place->is_root = geteuid() == 0;
    if (!entry) {
        error_set(err, ERR_DB, "the user with id %lu has no entry in the list of users, so PostgreSQL cannot run as it",
                  (unsigned long)geteuid());
        return error_hint(err, "Run gpu-audit as a user that has a name, or name a server of your own with --database.");
    }
    place->own_user = arena_strdup(place->arena, entry->pw_name);
    if (place->is_root && !(entry = getpwnam("postgres"))) {
        error_set(err, ERR_DB, "there is no user postgres to run the private server as");
        return error_hint(err, "Install the package postgresql, run gpu-audit as an ordinary user, or name a server of your own "
                               "with --database.");
    }
    place->user = arena_strdup(place->arena, entry->pw_name);
    place->uid = entry->pw_uid;
    place->gid = entry->pw_gid;
    return true;
}

static const char *
find_home(const struct place *place, struct error *err)
{
    const char *data_home = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

    if (data_home && data_home[0] == '/') {
        return arena_printf(place->arena, "%s/gpu-audit", data_home);
    }
    if (place->is_root) {
        return "/var/lib/gpu-audit";
    }
    if (!home || home[0] != '/') {
        const struct passwd *entry = getpwuid(geteuid());

        home = entry ? entry->pw_dir : "";
    }
    if (home[0] != '/') {
        error_set(err, ERR_DB, "no home folder to keep the private database in");
        error_hint(err, "Set HOME or XDG_DATA_HOME to a folder with an absolute path.");
        return NULL;
    }
    return arena_printf(place->arena, "%s/.local/share/gpu-audit", home);
}

bool
place_find(struct place *place, struct arena *arena, struct error *err)
{
    *place = (struct place){.arena = arena};
    if (!find_users(place, err) || !(place->home = find_home(place, err))) {
        return false;
    }
    place->pg = arena_printf(arena, "%s/pg", place->home);
    place->log = arena_printf(arena, "%s/pg/log", place->home);
    place->users = arena_printf(arena, "%s/users", place->home);
    place->keep = arena_printf(arena, "%s/keep", place->home);
    return true;
}

/* As root a new folder lets others through whatever the umask: the server runs as one of them. */
static bool
make_folder(const struct place *place, const char *path, mode_t mode, struct error *err)
{
    if (mkdir(path, mode) != 0) {
        return errno == EEXIST || error_set(err, ERR_DB, "could not make the folder \"%s\": %s", path, strerror(errno));
    }
    if (place->is_root && chmod(path, mode) != 0) {
        return error_set(err, ERR_DB, "could not set the mode of \"%s\": %s", path, strerror(errno));
    }
    return true;
}

static bool
make_folders(const struct place *place, struct error *err)
{
    char *path = arena_strdup(place->arena, place->home);

    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (!make_folder(place, path, 0755, err)) {
            return false;
        }
        *slash = '/';
    }
    return make_folder(place, path, place->is_root ? 0755 : 0700, err);
}

/* Which folder above keeps the server's user out? 0: none, else how many components lead to it. */
static int
first_closed(void *argument)
{
    char *path = argument;
    int component = 1;

    for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/'), component++) {
        if (slash) {
            *slash = '\0';
        }
        if (access(path, X_OK) != 0) {
            return component;
        }
        if (!slash) {
            return 0;
        }
        *slash = '/';
    }
}

static bool
check_way(const struct place *place, struct error *err)
{
    char *path = arena_strdup(place->arena, place->home);
    int closed = process_call(place, first_closed, path);
    char *end = path;

    if (closed == 0) {
        return true;
    }
    for (int i = 0; i < closed && end; i++) {
        end = strchr(end + 1, '/');
    }
    if (end) {
        *end = '\0';
    }
    error_set(err, ERR_DB, "the folder \"%s\" does not let user %s through to the private database in \"%s\"", path, place->user,
              place->home);
    return error_hint(err, "As root the server runs as user %s. Allow it with chmod o+x, or set XDG_DATA_HOME to another folder.",
                      place->user);
}

static bool
check_owner(const char *path, uid_t uid, bool is_private, struct error *err)
{
    struct stat found;

    if (lstat(path, &found) != 0) {
        return error_set(err, ERR_DB, "could not look at \"%s\": %s", path, strerror(errno));
    }
    if (!S_ISDIR(found.st_mode) || found.st_uid != uid || (found.st_mode & (is_private ? 077 : 022))) {
        error_set(err, ERR_DB, "\"%s\" is not a folder that only its right owner can write to", path);
        return error_hint(err, "It must be a folder of the user with id %lu and mode %s. Move away what is there, or set "
                               "XDG_DATA_HOME to another folder.", (unsigned long)uid, is_private ? "0700" : "0755");
    }
    return true;
}

bool
place_make(const struct place *place, struct error *err)
{
    if (!make_folders(place, err) || !check_owner(place->home, geteuid(), false, err) ||
        (place->is_root && !check_way(place, err))) {
        return false;
    }
    if (mkdir(place->pg, 0700) == 0) {
        if (place->is_root && chown(place->pg, place->uid, place->gid) != 0) {
            error_set(err, ERR_DB, "could not give \"%s\" to user %s: %s", place->pg, place->user, strerror(errno));
            rmdir(place->pg);
            return false;
        }
    } else if (errno != EEXIST) {
        return error_set(err, ERR_DB, "could not make the folder \"%s\": %s", place->pg, strerror(errno));
    }
    return check_owner(place->pg, place->uid, true, err);
}

/* ---------------------------------------------------------------- programs */

static bool
has_server(const char *bindir)
{
    char path[4096];

    if (snprintf(path, sizeof(path), "%s/initdb", bindir) >= (int)sizeof(path) || access(path, X_OK) != 0) {
        return false;
    }
    return snprintf(path, sizeof(path), "%s/postgres", bindir) < (int)sizeof(path) && access(path, X_OK) == 0;
}

static int
server_major(const char *bindir)
{
    char program[4096], said[128];
    const char *const argv[] = {program, "-V", NULL};
    const char *digit;

    snprintf(program, sizeof(program), "%s/postgres", bindir);
    if (!has_server(bindir) || process_run(NULL, argv, said, sizeof(said)) != 0) {
        return 0;
    }
    digit = strpbrk(said, "0123456789");
    return digit ? (int)strtol(digit, NULL, 10) : 0;
}

/* The newest number that names an entry of `folder` and is below `below`; 0: none. */
static int
newest_number(const char *folder, int below)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    int newest = 0;

    while (dir && (entry = readdir(dir))) {
        char *end;
        long number = strtol(entry->d_name, &end, 10);

        if (end > entry->d_name && *end == '\0' && number > newest && number < below) {
            newest = (int)number;
        }
    }
    if (dir) {
        closedir(dir);
    }
    return newest;
}

static const char *
take_bindir(struct arena *arena, const char *bindir, int major)
{
    int found = bindir[0] == '/' ? server_major(bindir) : 0;

    return found >= SERVER_MAJOR_LEAST && (major == 0 || found == major) ? arena_strdup(arena, bindir) : NULL;
}

static const char *
bindir_of_pg_config(struct arena *arena, int major)
{
    const char *const argv[] = {"pg_config", "--bindir", NULL};
    char said[4096];

    if (process_run(NULL, argv, said, sizeof(said)) != 0) {
        return NULL;
    }
    said[strcspn(said, "\n")] = '\0';
    return take_bindir(arena, said, major);
}

static const char *
bindir_of_path(struct arena *arena, int major)
{
    char *path = arena_strdup(arena, getenv("PATH")), *rest = path;
    const char *folder, *found = NULL;

    while (path && !found && (folder = strsep(&rest, ":"))) {
        found = take_bindir(arena, folder, major);
    }
    return found;
}

const char *
place_bindir(struct arena *arena, int major)
{
    const char *found = take_bindir(arena, PG_BINDIR, major);

    if (!found) {
        found = bindir_of_pg_config(arena, major);
    }
    for (int number = INT32_MAX; !found && (number = newest_number("/usr/lib/postgresql", number)) > 0;) {
        char folder[64];

        snprintf(folder, sizeof(folder), "/usr/lib/postgresql/%d/bin", number);
        found = take_bindir(arena, folder, major);
    }
    return found ? found : bindir_of_path(arena, major);
}

const char *
place_data(const struct place *place)
{
    int major = newest_number(place->pg, INT32_MAX);

    return major ? arena_printf(place->arena, "%s/%d", place->pg, major) : NULL;
}

bool
place_server(struct place *place, struct error *err)
{
    int major = newest_number(place->pg, INT32_MAX);

    place->bindir = place_bindir(place->arena, major);
    if (place->bindir) {
        place->data = arena_printf(place->arena, "%s/%d", place->pg, major ? major : server_major(place->bindir));
        return true;
    }
    if (!major || !place_bindir(place->arena, 0)) {
        error_set(err, ERR_DB, "no PostgreSQL server is installed");
        return error_hint(err, "Install the package postgresql%s%.*d, or name a server of your own with --database.",
                          major ? "-" : "", major ? 2 : 0, major);
    }
    error_set(err, ERR_DB, "the private database in \"%s/%d\" was made by PostgreSQL %d, which is not installed here", place->pg,
              major, major);
    return error_hint(err, "Install the package postgresql-%d. To move to the version that is here: gpu-audit db dump >audit.sql, "
                           "gpu-audit db destroy, gpu-audit db start, psql \"$(gpu-audit db url)\" <audit.sql.",
                      major);
}

/* ---------------------------------------------------------------- the socket's folder */

static uint32_t
path_hash(const char *path)
{
    uint32_t hash = 2166136261u; /* FNV-1a: only to tell two databases of one user apart */

    for (; *path; path++) {
        hash = (hash ^ (unsigned char)*path) * 16777619u;
    }
    return hash;
}

static int
make_private_folder(void *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : 1;
}

/* Beside the data where the path is short enough for a socket (and can be quoted), else in a short folder, which
 * another user may have made first: owner and mode are checked. */
bool
place_socket(struct place *place, struct error *err)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char *path = arena_printf(place->arena, "%s/socket", place->pg);

    if (strlen(path) > SOCKET_DIR_MOST || strchr(path, '"')) {
        bool use_runtime = !place->is_root && runtime && runtime[0] == '/' && strlen(runtime) <= SOCKET_DIR_MOST - 22;

        path = arena_printf(place->arena, "%s/gpu-audit-%08x", use_runtime ? runtime : "/tmp", path_hash(place->pg) ^ place->uid);
    }
    if (process_call(place, make_private_folder, path) != 0) {
        return error_set(err, ERR_DB, "could not make the folder \"%s\" for the database's socket", path);
    }
    place->socket_dir = path;
    return check_owner(path, place->uid, true, err);
}
