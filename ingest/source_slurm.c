/* Who held GPUs: accounting of Slurm, asked of sacct (command) or saved from it (path). */
#include <config.h>

#include <string.h>
#include <strings.h>

#include "ingest/slurm.h"

enum { SHARDS_MOST = 1024 };

bool
slurm_rules_read(struct source_run *run, struct slurm_rules *ret_rules, struct error *err)
{
    const char *zone = section_get(run->section, "time-zone"), *clusters = section_get(run->section, "clusters");
    struct slurm_rules rules = {.now = run->settings->now};
    long shards = 0;

    if (!section_int(run->section, "shards-per-gpu", 1, SHARDS_MOST, &shards, err)) {
        return false;
    }
    rules.shards_per_gpu = (int)shards;
    if (clusters && *clusters && !strchr(clusters, ',') && strcasecmp(clusters, "all") != 0) {
        rules.cluster = clusters;
    }
    if (zone && *zone && !slurm_zone_load(run->db, run->arena, zone, &run->settings->window, &rules.zone, err)) {
        return err->code == ERR_CONFIG ? error_context(err, "%s", section_origin(run->settings, run->section, "time-zone"))
                                       : false;
    }
    *ret_rules = rules;
    return true;
}

static bool
slurm_ingest(struct source_run *run, struct error *err)
{
    const char *path = section_get(run->section, "path"), *command = section_get(run->section, "command");
    struct slurm_rules rules;

    if (!path == !command) {
        error_set(err, ERR_CONFIG, "%s: [%s %s] has %s", section_origin(run->settings, run->section, NULL),
                  run->section->kind, run->section->name, path ? "both path and command" : "neither path nor command");
        return error_hint(err, "Set command = sacct where Slurm is, or path for what sacct -P or sacct --json wrote.");
    }
    return slurm_rules_read(run, &rules, err) &&
           (path ? slurm_files(run, &rules, err) : slurm_command(run, &rules, err));
}

static const char *const keys[] = {
    "command", "clusters", "columns", "covers", "delimiter", "time-zone", "shards-per-gpu", "steps", NULL,
};

const struct source source_slurm = {
    .format = "slurm",
    .title = "accounting of Slurm: sacct, or its saved answers",
    .kind = SOURCE_SCHEDULER,
    .keys = keys,
    .examine = slurm_examine,
    .ingest = slurm_ingest,
};
