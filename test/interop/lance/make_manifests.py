"""Writes the manifests of small datasets that went through Lance's operations, and what Lance itself says of
them: `make_manifests.py OUT`. Run with several releases of pylance; OUT gets one file for each, which holds the
manifests in base64."""
import base64
import inspect
import json
import os
import shutil
import sys
import tempfile

import lance
import pyarrow as pa

place = tempfile.mkdtemp()
taken = inspect.signature(lance.write_dataset).parameters


def rows(count, first=0):
    return pa.table(
        {
            "id": pa.array(range(first, first + count), pa.int64()),
            "name": pa.array([None if at % 3 == 0 else f"näme {at}" for at in range(count)], pa.string()),
            "vec": pa.array([[float(at), 1.0] for at in range(count)], pa.list_(pa.float32(), 2)),
            "tags": pa.array([["a"] * (at % 3) for at in range(count)], pa.list_(pa.string())),
            "s": pa.array([{"x": at, "y": "b"} for at in range(count)], pa.struct([("x", pa.int32()), ("y", pa.string())])),
        }
    ).replace_schema_metadata({"origin": "test", "ключ": "значение"})


def write(name, table, **options):
    options.setdefault("data_storage_version", "2.0")
    if "stable" in name:
        key = "enable_stable_row_ids" if "enable_stable_row_ids" in taken else "enable_move_stable_row_ids"
        options[key] = True
    options["enable_v2_manifest_paths"] = True
    return lance.write_dataset(table, os.path.join(place, name), **options)


def changes(name, ds):
    """A list of steps, each of which makes a version."""
    path = os.path.join(place, name)
    append = lambda: lance.write_dataset(rows(5, 100), path, mode="append", data_storage_version="2.0")
    now = lambda: lance.dataset(path)
    steps = {
        "append": [append, append],
        "delete": [append, lambda: now().delete("id = 3"), lambda: now().delete("id >= 100")],
        "update": [lambda: now().update({"name": "'changed'"}, "id < 3")],
        "merge": [lambda: now().merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(rows(4, 8))],
        "columns": [
            lambda: now().add_columns({"twice": "id * 2"}),
            lambda: now().alter_columns({"path": "name", "name": "label"}),
            lambda: now().alter_columns({"path": "id", "data_type": pa.int32()}),
            lambda: now().drop_columns(["tags"]),
        ],
        "overwrite": [lambda: lance.write_dataset(rows(2).select(["id", "s"]), path, mode="overwrite", data_storage_version="2.0")],
        "compact": [append, lambda: now().delete("id = 3"), lambda: now().optimize.compact_files()],
        "index": [lambda: now().create_scalar_index("id", "BTREE"), append],
        "restore": [append, lambda: lance.dataset(path, version=1).restore()],
        "config": [lambda: now().update_config({"mine": "1"}), lambda: now().replace_schema_metadata({"a": "b"})],
        "stable": [append, lambda: now().update({"name": "'changed'"}, "id < 3")],
        "newer": [],
        "branch": [lambda: now().create_branch("dev")],
    }
    return steps[name]


def called(value):
    """Older releases answer by methods."""
    return value() if callable(value) else value


def encoded(path):
    with open(path, "rb") as file:
        return base64.b64encode(file.read()).decode()


def fragment(one):
    files = one.data_files()
    return {
        "id": one.fragment_id,
        "rows": one.physical_rows,
        "deleted": one.num_deletions,
        "files": [[called(file.path), list(called(file.field_ids if hasattr(file, "field_ids") else file.fields))] for file in files],
    }


said = {}
for name in ["append", "delete", "update", "merge", "columns", "overwrite", "compact", "index", "restore", "config", "stable", "newer", "branch"]:
    try:
        ds = write(name, rows(10), **({"data_storage_version": "2.1"} if name == "newer" else {}))
        for step in changes(name, ds):
            step()
    except BaseException as error:  # an operation that this release does not have
        print(f"pylance {lance.__version__} left out the rest of {name}: {type(error).__name__} {str(error)[:100]}")
    path = os.path.join(place, name)
    if not os.path.isdir(path):
        continue
    for number in [entry["version"] for entry in lance.dataset(path).versions()]:
        ds = lance.dataset(path, version=number)
        found = [file for file in os.listdir(f"{path}/_versions") if file == f"{2**64 - 1 - number:020d}.manifest"]
        target = f"{name}-{number}"
        said[target] = {
            "manifest": encoded(f"{path}/_versions/{found[0]}"),
            "version": number,
            "columns": ds.schema.names,
            "fragments": [fragment(one) for one in ds.get_fragments()],
            "indexes": [index["name"] for index in ds.list_indices()],
        }
    tree = os.path.join(path, "tree", "dev", "_versions")
    if os.path.isdir(tree):
        ds = lance.dataset(path).checkout_version(("dev", None))
        [file] = [file for file in os.listdir(tree) if file.endswith(".manifest")]
        said["branch-dev"] = {
            "manifest": encoded(os.path.join(tree, file)),
            "version": ds.version,
            "columns": ds.schema.names,
            "fragments": [fragment(one) for one in ds.get_fragments()],
            "indexes": [],
        }
with open(os.path.join(sys.argv[1], f"pylance-{lance.__version__}.json"), "w") as file:
    lines = [f"{json.dumps(name)}: {json.dumps(one, ensure_ascii=False)}" for name, one in said.items()]
    file.write("{\n" + ",\n".join(lines) + "\n}\n")
shutil.rmtree(place)
