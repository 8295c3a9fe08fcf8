# A throw-away Slurm for a test: after tap.sh,
#
#     . "${0%/*}/../lib/slurm.sh"
#     slurm_start
#     sbatch --gres=gpu:2 ...
#     sacct ...
#
# Its own munged, MariaDB, slurmdbd, slurmctld and two nodes, gpu01 and gpu02, with four GPUs each:
# device files that are /dev/null. All of them are children of the test, on the loopback and on
# sockets in folders of their own, and end with it. $slurm_dir is theirs.

slurm_programs='munged mariadbd mariadb mariadb-install-db slurmdbd slurmctld slurmd sbatch scontrol sacct sacctmgr squeue scancel'

slurm_child() {
    slurm_name=$1
    shift
    "$@" >"$slurm_dir/$slurm_name.out" 2>&1 </dev/null &
    slurm_pids="$! $slurm_pids"
    eval "slurm_pid_$slurm_name=$!"
}

# Steps of jobs are no children of slurmd's: they end with their jobs.
slurm_cancel_all() {
    [ -n "$(timeout 5 squeue -h)" ] || return
    timeout 5 scancel --user="$(id -un)"
    slurm_tries=30
    while [ -n "$(timeout 5 squeue -h)" ] && [ "$slurm_tries" -gt 0 ]; do
        slurm_tries=$((slurm_tries - 1))
        sleep 0.2
    done
}

slurm_stop() {
    case $slurm_pids in *' '*' '*' '*' '*) slurm_cancel_all ;; esac
    # Daemons in the order they depend on each other, so that each can say goodbye to the next.
    for slurm_pid in $slurm_pids; do
        kill "$slurm_pid"
        slurm_tries=50
        while kill -0 "$slurm_pid" && [ "$slurm_tries" -gt 0 ]; do
            slurm_tries=$((slurm_tries - 1))
            sleep 0.1
        done
        kill -KILL "$slurm_pid"
        wait "$slurm_pid"
    done
    rm -rf "$slurm_dir"
}

