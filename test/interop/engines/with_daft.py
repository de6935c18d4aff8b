"""daft-lance on the catalog."""

import daft
import daft_lance
import lance
from changes import BeforeCommit, during_loops, over_jobs
from common import PROPERTIES, client, equal, namespace, step, together

WHERE = {"namespace_impl": "rest", "namespace_properties": PROPERTIES}


def data(*ids):
    return daft.from_pydict({"id": list(ids), "name": [f"n{one}" for one in ids]})


def write(name, frame, mode):
    daft_lance.write_lance(frame, table_id=["daft", name], mode=mode, **WHERE)


def ids_of(name):
    return sorted(daft_lance.read_lance(table_id=["daft", name], **WHERE).to_pydict()["id"])


def basics():
    write("t", data(1, 2, 3), "create")
    write("t", data(4, 5), "append")
    equal(ids_of("t"), [1, 2, 3, 4, 5])
    frame = daft_lance.read_lance(table_id=["daft", "t"], **WHERE)
    equal(frame.where(daft.col("id") > 3).count_rows(), 2)
    lance.dataset(namespace_client=client(), table_id=["daft", "t"]).delete("id = 2")
    equal(ids_of("t"), [1, 3, 4, 5])
    write("t", data(9), "overwrite")
    equal(ids_of("t"), [9])


def appenders():
    write("many", data(0), "create")

    def work(at):
        found = []
        for turn in range(4):
            one = 1 + at * 4 + turn
            write("many", data(one), "append")
            found.append(one)
        return found

    acknowledged = together(6, work)
    equal(ids_of("many"), sorted([0, *acknowledged]))
    return f"{len(acknowledged)} rows acknowledged and found"


def shared():
    daft_lance.write_lance(data(1, 2), table_id=["made", "shared"], mode="create", **WHERE)


namespace("daft")
step("daft: create, append, filter, delete, overwrite", basics)
step("daft: a table for the others", shared)
step("daft: 6 writers of 4 appends", appenders)
def create(name, one):
    write(name, data(one), "create")


def job(name, change):
    with BeforeCommit(change):
        write(name, data(2), "append")


during_loops("daft", "daft", create, lambda name: lambda one: write(name, data(one), "append"), ids_of)
over_jobs("daft", "daft", create, job, ids_of)
