"""Tables in a bucket, below a prefix that the server's configuration allows: pylance, LanceDB and Daft open them with the
options that describe answers."""

import os

import boto3
import lance
import lancedb
import pyarrow as pa
from common import PROPERTIES, call, client, describe, drop, equal, namespace, rename, step, tables, together

ENDPOINT = os.environ["BUCKET"]
LAKE = "s3://lake/tables"


def rows(*ids):
    return pa.table({"id": pa.array(ids, pa.int64()), "name": [f"n{one}" for one in ids]})


def declare(name):
    status, answer = call(f"table/s3${name}/declare", {"location": f"{LAKE}/{name}.lance"})
    equal((status, answer["location"]), (200, f"{LAKE}/{name}.lance"))
    return answer


def write(name, table, mode="append"):
    return lance.write_dataset(table, namespace_client=client(), table_id=["s3", name], mode=mode)


def ids_of(name):
    found = lance.dataset(namespace_client=client(), table_id=["s3", name])
    return sorted(found.to_table()["id"].to_pylist())


def objects(name):
    key = {"aws_access_key_id": "interop", "aws_secret_access_key": "interop", "region_name": "us-east-1"}
    found = boto3.client("s3", endpoint_url=ENDPOINT, **key).list_objects_v2(
        Bucket="lake", Prefix=f"tables/{name}.lance/"
    )
    return {one["Key"] for one in found.get("Contents", [])}


def options():
    declared = declare("t")
    equal(declared["storage_options"]["aws_endpoint"], ENDPOINT)
    status, told = describe("s3$t", with_table_uri=True)
    equal((status, told["location"], told["table_uri"]), (200, f"{LAKE}/t.lance", f"{LAKE}/t.lance"))
    equal(told["storage_options"]["aws_endpoint"], ENDPOINT)
    equal(told["managed_versioning"], False)
    status, told = describe("s3$t", vend_credentials=False)
    assert "storage_options" not in told
    for wrong in ("s3://lake/other/t.lance", "s3://else/tables/t.lance", f"{LAKE}/../t", f"{LAKE}/a%2e"):
        equal(call("table/s3$no/declare", {"location": wrong})[0], 400, wrong)


def pylance():
    # A declared table is written by an overwrite: create declares it itself.
    write("t", rows(1, 2), "overwrite")
    write("t", rows(3))
    held = lance.dataset(namespace_client=client(), table_id=["s3", "t"])
    held.delete("id = 2")
    equal(ids_of("t"), [1, 3])
    assert any("_versions/" in name for name in objects("t")), objects("t")
    equal(call("table/s3$t/count_rows")[0], 406)


def lancedb_client():
    db = lancedb.connect_namespace("rest", PROPERTIES)
    table = db.open_table("t", namespace_path=["s3"])
    table.add(rows(4))
    table.update(where="id = 1", values={"name": "x"})
    equal(sorted(table.to_arrow()["id"].to_pylist()), [1, 3, 4])
    equal(table.count_rows("name = 'x'"), 1)


def daft():
    try:
        import daft
        import daft_lance
    except ImportError:
        return "left out: Daft is not installed"
    where = {"namespace_impl": "rest", "namespace_properties": PROPERTIES, "table_id": ["s3", "t"]}
    daft_lance.write_lance(daft.from_pydict({"id": [5], "name": ["n5"]}), mode="append", **where)
    equal(sorted(daft_lance.read_lance(**where).to_pydict()["id"]), [1, 3, 4, 5])


def appenders():
    declare("many")
    write("many", rows(0), "overwrite")

    def work(at):
        for turn in range(4):
            write("many", rows(1 + at * 4 + turn))
        return []

    together(4, work)
    equal(ids_of("many"), list(range(17)))
    return "16 rows acknowledged and found"


def names():
    before, old = objects("t"), ids_of("t")
    rename("s3$t", "renamed")
    equal(ids_of("renamed"), old)
    equal(describe("s3$t")[0], 404)
    write("renamed", rows(6))
    drop("s3$renamed")
    assert "renamed" not in tables("s3")
    assert objects("t") > before, "a drop removed objects"
    equal(call("dirspace/table/s3$renamed/undrop")[0], 200)
    equal(ids_of("renamed"), sorted([*old, 6]))
    status, away = call("table/s3$renamed/deregister")
    equal((status, away["location"]), (200, f"{LAKE}/t.lance"))
    equal(call("table/s3$again/register", {"location": away["location"]})[0], 200)
    equal(ids_of("again"), sorted([*old, 6]))


def written_before():
    options = describe("s3$again")[1]["storage_options"]
    lance.write_dataset(rows(7, 8), f"{LAKE}/ready.lance", storage_options=options)
    equal(call("table/s3$ready/register", {"location": f"{LAKE}/ready.lance"})[0], 200)
    equal(ids_of("ready"), [7, 8])


namespace("s3")
step("bucket: options that open a table are answered, below the prefix alone", options)
step("bucket: pylance writes, appends, deletes", pylance)
step("bucket: LanceDB appends, updates", lancedb_client)
step("bucket: Daft appends", daft)
step("bucket: 4 writers of 4 appends", appenders)
step("bucket: rename, drop, undrop, deregister, register", names)
step("bucket: a dataset that was there before is registered", written_before)