# slurm_until SECONDS WHAT COMMAND...: until the command succeeds.
slurm_until() {
    slurm_end=$(($(date +%s) + $1))
    slurm_what=$2
    shift 2
    until timeout 5 "$@" >"$slurm_dir/until.out" 2>&1; do
        if [ "$(date +%s)" -ge "$slurm_end" ]; then
            diag "$(cat "$slurm_dir/until.out")"
            for slurm_log in "$slurm_dir"/*.out "$slurm_dir"/*.log; do
                diag "$slurm_log:"
                diag "$(tail -n 12 "$slurm_log")"
            done
            printf 'Bail out! %s\n' "$slurm_what"
            exit 99
        fi
        sleep 0.2
    done
}

slurm_write_conf() {
    slurm_user=$(id -un)
    slurm_host=$(hostname -s)
    # Four ports that are free now.
    # shellcheck disable=SC2046 # four words
    set -- $(python3 -c '
import socket
sockets = [socket.socket() for _ in range(4)]
for s in sockets:
    s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))')
    cat >"$slurm_dir/slurmdbd.conf" <<CONF
AuthType=auth/munge
AuthInfo=socket=$slurm_dir/munge.socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$1
SlurmUser=$slurm_user
LogFile=$slurm_dir/slurmdbd.log
PidFile=$slurm_dir/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=$slurm_user
StorageLoc=slurm_acct
CONF
    chmod 600 "$slurm_dir/slurmdbd.conf"
    cat >"$slurm_dir/slurm.conf" <<CONF
ClusterName=lab
SlurmctldHost=$slurm_host(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$slurm_dir/munge.socket
CryptoType=crypto/munge
SlurmUser=$slurm_user
SlurmdUser=$slurm_user
SlurmctldPort=$2
SlurmctldPidFile=$slurm_dir/slurmctld.pid
SlurmctldLogFile=$slurm_dir/slurmctld.log
SlurmdPidFile=$slurm_dir/slurmd-%n.pid
SlurmdLogFile=$slurm_dir/slurmd-%n.log
SlurmdSpoolDir=$slurm_dir/spool-%n
StateSaveLocation=$slurm_dir/state
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_min_interval=100000,batch_sched_delay=0,requeue_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
KillWait=1
MinJobAge=300
JobRequeue=1
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$1
AccountingStoragePass=$slurm_dir/munge.socket
AccountingStoreFlags=job_comment
AccountingStorageTRES=gres/gpu,gres/gpu:a100,gres/gpu:v100
TrackWCKey=yes
GresTypes=gpu
NodeName=gpu01 NodeHostname=$slurm_host NodeAddr=127.0.0.1 Port=$3 CPUs=8 CoresPerSocket=8 RealMemory=500 Gres=gpu:a100:4
NodeName=gpu02 NodeHostname=$slurm_host NodeAddr=127.0.0.1 Port=$4 CPUs=8 CoresPerSocket=8 RealMemory=500 Gres=gpu:v100:4
PartitionName=main Nodes=gpu[01-02] Default=YES MaxTime=INFINITE State=UP
CONF
    cat >"$slurm_dir/gres.conf" <<CONF
AutoDetect=off
NodeName=gpu01 Name=gpu Type=a100 File=$slurm_dir/dev/gpu[0-3]
NodeName=gpu02 Name=gpu Type=v100 File=$slurm_dir/dev/gpu[0-3]
CONF
}

slurm_database() {
    mariadb --no-defaults --socket="$slurm_dir/mariadb.socket" -u root "$@"
}

slurm_start_database() {
    mariadb-install-db --no-defaults --datadir="$slurm_dir/mariadb" --auth-root-authentication-method=normal \
        --skip-test-db --user="$(id -un)" >"$slurm_dir/mariadb-install.out" 2>&1
    slurm_child mariadb mariadbd --no-defaults --datadir="$slurm_dir/mariadb" --socket="$slurm_dir/mariadb.socket" \
        --pid-file="$slurm_dir/mariadb.pid" --user="$(id -un)" --skip-networking --innodb-buffer-pool-size=64M \
        --innodb-log-file-size=16M --innodb-flush-log-at-trx-commit=0 --innodb-lock-wait-timeout=900
    slurm_until 30 'MariaDB did not start' mariadb --no-defaults --socket="$slurm_dir/mariadb.socket" -u root -e 'select 1'
    slurm_database -e "create database slurm_acct; create user if not exists '$(id -un)'@localhost; grant all on *.* to '$(id -un)'@localhost"
}

# slurmdbd finds the database by MariaDB's usual variable for its socket.
slurm_start() {
    PATH=$PATH:/usr/sbin:/sbin
    need python3
    # shellcheck disable=SC2086 # a list of words
    need $slurm_programs
    slurm_pids=
    slurm_dir=$(mktemp -d /tmp/audit-slurm.XXXXXX)
    chmod 755 "$slurm_dir"
    at_exit slurm_stop
    mkdir -p "$slurm_dir/state" "$slurm_dir/dev" "$slurm_dir/spool-gpu01" "$slurm_dir/spool-gpu02" "$slurm_dir/mariadb"
    for slurm_gpu in 0 1 2 3; do
        ln -s /dev/null "$slurm_dir/dev/gpu$slurm_gpu"
    done
    slurm_write_conf
    SLURM_CONF=$slurm_dir/slurm.conf
    MYSQL_UNIX_PORT=$slurm_dir/mariadb.socket
    export SLURM_CONF MYSQL_UNIX_PORT
    dd if=/dev/urandom of="$slurm_dir/munge.key" bs=1024 count=1 2>/dev/null
    chmod 600 "$slurm_dir/munge.key"
    slurm_child munged munged --foreground --force --num-threads=2 --key-file="$slurm_dir/munge.key" --socket="$slurm_dir/munge.socket" \
        --pid-file="$slurm_dir/munge.pid" --log-file="$slurm_dir/munge.log" --seed-file="$slurm_dir/munge.seed"
    slurm_start_database
    slurm_child slurmdbd slurmdbd -D
    slurm_until 30 'slurmdbd did not start' sacctmgr -n show cluster
    sacctmgr -i add cluster lab >"$slurm_dir/sacctmgr.out" 2>&1
    sacctmgr -i add account nlp vision >>"$slurm_dir/sacctmgr.out" 2>&1
    sacctmgr -i add user "$(id -un)" account=nlp,vision wckey=proj-42 >>"$slurm_dir/sacctmgr.out" 2>&1
    slurm_child slurmctld slurmctld -D -i
    slurm_until 30 'slurmctld did not start' scontrol ping
    slurm_child slurmd1 slurmd -D -N gpu01
    slurm_child slurmd2 slurmd -D -N gpu02
    # shellcheck disable=SC2016 # the inner shell expands it
    slurm_until 30 'the nodes are not idle' sh -c '[ "$(sinfo -h -N -o %T | grep -c idle)" = 2 ]'
}
