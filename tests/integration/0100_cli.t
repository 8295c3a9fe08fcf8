# The command line: help, usage errors, settings and where they come from, output that cannot be
# written, and init. No database is needed.
. "${0%/*}/../lib/tap.sh"

# Nobody's own configuration plays a part.
HOME=$work XDG_CONFIG_HOME=$work/config
export HOME XDG_CONFIG_HOME
for variable in $(env | sed -n 's/^\(GPU_AUDIT_[A-Z_]*\)=.*/\1/p'); do
    unset "$variable"
done
mkdir "$work/empty"
cd "$work/empty" || exit 99

# A server that is not there: whoever gets as far as the database ends with 5.
nowhere='postgresql:///audit?host=/nonexistent'

err() {
    cat "$work/err"
}

# ---- help and usage

exits '--help' 0 gpu-audit --help
cp "$work/out" "$work/help"
is 'help goes to standard output alone' "$(err)" ''
is 'no line of the help is too wide' "$(awk 'length > 80' "$work/help")" ''
for file in $(sed -n '/^COMMANDS_C = /,/[^\\]$/p' "$top/Makefile.am" | grep -o 'cli/cmd_[a-z]*\.c'); do
    command=${file#cli/cmd_}
    command=${command%.c}
    like "$command is in --help" "$(cat "$work/help")" "^  $command +[a-z]"
    exits "$command --help" 0 gpu-audit "$command" --help
    like "$command --help has its usage" "$(cat "$work/out")" "^Usage: gpu-audit $command "
    is "no line of $command --help is too wide" "$(awk 'length > 100' "$work/out")" ''
done
exits '--version' 0 gpu-audit --version
like 'the version has three parts' "$(cat "$work/out")" '^gpu-audit [0-9]+\.[0-9]+\.[0-9]+$'

exits 'no command is a usage error' 2 gpu-audit
like 'and says what to do' "$(err)" '^gpu-audit: hint: gpu-audit --help lists the commands\.$'
is 'nothing goes to standard output' "$(cat "$work/out")" ''
exits 'an unknown command' 2 gpu-audit inti
like 'the nearest command is named' "$(err)" 'Did you mean gpu-audit init\?'
exits 'an unknown option' 2 gpu-audit init --quartr 2026Q3
like 'the nearest option is named' "$(err)" 'Did you mean --quarter\?'
exits 'an option of another command' 2 gpu-audit init --no-mail
like 'is named with the command' "$(err)" 'init does not take --no-mail'
exits 'a quarter that is none' 2 gpu-audit ingest --quarter 2026Q5
like 'is named with its option' "$(err)" '^gpu-audit: error: --quarter: "2026Q5" is not a quarter$'
exits 'an option before the command' 2 gpu-audit --days 0 ingest
exits 'init with two folders' 2 gpu-audit init a b

exits 'messages as JSON' 2 gpu-audit inti --log-format json
like 'are one object a line' "$(err)" \
    '^\{"time": "[0-9TZ:-]+", "level": "error", "status": 2, "message": "there is no command \\"inti\\"", "hint": ".*"\}$'
exits 'the environment chooses JSON too' 2 env GPU_AUDIT_LOG_FORMAT=json gpu-audit inti
like 'in the same form' "$(err)" '^\{"time"'
exits 'colours of foreign text stay out of the terminal' 2 gpu-audit "$(printf 'a\033[31mb')"
like 'they are shown as they are' "$(err)" 'a\\x1B\[31mb'

# ---- standard output

if [ -w /dev/full ]; then
    full() {
        gpu-audit "$@" >/dev/full
    }
    exits 'a full disk behind standard output is an error' 7 full --help
    like 'and is told' "$(err)" 'could not write to standard output: No space left on device'
else
    skip 'a full disk behind standard output is an error' 'there is no /dev/full'
fi
{
    sleep 0.3
    gpu-audit --help 2>"$work/pipe-err"
    echo $? >"$work/pipe-status"
} | :
is 'a closed pipe is an error, and no death by signal' "$(cat "$work/pipe-status")" 7
like 'and is told too' "$(cat "$work/pipe-err")" 'standard output: Broken pipe'
without_files() {
    gpu-audit init "$work/closed" <&- >&- 2>&-
}
ok 'closed standard files do no harm' without_files
is 'no message got into a file' "$(grep -l 'gpu-audit: ' "$work/closed"/*)" ''

# ---- init

exits 'init writes a configuration and a cost model' 0 gpu-audit init "$work/new"
like 'and says what comes next' "$(err)" "next: say in $work/new/gpu-audit\.conf where .* --config .* run$"
ok 'the configuration is the sample' cmp "$work/new/gpu-audit.conf" "$top/etc/gpu-audit.conf.sample"
ok 'the cost model is the sample' cmp "$work/new/cost-model.csv" "$top/etc/cost-model.csv.sample"
is 'the configuration is its owner'"'"'s alone' "$(stat -c %a "$work/new/gpu-audit.conf")" 600
exits 'init never overwrites' 3 gpu-audit init "$work/new"
like 'and says so' "$(err)" 'gpu-audit\.conf" exists already'
rm "$work/new/gpu-audit.conf"
exits 'nor half of it' 3 gpu-audit init "$work/new"
ok 'then it writes nothing' test ! -e "$work/new/gpu-audit.conf"
ln -s nowhere "$work/new/gpu-audit.conf"
exits 'nor through a link that leads nowhere' 3 gpu-audit init "$work/new"
: >"$work/a-file"
exits 'a file is no folder' 3 gpu-audit init "$work/a-file"
exits 'a folder in no folder' 3 gpu-audit init "$work/none/none"
like 'is named' "$(err)" 'could not make the folder ".*/none/none": No such file or directory'
mkdir "$work/broken"
printf '[nonsense\n' >"$work/broken/gpu-audit.conf"
in_broken() {
    (cd "$work/broken" && gpu-audit init "$work/beside-broken")
}
ok 'a broken configuration here does not keep init from writing another' in_broken

# The sample is right as it stands, and with every key in it taken for true.
exits 'the sample is taken as it is' 5 \
    gpu-audit --config "$top/etc/gpu-audit.conf.sample" --database "$nowhere" ingest
sed -E 's/^;([a-z[])/\1/' "$top/etc/gpu-audit.conf.sample" >"$work/all.conf"
exits 'the sample is taken with every key' 5 gpu-audit --config "$work/all.conf" --database "$nowhere" ingest

# ---- settings

exits 'without a configuration' 3 gpu-audit ingest
like 'the way to one is told' "$(err)" 'hint: Write one with gpu-audit init, or name one with --config FILE\.'
exits 'a configuration that is not there' 3 gpu-audit --config none.conf ingest
like 'is named' "$(err)" 'could not open "none\.conf": No such file or directory'

# config NAME TEXT: the file $work/NAME.
config() {
    printf "$2" >"$work/$1"
}
# refused NAME TEXT PATTERN: an ingest with that configuration ends with 3 and such an error.
refused() {
    config wrong.conf "$2"
    exits "$1" 3 gpu-audit --config "$work/wrong.conf" --database "$nowhere" ingest
    like "$1: file, line and way out are told" "$(err)" "$3"
}
refused 'an unknown key' '[audit]\n\ncurency = EUR\n' 'wrong\.conf line 3: \[audit\] has no key "curency"$'
like 'the nearest key is named' "$(err)" 'hint: Did you mean "currency"\?'
refused 'an unknown section' '[bills x]\n' 'wrong\.conf line 1: there is no section \[bills\]'
refused 'an unknown key of a source' '[inventory own]\npaht = x.csv\n' \
    'wrong\.conf line 2: \[inventory own\] has no key "paht"$'
like 'its nearest key is named' "$(err)" 'hint: Did you mean "path"\?'
refused 'an unknown format' '[inventory own]\nformat = xyz\n' 'wrong\.conf line [12]: .*"xyz"'
refused 'a number out of range' '[audit]\nidle-threshold = 101\n' 'from 0 to 100, not "101"'

config good.conf '[audit]\ncurrency = EUR\nidle-threshold = 5 ; percent\n'
exits 'a good one is taken' 5 gpu-audit --config "$work/good.conf" --database "$nowhere" ingest
exits 'from the environment' 5 \
    env GPU_AUDIT_CONFIG="$work/good.conf" GPU_AUDIT_DATABASE="$nowhere" gpu-audit ingest
cp "$work/good.conf" gpu-audit.conf
exits 'from the current folder' 5 gpu-audit --database "$nowhere" ingest -v
like '-v tells which it was' "$(err)" '^gpu-audit: configuration: gpu-audit\.conf$'
rm gpu-audit.conf
mkdir -p "$XDG_CONFIG_HOME/gpu-audit"
cp "$work/good.conf" "$XDG_CONFIG_HOME/gpu-audit/gpu-audit.conf"
exits 'from the configuration folder' 5 gpu-audit --database "$nowhere" ingest
rm "$XDG_CONFIG_HOME/gpu-audit/gpu-audit.conf"
exits 'the environment is checked like the file' 3 \
    env GPU_AUDIT_IDLE_THRESHOLD=much gpu-audit --config "$work/good.conf" --database "$nowhere" ingest
like 'and is named' "$(err)" 'GPU_AUDIT_IDLE_THRESHOLD: idle-threshold must be a number'
exits 'the command line wins over the environment' 5 env GPU_AUDIT_DATABASE='postgresql:///x?host=/elsewhere' \
    gpu-audit --config "$work/good.conf" --database "$nowhere" ingest
unlike 'and the other is not even tried' "$(err)" elsewhere

# A password never comes into a message, whoever wrote it.
exits 'a password in the address of the database' 5 gpu-audit --config "$work/good.conf" \
    --database 'postgresql://audit:hunter2@127.0.0.1:1/x?connect_timeout=2' ingest -vv
unlike 'is never told' "$(cat "$work/out" "$work/err")" hunter2

done_testing
