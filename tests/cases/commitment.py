#!/usr/bin/env python3
"""Holds the recommended commitment of every pool against every level there could be.

    commitment.py DEMAND.csv RECOMMENDED.csv DISCOUNT_PCT

DEMAND: provider,pool,hour,demand,cost of audit.commitment_demand. RECOMMENDED: pool,proposed,saving of the rule commit.
A level of L GPUs costs (1 - d) L in every hour, use above it 1, in units of the pool's price. The cheapest level
is one of the demands, or none at all: the total is a line between two of them. Exact arithmetic throughout.
"""
import csv
import re
import sys
from collections import defaultdict
from fractions import Fraction


def cheapest(demand, discount):
    """(cost, level) of the best level, by trying each; of equal ones the lowest."""
    def total(level):
        return (1 - discount) * level * len(demand) + sum(max(d - level, 0) for d in demand)
    return min((total(level), level) for level in {Fraction(0), *demand}), total


def main(demand_file, recommended_file, discount):
    discount = Fraction(discount) / 100
    pools, money = defaultdict(list), defaultdict(Fraction)
    with open(demand_file, encoding="utf-8") as f:
        for row in csv.DictReader(f):
            pools[row["pool"]].append(Fraction(row["demand"]))
            money[row["pool"]] += Fraction(row["cost"] or 0)
    with open(recommended_file, encoding="utf-8") as f:
        said = {row["pool"]: (Fraction(re.match(r"commit ([\d.]+) GPUs", row["proposed"])[1]), Fraction(row["saving"]))
                for row in csv.DictReader(f)}
    wrong = sorted(set(said) - set(pools))
    for pool, demand in sorted(pools.items()):
        (least, level), total = cheapest(demand, discount)
        price = money[pool] / sum(demand) if sum(demand) else 0
        saving = price * (total(0) - least) * 730 / len(demand)
        chosen, claimed = said.get(pool, (Fraction(0), Fraction(0)))
        if pool not in said and saving < 1:
            continue
        if total(chosen) != least or abs(claimed - saving) > Fraction("0.01"):
            wrong.append(f"{pool}: {float(chosen)} GPUs for {float(claimed)}, best {float(level)} for {float(saving)}")
    print(f"{len(pools)} pools, {sum(len(set(d)) + 1 for d in pools.values())} levels, {len(said)} recommended, {len(wrong)} wrong")
    print(*wrong, sep="\n", end="")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
