"""A CSV bill in other clothes: records.py FORM FILE.csv >OUT, of these forms:

lines    JSON lines, numbers as they stand, NULL and empty cells left out or null, Tags an object
array    one array of objects over many lines, keys in turned order
"""

import csv
import json
import re
import sys

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$")


def value(name, text):
    if text in ("", "NULL"):
        return "null"
    if NUMBER.match(text) and not name.endswith("Id") and name != "Id":
        return text
    if text.startswith("{"):
        try:
            json.loads(text)
            return text
        except ValueError:
            pass
    return json.dumps(text)


def members(number, row):
    pairs = [(name, value(name, text)) for name, text in row.items()]
    if number > 0:
        pairs = [(name, text) for name, text in pairs if text != "null"]
    return pairs


def main():
    form, path = sys.argv[1:]
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        pairs = members(number, row)
        if form == "lines":
            print("{" + ",".join(json.dumps(name) + ":" + text for name, text in pairs) + "}")
        else:
            pairs.reverse()
            body = ",\n".join("  " + json.dumps(name) + " : " + text for name, text in pairs)
            print(("[" if number == 0 else ",") + "{\n" + body + "\n}")
    if form == "array":
        print("]")


main()
