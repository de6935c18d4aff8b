"""lance-ray on the catalog."""

import logging
import os

os.environ.setdefault("RAY_DEDUP_LOGS", "0")
import lance
import lance_ray
import pandas
import ray
from common import PROPERTIES, client, equal, namespace, step, together

ray.init(num_cpus=2, include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False)
WHERE = {"namespace_impl": "rest", "namespace_properties": PROPERTIES}


def data(*ids):
    return ray.data.from_pandas(pandas.DataFrame({"id": list(ids), "name": [f"n{i}" for i in ids]}))


def ids_of(name):
    found = lance_ray.read_lance(table_id=["ray", name], **WHERE)
    return sorted(row["id"] for row in found.take_all())


def basics():
    lance_ray.write_lance(data(1, 2, 3), table_id=["ray", "t"], mode="create", **WHERE)
    lance_ray.write_lance(data(4, 5), table_id=["ray", "t"], mode="append", **WHERE)
    equal(ids_of("t"), [1, 2, 3, 4, 5])
    filtered = lance_ray.read_lance(table_id=["ray", "t"], filter="id > 3", **WHERE)
    equal(filtered.count(), 2)
    held = lance.dataset(namespace_client=client(), table_id=["ray", "t"])
    held.delete("id = 2")
    equal(ids_of("t"), [1, 3, 4, 5])
    lance_ray.write_lance(data(9), table_id=["ray", "t"], mode="overwrite", **WHERE)
    equal(ids_of("t"), [9])


def appenders():
    lance_ray.write_lance(data(0), table_id=["ray", "many"], mode="create", **WHERE)

    def work(at):
        found = []
        for turn in range(2):
            one = 1 + at * 2 + turn
            lance_ray.write_lance(data(one), table_id=["ray", "many"], mode="append", **WHERE)
            found.append(one)
        return found

    acknowledged = together(4, work)
    equal(ids_of("many"), sorted([0, *acknowledged]))
    return f"{len(acknowledged)} rows acknowledged and found"


namespace("ray")
step("ray: create, append, filter, delete, overwrite", basics)
step("ray: 4 writers of 2 appends", appenders)
ray.shutdown()
