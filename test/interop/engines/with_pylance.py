"""pylance on the catalog, and jobs during which a table is renamed, dropped, or dropped and made anew."""

import os

import lance
import pyarrow as pa
from common import MANAGED, call, client, describe, drop, equal, namespace, rename, step, tables, together
from jobs import Loop


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
    assert told["location"].split("/", 3)[-1] in error["detail"], error


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


def rename_during_loop():
    write("py$r", rows(1), "create")
    loop = Loop(open_handle("py$r"))
    loop.wait(10)
    rename("py$r", "r2")
    loop.wait(30)
    loop.stop()
    found = ids_of("py$r2")
    missing = set(loop.acknowledged) - set(found)
    equal(missing, set(), "what was acknowledged and lost")
    assert "r" not in tables("py"), "a ghost is listed"
    write("py$r", rows(9), "create")
    equal(ids_of("py$r"), [9])
    equal(set(loop.acknowledged) - set(ids_of("py$r2")), set())
    return f"{len(loop.acknowledged)} acknowledged, {len(loop.errors)} refused"


def drop_during_loop():
    write("py$d", rows(1), "create")
    loop = Loop(open_handle("py$d"))
    loop.wait(10)
    drop("py$d")
    write("py$d", rows(5), "create")
    loop.wait(30)
    loop.stop()
    equal(ids_of("py$d"), [5], "the new table")
    equal(tables("py").count("d"), 1)
    return f"{len(loop.acknowledged)} acknowledged, {len(loop.errors)} refused"


def job_over(change):
    """Writes fragments, lets the table change, and commits them."""

    def run():
        name = f"py$job_{change}"
        write(name, rows(1), "create")
        held = read(name)
        fragments = lance.fragment.write_fragments(rows(2), held)
        if change == "rename":
            rename(name, f"job_{change}_now")
        else:
            drop(name)
        if change == "anew":
            write(name, rows(7), "create")
        refused = None
        try:
            lance.LanceDataset.commit(held, lance.LanceOperation.Append(fragments), held.version)
        except BaseException as error:  # noqa: B902
            refused = error
        if change == "rename":
            found = ids_of(f"py$job_{change}_now")
            assert refused is not None or found == [1, 2], found
        if change == "anew":
            equal(ids_of(name), [7], "the new table")
        if change == "drop":
            equal(describe(name)[0], 404)
        return "committed" if refused is None else "refused"

    return run


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
step("pylance: 6 writers of 6 appends", appenders)
step("pylance: a rename during an append loop", rename_during_loop)
step("pylance: drop and create anew during an append loop", drop_during_loop)
step("pylance: a table outside of the root", outside)
for each in ("rename", "drop", "anew"):
    step(f"pylance: a job over {each}", job_over(each))
