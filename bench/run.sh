#!/bin/sh
# bench/run.sh --gpus N [--days 90] [--kit DIR] [--program FILE] [--no-peers] [--keep DIR] [--seed N]
# Makes an estate of N GPUs, audits it, and prints what every stage took beside its target and beside
# the peers of the kit. bench.py says how it measures.
exec /usr/bin/python3 "$(dirname "$0")/bench.py" "$@"
