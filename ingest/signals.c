#include <config.h>

#include "ingest/signals.h"

#include <math.h>
#include <string.h>
#include <strings.h>

const double SHARE_RATIO_MOST = 1.5;

/* dcgm-exporter up to 4.8 in percent, MiB and W; from 4.9 on in ratios and bytes; 1.x in lower
 * case; Google's device plugin and jobstats; nvidia_gpu_exporter; AMD's exporter, with and without
 * its prefix. */
const struct metric signal_metrics[] = {
    {"DCGM_FI_DEV_GPU_UTIL", SIGNAL_UTIL, SCALE_ONE, 0, false},
    {"DCGM_FI_DEV_GPU_UTIL_RATIO", SIGNAL_UTIL, SCALE_AUTO, 1, false},
    {"dcgm_gpu_utilization", SIGNAL_UTIL, SCALE_ONE, 2, false},
    {"nvidia_smi_utilization_gpu_ratio", SIGNAL_UTIL, SCALE_RATIO, 3, false},
    {"nvidia_gpu_duty_cycle", SIGNAL_UTIL, SCALE_ONE, 4, false},
    {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", SIGNAL_UTIL, SCALE_RATIO, 5, true},
    {"DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", SIGNAL_UTIL, SCALE_RATIO, 6, true},
    {"dcgm_fi_prof_gr_engine_active", SIGNAL_UTIL, SCALE_RATIO, 7, true},
    {"amd_gpu_gfx_activity", SIGNAL_UTIL, SCALE_ONE, 8, false},
    {"gpu_gfx_activity", SIGNAL_UTIL, SCALE_ONE, 9, false},
    {"DCGM_FI_PROF_SM_ACTIVE", SIGNAL_SM, SCALE_AUTO, 0, false},
    {"DCGM_FI_PROF_SM_UTIL_RATIO", SIGNAL_SM, SCALE_AUTO, 1, false},
    {"dcgm_fi_prof_sm_active", SIGNAL_SM, SCALE_AUTO, 2, false},
    {"amd_gpu_prof_sm_active", SIGNAL_SM, SCALE_AUTO, 3, false},
    {"gpu_prof_sm_active", SIGNAL_SM, SCALE_AUTO, 4, false},
    {"DCGM_FI_DEV_FB_USED", SIGNAL_MEMORY, SCALE_ONE, 0, false},
    {"DCGM_FI_DEV_FB_USED_BYTES", SIGNAL_MEMORY, SCALE_BYTES, 1, false},
    {"dcgm_fb_used", SIGNAL_MEMORY, SCALE_ONE, 2, false},
    {"nvidia_smi_memory_used_bytes", SIGNAL_MEMORY, SCALE_BYTES, 3, false},
    {"nvidia_gpu_memory_used_bytes", SIGNAL_MEMORY, SCALE_BYTES, 4, false},
    {"amd_gpu_used_vram", SIGNAL_MEMORY, SCALE_ONE, 5, false},
    {"gpu_used_vram", SIGNAL_MEMORY, SCALE_ONE, 6, false},
    {"DCGM_FI_DEV_POWER_USAGE", SIGNAL_POWER, SCALE_ONE, 0, false},
    {"DCGM_FI_DEV_BOARD_POWER_WATTS", SIGNAL_POWER, SCALE_ONE, 1, false},
    {"dcgm_power_usage", SIGNAL_POWER, SCALE_ONE, 2, false},
    {"nvidia_smi_power_draw_watts", SIGNAL_POWER, SCALE_ONE, 3, false},
    {"nvidia_gpu_power_usage_milliwatts", SIGNAL_POWER, SCALE_MILLI, 4, false},
    {"amd_gpu_package_power", SIGNAL_POWER, SCALE_ONE, 5, false},
    {"gpu_package_power", SIGNAL_POWER, SCALE_ONE, 6, false},
    {"DCGM_FI_DEV_GPU_TEMP", SIGNAL_TEMPERATURE, SCALE_ONE, 0, false},
    {"DCGM_FI_DEV_GPU_TEMP_CELSIUS", SIGNAL_TEMPERATURE, SCALE_ONE, 1, false},
    {"dcgm_gpu_temp", SIGNAL_TEMPERATURE, SCALE_ONE, 2, false},
    {"nvidia_smi_temperature_gpu", SIGNAL_TEMPERATURE, SCALE_ONE, 3, false},
    {"nvidia_gpu_temperature_celsius", SIGNAL_TEMPERATURE, SCALE_ONE, 4, false},
    {"amd_gpu_junction_temperature", SIGNAL_TEMPERATURE, SCALE_ONE, 5, false},
    {"gpu_junction_temperature", SIGNAL_TEMPERATURE, SCALE_ONE, 6, false},
    {"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", SIGNAL_TENSOR, SCALE_RATIO, 0, false},
    {"DCGM_FI_PROF_TENSOR_UTIL_RATIO", SIGNAL_TENSOR, SCALE_RATIO, 1, false},
    {"amd_gpu_prof_tensor_active_percent", SIGNAL_TENSOR, SCALE_ONE, 2, false},
    {"gpu_prof_tensor_active_percent", SIGNAL_TENSOR, SCALE_ONE, 3, false},
    {"DCGM_FI_PROF_DRAM_ACTIVE", SIGNAL_DRAM, SCALE_RATIO, 0, false},
    {"DCGM_FI_PROF_DRAM_UTIL_RATIO", SIGNAL_DRAM, SCALE_RATIO, 1, false},
    {"amd_gpu_umc_activity", SIGNAL_DRAM, SCALE_ONE, 2, false},
    {"gpu_umc_activity", SIGNAL_DRAM, SCALE_ONE, 3, false},
    {"DCGM_FI_DEV_FB_TOTAL", SIGNAL_MEMORY_TOTAL, SCALE_ONE, 0, false},
    {"DCGM_FI_DEV_FB_CAPACITY_BYTES", SIGNAL_MEMORY_TOTAL, SCALE_BYTES, 1, false},
    {"nvidia_smi_memory_total_bytes", SIGNAL_MEMORY_TOTAL, SCALE_BYTES, 2, false},
    {"nvidia_gpu_memory_total_bytes", SIGNAL_MEMORY_TOTAL, SCALE_BYTES, 3, false},
    {"amd_gpu_total_vram", SIGNAL_MEMORY_TOTAL, SCALE_ONE, 4, false},
    {"gpu_total_vram", SIGNAL_MEMORY_TOTAL, SCALE_ONE, 5, false},
    {"DCGM_FI_PROF_PCIE_TX_BYTES", SIGNAL_PCIE_TX, SCALE_ONE, 0, false},
    {"DCGM_FI_PROF_PCIE_RX_BYTES", SIGNAL_PCIE_RX, SCALE_ONE, 0, false},
    {"DCGM_FI_PROF_NVLINK_TX_BYTES", SIGNAL_NVLINK_TX, SCALE_ONE, 0, false},
    {"DCGM_FI_PROF_NVLINK_RX_BYTES", SIGNAL_NVLINK_RX, SCALE_ONE, 0, false},
    {"DCGM_FI_DEV_POWER_VIOLATION", SIGNAL_THROTTLE_POWER, SCALE_NANO, 0, false},
    {"nvidia_smi_clocks_event_reasons_counters_sw_power_cap_seconds", SIGNAL_THROTTLE_POWER,
     SCALE_SECONDS, 1, false},
    {"nvidia_smi_clocks_event_reasons_sw_power_cap", SIGNAL_THROTTLE_POWER, SCALE_HOUR_SHARE, 2,
     false},
    {"DCGM_FI_DEV_THERMAL_VIOLATION", SIGNAL_THROTTLE_THERMAL, SCALE_NANO, 0, false},
    {"nvidia_smi_clocks_event_reasons_counters_sw_thermal_slowdown_seconds",
     SIGNAL_THROTTLE_THERMAL, SCALE_SECONDS, 1, false},
    {"nvidia_smi_clocks_event_reasons_sw_thermal_slowdown", SIGNAL_THROTTLE_THERMAL,
     SCALE_HOUR_SHARE, 2, false},
    {"DCGM_FI_DEV_XID_ERRORS", SIGNAL_XID, SCALE_LAST, 0, false},
    {"DCGM_FI_DEV_XID_ERROR", SIGNAL_XID, SCALE_LAST, 1, false},
    {NULL, SIGNAL_UTIL, SCALE_ONE, 0, false},
};

/* Labels that say the same thing, best first; `exported_` ones hold the workload where the scrape's
 * own pod took the plain name. */
static const char *const uuid_labels[] = {"UUID", "uuid", "gpu_uuid", "serial_number", NULL};
static const char *const mig_id_labels[] = {"GPU_I_ID", NULL};
static const char *const mig_profile_labels[] = {"GPU_I_PROFILE", NULL};
static const char *const host_labels[] = {"hostname",        "Hostname", "node",
                                          "kubernetes_node", "nodename", NULL};
static const char *const instance_id_labels[] = {"instance_id", NULL};
static const char *const index_labels[] = {"gpu", "minor_number", "gpu_id", NULL};
static const char *const model_labels[] = {"modelName", "model_name", "card_model", "name", NULL};
static const char *const namespace_labels[] = {"exported_namespace", "namespace", "pod_namespace",
                                               NULL};
static const char *const pod_labels[] = {"exported_pod", "pod", "pod_name", NULL};

static const char *const *const identity_labels[IDENTITY_COUNT] = {
    [IDENTITY_UUID] = uuid_labels,
    [IDENTITY_MIG_ID] = mig_id_labels,
    [IDENTITY_MIG_PROFILE] = mig_profile_labels,
    [IDENTITY_HOST] = host_labels,
    [IDENTITY_INSTANCE_ID] = instance_id_labels,
    [IDENTITY_GPU_INDEX] = index_labels,
    [IDENTITY_MODEL] = model_labels,
    [IDENTITY_NAMESPACE] = namespace_labels,
    [IDENTITY_POD] = pod_labels,
};

const char *const signal_labels[] = {
    "UUID",
    "uuid",
    "gpu_uuid",
    "serial_number",
    "GPU_I_ID",
    "GPU_I_PROFILE",
    "hostname",
    "Hostname",
    "node",
    "kubernetes_node",
    "nodename",
    "instance",
    "instance_id",
    "gpu",
    "minor_number",
    "gpu_id",
    "modelName",
    "model_name",
    "card_model",
    "name",
    "exported_namespace",
    "namespace",
    "pod_namespace",
    "exported_pod",
    "pod",
    "pod_name",
    "exported_container",
    "container",
    "container_name",
    NULL,
};

static const char *const signal_names[SIGNAL_COUNT] = {
    [SIGNAL_UTIL] = "util",
    [SIGNAL_SM] = "sm",
    [SIGNAL_MEMORY] = "fb",
    [SIGNAL_POWER] = "power",
    [SIGNAL_TEMPERATURE] = "temp",
    [SIGNAL_TENSOR] = "tensor",
    [SIGNAL_DRAM] = "dram",
    [SIGNAL_MEMORY_TOTAL] = "fbtotal",
    [SIGNAL_PCIE_TX] = "pcietx",
    [SIGNAL_PCIE_RX] = "pcierx",
    [SIGNAL_NVLINK_TX] = "nvlinktx",
    [SIGNAL_NVLINK_RX] = "nvlinkrx",
    [SIGNAL_THROTTLE_POWER] = "powercap",
    [SIGNAL_THROTTLE_THERMAL] = "thermal",
    [SIGNAL_XID] = "xid",
};

static const char *const statistic_names[STATISTIC_COUNT_OF] = {
    [STATISTIC_COUNT] = "count",
    [STATISTIC_SUM] = "sum",
    [STATISTIC_AVG] = "avg",
    [STATISTIC_MAX] = "max",
    [STATISTIC_INCREASE] = "increase",
    [STATISTIC_CHANGES] = "changes",
};

bool
signal_is_summed(enum signal signal)
{
    return signal == SIGNAL_UTIL || signal == SIGNAL_SM;
}

enum gauge_kind
signal_gauge(enum signal signal)
{
    switch (signal) {
    case SIGNAL_MEMORY:
    case SIGNAL_MEMORY_TOTAL:
    case SIGNAL_TEMPERATURE:
        return GAUGE_MAX;
    case SIGNAL_THROTTLE_POWER:
    case SIGNAL_THROTTLE_THERMAL:
    case SIGNAL_XID:
        return GAUGE_TOTAL;
    default:
        return GAUGE_MEAN;
    }
}

bool
signal_is_counter(enum scale scale)
{
    return scale == SCALE_NANO || scale == SCALE_MICRO || scale == SCALE_SECONDS;
}

enum statistic
signal_statistic(enum signal signal, enum scale scale)
{
    if (scale == SCALE_LAST) {
        return STATISTIC_CHANGES;
    }
    if (signal_is_counter(scale)) {
        return STATISTIC_INCREASE;
    }
    return signal_gauge(signal) == GAUGE_MAX ? STATISTIC_MAX : STATISTIC_AVG;
}

double
signal_value(enum scale scale, double value)
{
    switch (scale) {
    case SCALE_RATIO:
        return value * 100;
    case SCALE_BYTES:
        return value / 1048576;
    case SCALE_MILLI:
        return value / 1000;
    case SCALE_NANO:
        return value / 1e9;
    case SCALE_MICRO:
        return value / 1e6;
    case SCALE_HOUR_SHARE:
        return value * 3600;
    default:
        return value;
    }
}

const struct metric *
signal_metric(const char *name)
{
    const struct metric *metric;

    for (metric = signal_metrics; metric->name; metric++) {
        if (strcmp(metric->name, name) == 0)
            return metric;
    }
    return NULL;
}

const char *
signal_name(enum signal signal)
{
    return signal_names[signal];
}

/* Saved files carry the customary units: percent or ratio, MiB, W, bytes a second, seconds. */
static enum scale
file_scale(enum signal signal)
{
    switch (signal) {
    case SIGNAL_SM:
        return SCALE_AUTO;
    case SIGNAL_TENSOR:
    case SIGNAL_DRAM:
        return SCALE_RATIO;
    case SIGNAL_THROTTLE_POWER:
    case SIGNAL_THROTTLE_THERMAL:
        return SCALE_SECONDS;
    case SIGNAL_XID:
        return SCALE_LAST;
    default:
        return SCALE_ONE;
    }
}

bool
signal_of_file(const char *file_name, struct metric *ret_metric, enum statistic *ret_statistic)
{
    int signal, statistic;

    for (signal = 0; signal < SIGNAL_COUNT; signal++) {
        size_t size = strlen(signal_names[signal]);

        if (strncmp(file_name, signal_names[signal], size) != 0 || file_name[size] != '_')
            continue;
        for (statistic = 0; statistic < STATISTIC_COUNT_OF; statistic++) {
            const char *name = statistic_names[statistic];
            const char *rest = file_name + size + 1;

            if (!name || strncmp(rest, name, strlen(name)) != 0 ||
                !strchr("-._", rest[strlen(name)]))
                continue;
            *ret_metric = (struct metric){
                .name = signal_names[signal],
                .signal = (enum signal)signal,
                .scale = file_scale((enum signal)signal),
            };
            *ret_statistic = (enum statistic)statistic;
            return true;
        }
    }
    return false;
}

/* In the unit of the signal. */
static double
range_most(enum signal signal)
{
    switch (signal) {
    case SIGNAL_UTIL:
    case SIGNAL_SM:
    case SIGNAL_TENSOR:
    case SIGNAL_DRAM:
        return 100.5;
    case SIGNAL_MEMORY:
    case SIGNAL_MEMORY_TOTAL:
        return 1048576; /* 2^20 MiB */
    case SIGNAL_POWER:
        return 3000;
    case SIGNAL_PCIE_TX:
    case SIGNAL_PCIE_RX:
    case SIGNAL_NVLINK_TX:
    case SIGNAL_NVLINK_RX:
        return 1e13; /* five times the fastest link there is */
    case SIGNAL_THROTTLE_POWER:
    case SIGNAL_THROTTLE_THERMAL:
        return 3600 * 1.05; /* increase() extrapolates */
    case SIGNAL_XID:
        return 1e6;
    default:
        return 150;
    }
}

bool
signal_in_range(enum signal signal, enum scale scale, double value)
{
    double most = range_most(signal);

    if (scale == SCALE_RATIO)
        most = 105; /* SM activity has been seen a little above 1 */
    return isfinite(value) && value >= 0 && signal_value(scale, value) <= most;
}

static const char *
label_value(const struct label *labels, size_t count, const char *name)
{
    size_t i;

    for (i = 0; i < count; i++) {
        if (strcmp(labels[i].name, name) == 0)
            return labels[i].value[0] ? labels[i].value : NULL;
    }
    return NULL;
}

/* An empty label is an absent one. */
static const char *
first_value(const struct label *labels, size_t count, const char *const *names)
{
    const char *value = NULL;

    for (; *names && !value; names++)
        value = label_value(labels, count, *names);
    return value;
}

/* "10.0.0.7:9400" without its port. */
static const char *
instance_host(const char *instance, struct gpu_identity *identity)
{
    const char *colon = strrchr(instance, ':');
    size_t size = strlen(instance);

    if (colon && colon != instance && strspn(colon + 1, "0123456789") == strlen(colon + 1))
        size = (size_t)(colon - instance);
    if (size >= sizeof(identity->host))
        return instance;
    memcpy(identity->host, instance, size);
    identity->host[size] = '\0';
    return identity->host;
}

/* Some eras put the loopback name of the exporter's host engine into the host. */
static const char *
host_value(const struct label *labels, size_t count, struct gpu_identity *identity)
{
    const char *const *name;
    const char *value;

    for (name = host_labels; *name; name++) {
        value = label_value(labels, count, *name);
        if (value && strcmp(value, "localhost") != 0 && strncmp(value, "127.", 4) != 0)
            return value;
    }
    value = label_value(labels, count, "instance");
    return value ? instance_host(value, identity) : NULL;
}

/* The pod label names the exporter itself where the workload's did not take its place. */
static bool
is_exporter_pod(const struct label *labels, size_t count, const char *pod)
{
    const char *container = label_value(labels, count, "container");

    if (label_value(labels, count, "exported_pod"))
        return false;
    return (container && strstr(container, "exporter")) || strstr(pod, "dcgm-exporter") != NULL;
}

bool
signal_identity(const struct label *labels, size_t count, struct gpu_identity *ret_identity)
{
    const char **text = ret_identity->text;
    int i;

    for (i = 0; i < IDENTITY_COUNT; i++)
        text[i] = first_value(labels, count, identity_labels[i]);
    text[IDENTITY_HOST] = host_value(labels, count, ret_identity);
    if (text[IDENTITY_POD] && is_exporter_pod(labels, count, text[IDENTITY_POD]))
        text[IDENTITY_POD] = text[IDENTITY_NAMESPACE] = NULL;
    return text[IDENTITY_UUID] != NULL;
}
