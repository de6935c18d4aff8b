"""pylance on the catalog, and jobs during which a table is renamed, dropped, or dropped and made anew."""

import os

import lance
import pyarrow as pa
from changes import during_loops, over_jobs
from common import MANAGED, call, client, describe, drop, equal, namespace, rename, step, tables, together


def rows(*ids):
    return pa.table({"id": pa.array(ids, pa.int64()), "name": [f"n{one}" for one in ids]})


def write(name, table, mode="append"):
    ids = name.split("$")
    return lance.write_dataset(table, namespace_client=client(), table_id=ids, mode=mode)


def read(name, version=None):
    return lance.dataset(namespace_client=client(), table_id=name.split("$"), version=version)


def ids_of(name, version=None):
    return sorted(read(name, version).to_table(columns=["id"])["id"].to_pylist())


def basics():
    write("py$t", rows(1, 2, 3), "create")
    write("py$t", rows(4, 5))
    equal(ids_of("py$t"), [1, 2, 3, 4, 5])
    read("py$t").delete("id = 2")
    read("py$t").update({"name": "'x'"}, where="id = 3")
    merge = read("py$t").merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
    merge.execute(rows(5, 6))
    equal(ids_of("py$t"), [1, 3, 4, 5, 6])
    equal(read("py$t").to_table(filter="name = 'x'")["id"].to_pylist(), [3])
    write("py$t", rows(7), "overwrite")
    equal(ids_of("py$t"), [7])


def versions():
    equal(ids_of("py$t", 1), [1, 2, 3])
    equal(describe("py$t", version=1)[0], 200)
    status, error = describe("py$t", version=99)
    equal((status, error["code"]), (404, 11))
    status, told = describe("py$t")
    equal((told["is_only_declared"], told["managed_versioning"]), (False, MANAGED))
    assert "t" in tables("py", include_declared=False)
    status, error = call("table/py$t/count_rows", {})
    equal(status, 406)
    # Messages name what lies in the catalog without its root.
    below = told["location"].split("/.dirspace/", 1)[1]
    assert f"<root>/.dirspace/{below}" in error["detail"], error


def details():
    """What describe tells of the newest version, and of one that has types which tables here do not have."""
    write("py$kinds", rows(1, 2, 3), "create")
    held = read("py$kinds")
    held.delete("id = 2")
    status, told = describe("py$kinds", load_detailed_metadata=True)
    fields = [(field["name"], field["type"]["type"]) for field in told["schema"]["fields"]]
    equal(fields, [("id", "int64"), ("name", "utf8")])
    equal(told["stats"], {"num_deleted_rows": 1, "num_fragments": 1})
    equal((told["version"], told["lance"]), (held.version, {"opens": True, "external": True}))
    held.create_scalar_index("id", "BTREE")
    status, stats = call("table/py$kinds/stats")
    equal((status, stats["num_rows"], stats["num_indices"]), (200, 2, 1))
    many = {
        "half": pa.array([1.5], pa.float16()),
        "vector": pa.array([[1, 2]], pa.list_(pa.float32(), 2)),
        "nested": pa.array([{"a": [1], "b": "x"}]),
        "when": pa.array([0], pa.timestamp("us", "UTC")),
        "price": pa.array([1], pa.decimal128(10, 2)),
        "kind": pa.array(["k"]).dictionary_encode(),
        "nothing": pa.nulls(1),
    }
    write("py$many_kinds", pa.table(many), "create")
    status, told = describe("py$many_kinds", load_detailed_metadata=True)
    equal([field["name"] for field in told["schema"]["fields"]], list(many))
    blob = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    write("py$blobs", pa.table([pa.array([b"x"], pa.large_binary())], pa.schema([blob])), "create")
    status, told = describe("py$blobs", load_detailed_metadata=True)
    equal((status, told["lance"]["opens"]), (200, True))
    pairs = pa.table({"m": pa.array([[("a", 1)]], pa.map_(pa.utf8(), pa.int64()))})
    lance.write_dataset(
        pairs, namespace_client=client(), table_id=["py", "maps"], mode="create", data_storage_version="2.2"
    )
    status, told = describe("py$maps", load_detailed_metadata=True)
    equal((status, "schema" in told, '"m"' in told["lance"]["reason"]), (200, False, True))


def appenders():
    write("py$many", rows(0), "create")

    def work(at):
        found = []
        for turn in range(6):
            one = 1 + at * 6 + turn
            write("py$many", rows(one))
            found.append(one)
        return found

    acknowledged = together(6, work)
    equal(ids_of("py$many"), sorted([0, *acknowledged]))
    return f"{len(acknowledged)} rows acknowledged and found"


def open_handle(name):
    held = read(name)

    def append(one):
        nonlocal held
        held.insert(rows(one))

    return append


def job(name, change):
    held = read(f"py${name}")
    fragments = lance.fragment.write_fragments(rows(2), held)
    change()
    lance.LanceDataset.commit(held, lance.LanceOperation.Append(fragments), held.version)


def outside():
    place = os.path.join(os.environ["OUTSIDE"], "made", "t.lance")
    lance.write_dataset(rows(1, 2), place)
    status, answer = call("table/py$out/register", {"location": place})
    equal((status, answer["location"]), (200, f"file://{place}"))
    equal(ids_of("py$out"), [1, 2])
    write("py$out", rows(3))
    equal(ids_of("py$out"), [1, 2, 3])
    rename("py$out", "out2")
    equal(ids_of("py$out2"), [1, 2, 3])
    equal(call("table/py$out2/count_rows")[0], 406)
    drop("py$out2")
    equal(lance.dataset(place).count_rows(), 3, "the rows of the dropped table")
    status, refused = call("table/py$no/register", {"location": "/etc/t.lance"})
    equal(status, 400)


namespace("py")
step("pylance: create, append, delete, update, merge, overwrite", basics)
step("pylance: versions and what describe says", versions)
step("pylance: what describe says in detail", details)
step("pylance: 6 writers of 6 appends", appenders)
create, found = lambda name, one: write(f"py${name}", rows(one), "create"), lambda name: ids_of(f"py${name}")
during_loops("pylance", "py", create, lambda name: open_handle(f"py${name}"), found)
step("pylance: a table outside of the root", outside)
over_jobs("pylance", "py", create, job, found)
