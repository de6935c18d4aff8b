"""lance-ray on the catalog."""

import logging
import os

os.environ.setdefault("RAY_DEDUP_LOGS", "0")
import lance
import lance_ray
import pandas
import ray
from changes import BeforeCommit, during_loops, over_jobs
from common import PROPERTIES, client, equal, namespace, step, together

ray.init(num_cpus=2, include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False)
WHERE = {"namespace_impl": "rest", "namespace_properties": PROPERTIES}


def data(*ids):
    return ray.data.from_pandas(pandas.DataFrame({"id": list(ids), "name": [f"n{i}" for i in ids]}))


def write(name, rows, mode):
    lance_ray.write_lance(rows, table_id=["ray", name], mode=mode, **WHERE)


def ids_of(name):
    found = lance_ray.read_lance(table_id=["ray", name], **WHERE)
    return sorted(row["id"] for row in found.take_all())


def basics():
    write("t", data(1, 2, 3), "create")
    write("t", data(4, 5), "append")
    equal(ids_of("t"), [1, 2, 3, 4, 5])
    filtered = lance_ray.read_lance(table_id=["ray", "t"], filter="id > 3", **WHERE)
    equal(filtered.count(), 2)
    held = lance.dataset(namespace_client=client(), table_id=["ray", "t"])
    held.delete("id = 2")
    equal(ids_of("t"), [1, 3, 4, 5])
    write("t", data(9), "overwrite")
    equal(ids_of("t"), [9])


def appenders():
    write("many", data(0), "create")

    def work(at):
        found = []
        for turn in range(2):
            one = 1 + at * 2 + turn
            write("many", data(one), "append")
            found.append(one)
        return found

    acknowledged = together(4, work)
    equal(ids_of("many"), sorted([0, *acknowledged]))
    return f"{len(acknowledged)} rows acknowledged and found"


namespace("ray")
step("ray: create, append, filter, delete, overwrite", basics)
step("ray: 4 writers of 2 appends", appenders)
def create(name, one):
    write(name, data(one), "create")


def job(name, change):
    with BeforeCommit(change):
        write(name, data(2), "append")


during_loops("ray", "ray", create, lambda name: lambda one: write(name, data(one), "append"), ids_of, few=3)
over_jobs("ray", "ray", create, job, ids_of)
ray.shutdown()
