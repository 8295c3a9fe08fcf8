#!/bin/sh
# bench/bills.sh --gpus N [--days 90] [--kit DIR] [--program FILE] [--no-peers] [--keep DIR] [--seed N]
# Reads the bills of an estate of N GPUs as FOCUS and as CUR 2.0, and prints rows and megabytes a second
# beside plain decompression, the plain C floor and the kit's readers. 3,500 GPUs are 10 million FOCUS rows.
exec /usr/bin/python3 "$(dirname "$0")/bills.py" "$@"
