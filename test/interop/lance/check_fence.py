"""Shows that pylance and LanceDB write nothing by path: check_fence.py URI LINKS TABLE...; no URI for a fence alone."""
import datetime
import os
import re
import sys

import lance
import lance_namespace
import pyarrow as pa

uri, links, *paths = sys.argv[1:]
failures = []
refused = 0
rows = pa.table({"n": pa.array([9.0]), "m": pa.array([9.0]), "s": pa.array(["x"])})
IN_WORDS = re.compile(r"cannot be (read|written) by this version of Lance")
TAKEN = re.compile(r"already exists|cannot be read")


def attempt(what, action, words=IN_WORDS):
    """@return what Lance says"""
    global refused
    try:
        action()
        failures.append(f"{what} went through")
    except (OSError, ValueError, RuntimeError, NotImplementedError, pa.ArrowInvalid) as error:
        refused += 1
        if not words.search(str(error)):
            failures.append(f"{what} says {str(error)[:300]}")


def commit_fragments(path):
    fragments = lance.fragment.write_fragments(rows, path, data_storage_version="2.0")
    lance.LanceDataset.commit(path, lance.LanceOperation.Overwrite(rows.schema, fragments))


for path in paths:
    name = os.path.basename(path)
    try:
        lance.dataset(path)
        opens = True
    except ValueError:
        opens = False
    if opens == name.startswith(("read", "golden")):
        failures.append(f"{name} {'opens' if opens else 'does not open'} by path")

    def data():
        return lance.dataset(path)

    attempt(f"create of {name}", lambda: lance.write_dataset(rows, path, mode="create"), TAKEN)
    for what, action in {
        "append": lambda: lance.write_dataset(rows, path, mode="append"),
        "overwrite": lambda: lance.write_dataset(rows, path, mode="overwrite"),
        "overwrite with older names": lambda: lance.write_dataset(
            rows, path, mode="overwrite", enable_v2_manifest_paths=False
        ),
        "commit": lambda: commit_fragments(path),
        "commit an append": lambda: lance.LanceDataset.commit(
            path, lance.LanceOperation.Append([]), read_version=3
        ),
        "commit an append to the fence": lambda: lance.LanceDataset.commit(
            path, lance.LanceOperation.Append([]), read_version=0
        ),
        "delete": lambda: data().delete("true"),
        "update": lambda: data().update({"s": "'x'"}),
        "merge": lambda: data().merge_insert("n").when_matched_update_all().execute(rows),
        "index": lambda: data().create_scalar_index("n", "BTREE"),
        "cleanup": lambda: data().cleanup_old_versions(datetime.timedelta(0), delete_unverified=True),
        "compact": lambda: data().optimize.compact_files(),
        "add columns": lambda: data().add_columns({"x": "n + 1"}),
        "drop columns": lambda: data().drop_columns(["s"]),
        "rename a column": lambda: data().alter_columns({"path": "s", "name": "t"}),
        "config": lambda: data().update_config({"a": "b"}),
        "branch": lambda: data().create_branch("forced"),
    }.items():
        if what == "commit an append to the fence" and opens:
            continue
        # Where there is nothing to join, no permission is asked for.
        if what == "compact" and opens and len(data().get_fragments()) < 2:
            continue
        attempt(f"{what} of {name}", action)

if uri != "":
    client = lance_namespace.connect("rest", {"uri": uri})
    for path in paths:
        table = os.path.basename(path).split(".")[0]
        found = lance.dataset(namespace_client=client, table_id=[table])
        if (found.version, found.latest_version, found.count_rows()) != (3, 3, 5):
            failures.append(f"{table} over REST is version {found.version} with {found.count_rows()} rows")
        if found.checkout_version(1).count_rows() != 3:
            failures.append(f"{table} over REST has another version 1")
        attempt(f"delete of {table} over REST", lambda: found.delete("true"))
        for mode in ("append", "overwrite"):
            attempt(
                f"{mode} of {table} over REST",
                lambda: lance.write_dataset(rows, namespace_client=client, table_id=[table], mode=mode),
            )
        attempt(
            f"cleanup of {table} over REST",
            lambda: found.cleanup_old_versions(datetime.timedelta(0), delete_unverified=True),
        )
    try:
        import lancedb
    except ImportError:
        print("SKIPPED: LanceDB for Python by path: it is not installed")
    else:
        db = lancedb.connect(links)
        for table in ("read", "sync", "once"):
            attempt(f"create_table {table}", lambda: db.create_table(table, rows), TAKEN)
            for what, action in {
                "overwrite": lambda: db.create_table(table, rows, mode="overwrite"),
                "add": lambda: db.open_table(table).add(rows),
                "delete": lambda: db.open_table(table).delete("true"),
                "update": lambda: db.open_table(table).update(values={"s": "x"}),
                "index": lambda: db.open_table(table).create_scalar_index("n"),
                "optimize": lambda: db.open_table(table).optimize(
                    cleanup_older_than=datetime.timedelta(0), delete_unverified=True
                ),
                "drop columns": lambda: db.open_table(table).drop_columns(["s"]),
            }.items():
                attempt(f"{what} of {table} by LanceDB", action)

for failure in failures:
    print("FAILED", failure)
print(f"{refused} writes by path refused, {len(failures)} failures")
sys.exit(1 if failures else 0)
