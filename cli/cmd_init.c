/* Writes a commented configuration and cost model to begin with. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "common/asset.h"
#include "common/log.h"

struct sample {
    const char *asset, *name;
    mode_t mode;
};

/* The configuration may come to hold secrets, so it begins as its owner's alone. */
static const struct sample samples[] = {
    {"etc/gpu-audit.conf.sample", "gpu-audit.conf", 0600},
    {"etc/cost-model.csv.sample", "cost-model.csv", 0666},
};

enum { SAMPLE_COUNT = sizeof(samples) / sizeof(samples[0]) };

static bool
make_folder(const char *folder, struct error *err)
{
    struct stat status;

    if (mkdir(folder, 0777) == 0)
        return true;
    if (errno != EEXIST || stat(folder, &status) != 0)
        return error_set(err, ERR_CONFIG, "could not make the folder \"%s\": %m", folder);
    if (!S_ISDIR(status.st_mode))
        return error_set(err, ERR_CONFIG, "\"%s\" is not a folder", folder);
    return true;
}

/* All of them before the first is written: half a start helps nobody. */
static bool
check_absent(char *const *paths, struct error *err)
{
    struct stat status;
    size_t i;

    for (i = 0; i < SAMPLE_COUNT; i++) {
        if (lstat(paths[i], &status) != 0)
            continue;
        error_set(err, ERR_CONFIG, "\"%s\" exists already", paths[i]);
        return error_hint(err, "Nothing was written. Name another folder, or move the file away.");
    }
    return true;
}

static bool
write_text(int fd, const char *text)
{
    size_t left = strlen(text);

    while (left) {
        ssize_t size = write(fd, text, left);

        if (size < 0 && errno != EINTR)
            return false;
        if (size > 0) {
            text += size;
            left -= (size_t)size;
        }
    }
    return true;
}

static bool
write_sample(const struct sample *sample, const char *path, struct error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, sample->mode);
    bool is_written;

    if (fd < 0)
        return error_set(err, ERR_CONFIG, "could not write \"%s\": %m", path);
    is_written = write_text(fd, asset_text(sample->asset));
    if (!is_written)
        error_set(err, ERR_CONFIG, "could not write \"%s\": %m", path);
    if (close(fd) != 0 && is_written)
        is_written = error_set(err, ERR_CONFIG, "could not write \"%s\": %m", path);
    if (!is_written)
        unlink(path);
    return is_written;
}

static bool
run_init(struct command_run *run, struct error *err)
{
    const struct settings *settings = run->settings;
    bool is_here = settings->argc == 0;
    const char *folder = is_here ? "." : settings->argv[0];
    char *paths[SAMPLE_COUNT];
    size_t i;

    if (settings->argc > 1) {
        error_set(err, ERR_USAGE, "init takes one folder, not %d", settings->argc);
        return error_hint(err, "Write gpu-audit init, or gpu-audit init DIR.");
    }
    for (i = 0; i < SAMPLE_COUNT; i++)
        paths[i] = arena_printf(run->arena, "%s%s%s", is_here ? "" : folder, is_here ? "" : "/",
                                samples[i].name);
    if (!make_folder(folder, err) || !check_absent(paths, err))
        return false;
    for (i = 0; i < SAMPLE_COUNT; i++)
        if (!write_sample(&samples[i], paths[i], err))
            return false;
    log_note("wrote %s and %s", paths[0], paths[1]);
    log_note("next: say in %s where your bills and telemetry are, then gpu-audit %s%s%srun",
             paths[0], is_here ? "" : "--config ", is_here ? "" : paths[0], is_here ? "" : " ");
    return true;
}

const struct command command_init = {
    .name = "init",
    .arguments = "[DIR]",
    .title = "write a configuration and a cost model to start from",
    .help = "Writes gpu-audit.conf and cost-model.csv into DIR (the current folder without it), "
            "each with\n"
            "comments that say what belongs there. Files that exist are never overwritten.\n",
    .needs = NEEDS_NO_FILE,
    .run = run_init,
};
