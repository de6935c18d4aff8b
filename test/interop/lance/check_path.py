"""Opens what path.ts wrote by path and through Lance's directory namespace, and shows that no writer gets in."""
import datetime
import json
import os
import sys

import lance
import lance_namespace
import pyarrow as pa
import pyarrow.ipc
from lance_namespace import ListNamespacesRequest, ListTablesRequest

root, out = sys.argv[1:3]
failures = []
opened = 0
entries = json.load(open(os.path.join(out, "expected.json")))


def rows_of(table):
    return table.sort_by("_rowid").to_pylist()


def ref_of(ref):
    return tuple(ref) if isinstance(ref, list) else ref


for entry in entries:
    want = pa.ipc.open_stream(os.path.join(out, entry["file"])).read_all()
    ref = ref_of(entry["ref"])
    try:
        data = lance.dataset(entry["path"])
        found = data.checkout_version(ref)
        got = found.to_table(with_row_id=True)
        if found.version != entry["version"]:
            failures.append(f"{entry['id']} at {ref} is version {found.version}, not {entry['version']}")
        if rows_of(want) != rows_of(got.select(want.column_names)):
            failures.append(f"{entry['id']} at {ref} differs")
        opened += 1
    except BaseException as error:
        failures.append(f"{entry['id']} at {ref}: {str(error)[:300]}")

tables = {tuple(entry["id"]): entry["path"] for entry in entries}
for path in set(tables.values()):
    data = lance.dataset(path)
    mine = [entry for entry in entries if entry["path"] == path]
    versions = {entry["ref"] for entry in mine if isinstance(entry["ref"], int)}
    if {found["version"] for found in data.versions()} != versions:
        failures.append(f"{path} has other versions")
    if set(data.tags.list()) != {entry["ref"] for entry in mine if isinstance(entry["ref"], str)}:
        failures.append(f"{path} has other tags")
    if set(data.branches.list()) != {entry["ref"][0] for entry in mine if isinstance(entry["ref"], list)}:
        failures.append(f"{path} has other branches")

directory = lance_namespace.connect("dir", {"root": root, "dir_listing_enabled": "false"})


def walk(namespace):
    found = [tuple(namespace) + (name,) for name in directory.list_tables(ListTablesRequest(id=namespace)).tables]
    for name in directory.list_namespaces(ListNamespacesRequest(id=namespace)).namespaces:
        found += walk(namespace + [name])
    return found


if set(walk([])) != set(tables):
    failures.append(f"the directory namespace lists {walk([])}")
for id, path in tables.items():
    try:
        got = lance.dataset(namespace_client=directory, table_id=list(id)).count_rows()
        if got != lance.dataset(path).count_rows():
            failures.append(f"{id} has other rows in the directory namespace")
    except BaseException as error:
        failures.append(f"{id} in the directory namespace: {str(error)[:300]}")

REFUSED = "cannot be written by this version of Lance"
refused = 0


def values():
    return {path: rows_of(lance.dataset(path).to_table(with_row_id=True)) for path in list(set(tables.values()))[:4]}


before = values()
for path in before:
    rows = lance.dataset(path).to_table().slice(0, 1)
    old = min(found["version"] for found in lance.dataset(path).versions())
    branches = list(lance.dataset(path).branches.list())
    for at in [None, *branches]:
        data = lance.dataset(path) if at is None else lance.dataset(path).checkout_version((at, None))
        attempts = {
            "append": lambda: lance.write_dataset(rows, path if at is None else data, mode="append"),
            "overwrite": lambda: lance.write_dataset(rows, path if at is None else data, mode="overwrite"),
            "delete": lambda: data.delete("true"),
            "update": lambda: data.update({"s": "'x'"}),
            "merge": lambda: data.merge_insert("n").when_matched_update_all().when_not_matched_insert_all().execute(rows),
            "index": lambda: data.create_scalar_index("n", "BTREE"),
            "cleanup": lambda: data.cleanup_old_versions(datetime.timedelta(0), delete_unverified=True),
            "compact": lambda: data.optimize.compact_files(),
            "add_columns": lambda: data.add_columns({"x": "n + 1"}),
            "drop_columns": lambda: data.drop_columns(["s"]),
            "alter_columns": lambda: data.alter_columns({"path": "s", "name": "t"}),
            "restore": lambda: lance.dataset(path, version=old).restore(),
            "config": lambda: data.update_config({"a": "b"}),
            "branch": lambda: data.create_branch("forced"),
        }
        for name, attempt in attempts.items():
            if len(rows) == 0 and name in ("append", "merge", "index", "add_columns", "compact", "delete", "update"):
                continue
            version = data.latest_version
            try:
                attempt()
                if name == "compact" and data.latest_version == version:
                    continue  # There was nothing to join.
                failures.append(f"{name} of {path} at {at} went through")
            except (OSError, ValueError, RuntimeError, NotImplementedError, pa.ArrowInvalid) as error:
                refused += 1
                if REFUSED not in str(error):
                    failures.append(f"{name} of {path} at {at} says {str(error)[:200]}")
if values() != before:
    failures.append("refused writers changed rows")
for failure in failures:
    print("FAILED", failure)
print(f"{opened} versions, branches and tags opened by path, {refused} writes refused, {len(failures)} failures")
sys.exit(1 if failures else 0)
