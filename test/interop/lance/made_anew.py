"""Clients that hold a table which was dropped write to the next table of its name: all of it has to be refused.

made_anew.py URI COMMAND..., where COMMAND starts stale-own.mjs. The next table has more versions than the client has
read, so that Lance builds the change on the newest of them by itself.
"""
import json
import subprocess
import sys

import lance
import lance_namespace
import pyarrow as pa

uri, *command = sys.argv[1:]
own = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
client = lance_namespace.connect("rest", {"uri": uri})
SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("v", pa.int64())])


def ask(table, does, **given):
    own.stdin.write(json.dumps({"table": table, "does": does, **given}) + "\n")
    own.stdin.flush()
    answer = json.loads(own.stdout.readline())
    if "error" in answer:
        sys.exit(f"{table}: {does} {given}: {answer['error']}")
    return answer


def rows(first, count):
    return [{"id": id, "v": id * 10} for id in range(first, first + count)]


def arrow(first, count):
    return pa.Table.from_pylist(rows(first, count), schema=SCHEMA)


def merge(dataset, first, count):
    return dataset.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(arrow(first, count))


CHANGES = {
    "append": lambda stale: stale.insert(arrow(900, 3)),
    "append by write_dataset": lambda stale: lance.write_dataset(arrow(900, 3), stale, mode="append"),
    "delete": lambda stale: stale.delete("id = 1"),
    "delete a whole fragment": lambda stale: stale.delete("id < 10"),
    "delete every row": lambda stale: stale.delete("true"),
    "truncate": lambda stale: stale.truncate_table(),
    "update": lambda stale: stale.update({"v": "1"}, where="id = 2"),
    "update every row": lambda stale: stale.update({"v": "1"}),
    "merge": lambda stale: merge(stale, 2, 3),
    "merge new rows": lambda stale: merge(stale, 900, 3),
    "delete by merge": lambda stale: stale.merge_insert("id").when_matched_delete().execute(arrow(0, 10)),
    "add a column": lambda stale: stale.add_columns({"w": "v + 1"}),
    "add a column of nulls": lambda stale: stale.add_columns(pa.schema([pa.field("w", pa.int64())])),
    "rename": lambda stale: stale.alter_columns({"path": "v", "name": "w"}),
    "drop a column": lambda stale: stale.drop_columns(["v"]),
    "change a type": lambda stale: stale.alter_columns({"path": "v", "data_type": pa.float64()}),
    "compact": lambda stale: stale.optimize.compact_files(),
    "overwrite": lambda stale: lance.write_dataset(arrow(900, 3), stale, mode="overwrite"),
    "restore": lambda stale: (stale.checkout_version(1)).restore(),
    "metadata of the table": lambda stale: stale.update_metadata({"k": "v"}),
    "metadata of the schema": lambda stale: stale.update_schema_metadata({"k": "v"}),
    "branch": lambda stale: stale.create_branch("side"),
}

failures, refused = [], 0
for at, (what, change) in enumerate(CHANGES.items()):
    for behind in [0, 2]:
        table = f"anew{at}x{behind}"
        ask(table, "make", rows=rows(0, 10))
        ask(table, "add", rows=rows(10, 10))
        stale = lance.dataset(namespace_client=client, table_id=[table])
        stale.to_table()
        ask(table, "dropTable")
        ask(table, "make", rows=rows(100, 10))
        for step in range(1 + behind):
            ask(table, "add", rows=rows(200 + 10 * step, 10))
        before = ask(table, "read")
        fresh = lance.dataset(namespace_client=client, table_id=[table])
        try:
            change(stale)
            failures.append(f"{what}, {behind} versions behind: taken")
        except Exception:
            refused += 1
        after = ask(table, "read")
        if after != before:
            failures.append(f"{what}, {behind} versions behind: version {before['version']} became {after['version']}, {len(before['rows'])} rows became {len(after['rows'])}")
        # Who has opened the new one goes on.
        try:
            fresh.insert(arrow(500, 1))
        except Exception as error:
            failures.append(f"{what}, {behind} versions behind: one who has opened the new table cannot go on: {str(error)[:200]}")
        ask(table, "dropTable")
own.stdin.close()
for failure in failures:
    print(f"FAILED {failure}")
print(f"tables made anew: {refused} changes of clients that held the dropped one refused, {len(failures)} failures")
sys.exit(1 if failures else 0)
