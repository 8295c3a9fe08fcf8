#!/bin/sh
# Real logs of nvidia-smi: the figures that the cases' own list gives.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need_cases real/nvidia-smi-captures
captures=${cases%/*}
pg_start
cd "$work" || exit 99

# audit QUARTER KEY = VALUE …: a folder `real` of logs
audit() {
    quarter=$1
    shift
    printf '[audit]\ncurrency = USD\n[telemetry logs]\nformat = nvidia-smi\npath = %s\ntime-zone = UTC\n' "$work/real" >gpu-audit.conf
    for line; do echo "$line" >>gpu-audit.conf; done
    gpu-audit --config gpu-audit.conf --database "$pg_url" --quarter "$quarter" ingest
}
rows() {
    pg_query "select $1 from audit.gpu_hour join audit.gpu_series using (slice_id, series_no) where $2"
}

mkdir real
for name in idle load; do
    cp "$captures/nvidia-smi-captures/csv/linux-x86_64__nvidia-h100-80gb-hbm3__590.48.01__$name.csv" "real/h100.$name.csv"
done
cp "$captures/nvidia-smi-captures/csv/linux-x86_64__nvidia-l40s__595.80__load.csv" real/l40s.csv
ok 'H100 and L40S, two hundred columns' audit 2026Q3
is 'idle and busy H100: two samples of one hour' \
    "$(rows 'util_samples, util_sum, util_max_pct, memory_max_mib, memory_total_mib, round(power_mean_w::numeric, 2), temperature_max_c' "host = 'h100'")" \
    '2|100000000|100|19818|81559|350.90|59'
is 'L40S' "$(rows 'model_name, util_sum, memory_max_mib, memory_total_mib, round(power_mean_w::numeric, 2), temperature_max_c' "host = 'l40s'")" \
    'NVIDIA L40S|9000000|1235|46068|110.23|54'

# three captures of an instant without a time: the time and the name are put before them
rm real/*
sed '1s/^/timestamp, uuid, /; 2,$s/^/2026\/10\/05 09:10:00.000, GPU-mig, /' "$captures/tricky/nvidia_smi_mig_insufficient_permissions.csv" >real/mig.csv
sed '1s/^/timestamp, uuid, /; 2,$s/^/2026\/10\/05 09:10:00.000, GPU-odd, /' "$captures/tricky/nvidia_smi_unknown_error_nounits.csv" >real/odd.csv
ok 'a MIG chip, an unknown error' audit 2026Q4
is 'nothing of the MIG chip may be seen but its temperature' \
    "$(rows "coalesce(util_samples::text, '-'), coalesce(memory_max_mib::text, '-'), temperature_max_c" "gpu_uuid = 'GPU-mig'")" '-|-|47'
is 'beside the error the rest is good' "$(rows 'util_sum, round(power_mean_w::numeric, 2), temperature_max_c' "gpu_uuid = 'GPU-odd'")" '100000000|228.82|56'
rm real/*
sed 's/^/2026\/10\/05 09:10:00.000, /' "$captures/tricky/nvidia_smi_noheader_nounits_8gpu.csv" >real/eight.csv
ok 'eight GPUs without header' audit 2026Q4 'columns = timestamp, index, uuid, name, temperature.gpu, utilization.gpu, memory.used, memory.total'
is 'their mean, their most, their memory' \
    "$(rows 'count(*), round(avg(util_sum) / 1000000, 3), max(util_max_pct), count(*) filter (where util_sum = 0), sum(memory_max_mib), sum(memory_total_mib)' "host = 'eight'")" \
    '8|70.375|86|1|49510|97648'
done_testing
