"""Writes a table through pylance over REST, operation by operation: write_pylance.py URI TABLE."""
import decimal
import sys

import lance
import lance_namespace
import pyarrow as pa

uri, name = sys.argv[1:3]
place = dict(namespace_client=lance_namespace.connect("rest", {"uri": uri}), table_id=[name])


def newest():
    return lance.dataset(**place)


def rows(count, first):
    """Rows of the table as it is, under ids of their own."""
    found = newest().to_table(limit=count)
    at = found.schema.get_field_index("id")
    ids = pa.array(range(first, first + found.num_rows), pa.int64())
    return found.set_column(at, found.schema.field(at), ids)


def types(first, count):
    span = range(first, first + count)
    return pa.table(
        {
            "id": pa.array(span, pa.int64()),
            "color": pa.DictionaryArray.from_arrays(
                pa.array([i % 3 if i % 7 else None for i in span], pa.int32()), pa.array(["r", "g", f"b{first}"])
            ),
            "price": pa.array([decimal.Decimal(i).scaleb(-2) if i % 4 else None for i in span], pa.decimal128(12, 2)),
            "seen": pa.array([i * 10**6 for i in span], pa.timestamp("us", "UTC")),
            "none": pa.array([None] * count, pa.float16()),
            "words": pa.array([[f"w{j}" for j in range(i % 3)] if i % 5 else None for i in span], pa.list_(pa.string())),
            "point": pa.array([[float(i), 0.5] if i % 6 else None for i in span], pa.list_(pa.float32(), 2)),
            "raw": pa.array([bytes([i % 256]) * 4 for i in span], pa.binary(4)),
        }
    )


def restore(dataset):
    version = dataset.version
    dataset.delete("id < 1100")
    dataset.checkout_version(version).restore()


OPERATIONS = {
    "delete": lambda d: d.delete("id % 100 = 9"),
    "delete most rows": lambda d: d.delete("id < 990"),
    "append": lambda d: lance.write_dataset(rows(300, 10000), mode="append", **place),
    "insert": lambda d: d.insert(rows(50, 11000)),
    "update": lambda d: d.update({"name": "'changed'"}, "id < 10010"),
    "merge": lambda d: d.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(rows(20, 10290)),
    "merge some columns": lambda d: d.merge_insert("id")
    .when_matched_update_all()
    .execute(pa.table({"id": pa.array([10001, 10002], pa.int64()), "x": pa.array([1.0, 2.0])})),
    "add columns": lambda d: d.add_columns({"twice": "id * 2"}),
    "add a column of nulls": lambda d: d.add_columns(pa.schema([pa.field("extra", pa.float64())])),
    "rename": lambda d: d.alter_columns({"path": "name", "name": "label"}),
    "change a type": lambda d: d.alter_columns({"path": "small", "data_type": pa.int64()}),
    "drop": lambda d: d.drop_columns(["extra"]),
    "compact": lambda d: d.optimize.compact_files(),
    "add one that goes": lambda d: d.add_columns({"again": "id * 3"}),
    "drop it": lambda d: d.drop_columns(["again"]),
    "add another in its place": lambda d: d.add_columns({"other": "id + 1"}),
    "metadata of the schema": lambda d: d.update_schema_metadata({"k": "v"}),
    "metadata of the table": lambda d: d.update_metadata({"m": "1"}),
    "restore": restore,
    "overwrite": lambda d: lance.write_dataset(types(0, 70), mode="overwrite", **place),
    "append of every type": lambda d: lance.write_dataset(types(70, 6000), mode="append", **place),
    "delete as a bitmap": lambda d: d.delete("id >= 80 and id < 5900"),
    "delete every row": lambda d: d.truncate_table(),
    "append to none": lambda d: lance.write_dataset(types(10, 5), mode="append", **place),
}

for operation, run in OPERATIONS.items():
    before = newest().version
    run(newest())
    after = newest()
    if after.version <= before:
        sys.exit(f"{operation} made no version")
    print(f"pylance: {operation}, version {after.version}, {after.count_rows()} rows", flush=True)

REFUSED = {
    "an index": lambda d: d.create_scalar_index("id", "BTREE"),
    "a configuration": lambda d: d.update_config({"a": "b"}),
    "a branch whose name holds a slash": lambda d: d.create_branch("a/b"),
}
for what, run in REFUSED.items():
    before = newest().version
    try:
        run(newest())
    except Exception:
        if newest().version == before:
            continue
    sys.exit(f"{what} was not refused")
print(f"pylance: {len(REFUSED)} operations refused, as they are to be", flush=True)
