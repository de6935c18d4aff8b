"""Writes a table by its path, past the catalog, while clients write it over REST: write_by_path.py URI FOLDER TABLE.

What is written over REST is there at the end, and nothing of what was written by path.
"""
import os
import sys

import lance
import lance_namespace
import pyarrow as pa

uri, folder, name = sys.argv[1:4]
place = dict(namespace_client=lance_namespace.connect("rest", {"uri": uri}), table_id=[name])
written = []
# Opening the table over REST sets aside what was written by path.
schema = lance.dataset(**place).schema


def newest():
    return lance.dataset(**place)


def rows(first):
    ids = [first, first + 1]
    return pa.Table.from_pylist([{"id": id, "name": f"name {id}"} for id in ids], schema=schema)


def over_rest(dataset, first):
    dataset.insert(rows(first))
    written.extend([first, first + 1])


def append(first):
    lance.write_dataset(rows(first), folder, mode="append")


def commit(_):
    lance.LanceDataset.commit(folder, lance.LanceOperation.Restore(1), read_version=lance.dataset(folder).version)


BY_PATH = {
    "append": append,
    "overwrite": lambda first: lance.write_dataset(rows(first), folder, mode="overwrite"),
    "delete": lambda _: lance.dataset(folder).delete("id < 5"),
    "commit": commit,
}
before = newest().to_table(columns=["id"])["id"].to_pylist()
first = 1_000_000
for what, run in BY_PATH.items():
    for times in (1, 3):
        held = newest()
        for _ in range(times):
            run(first := first + 10)
        if lance.dataset(folder).version != held.version + times:
            sys.exit(f"{what} by path made other versions than {times}")
        refused = 0
        try:
            over_rest(held, first := first + 10)
        except Exception as error:
            refused = 1
            if "unknown" not in str(error) and "Incompatible" not in str(error) and "conflict" not in str(error):
                raise
            if "unknown" in str(error):
                over_rest(held, first := first + 10)
        over_rest(newest(), first := first + 10)
        for dataset in (newest(), lance.dataset(folder)):
            found = sorted(dataset.to_table(columns=["id"])["id"].to_pylist())
            if found != sorted(before + written):
                sys.exit(f"after {times} times {what} by path: {len(found)} rows, and not {len(before + written)}")
        aside = sum(".aside-" in entry for entry in os.listdir(f"{folder}/_versions"))
        print(f"by path: {what} {times} times, {refused} refused once over REST, {aside} set aside by now", flush=True)
