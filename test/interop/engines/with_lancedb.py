"""LanceDB for Python on the catalog: its namespace mode, and databases as it connects to a catalog of them."""

import lancedb
import pyarrow as pa
from changes import during_loops
from common import PROPERTIES, URI, call, equal, namespace, step, tables, together


def rows(*ids):
    return pa.table({"id": pa.array(ids, pa.int64()), "name": [f"n{one}" for one in ids]})


def connect():
    return lancedb.connect_namespace("rest", PROPERTIES)


def ids_of(name):
    table = connect().open_table(name, namespace_path=["db"])
    return sorted(table.to_arrow()["id"].to_pylist())


def basics():
    table = connect().create_table("t", rows(1, 2, 3), namespace_path=["db"])
    table.add(rows(4))
    table.update(where="id = 3", values={"name": "x"})
    table.delete("id = 2")
    table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(rows(4, 5))
    equal(ids_of("t"), [1, 3, 4, 5])
    equal(table.count_rows("name = 'x'"), 1)
    table.create_scalar_index("id")
    table.optimize()
    equal(ids_of("t"), [1, 3, 4, 5])
    assert "t" in connect().table_names(namespace_path=["db"])


def appenders():
    connect().create_table("many", rows(0), namespace_path=["db"])

    def work(at):
        found = []
        for turn in range(4):
            one = 1 + at * 4 + turn
            connect().open_table("many", namespace_path=["db"]).add(rows(one))
            found.append(one)
        return found

    acknowledged = together(8, work)
    equal(ids_of("many"), sorted([0, *acknowledged]))
    return f"{len(acknowledged)} rows acknowledged and found"


def create(name, one):
    connect().create_table(name, rows(one), namespace_path=["db"])


def opened(name):
    table = connect().open_table(name, namespace_path=["db"])
    return lambda one: table.add(rows(one))


def drops():
    create("dropped", 1)
    connect().drop_table("dropped", namespace_path=["db"])
    assert "dropped" not in tables("db")


def own_table():
    """A table of dirspace itself, which no client of Lance may write to unasked."""
    import urllib.request

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows(1, 2).schema) as writer:
        writer.write_table(rows(1, 2))
    request = urllib.request.Request(
        f"{URI}/v1/table/db$own/create",
        data=sink.getvalue().to_pybytes(),
        method="POST",
        headers={"content-type": "application/vnd.apache.arrow.stream"},
    )
    urllib.request.urlopen(request, timeout=60).read()
    refused = 0
    for agent in ({}, {"header.user-agent": "a client"}, {"headers.user-agent": "a client"}):
        for mode in ("append", "overwrite"):
            try:
                found = lancedb.connect_namespace("rest", {**PROPERTIES, **agent})
                if mode == "append":
                    found.open_table("own", namespace_path=["db"]).add(rows(3))
                else:
                    import lance
                    import lance_namespace

                    client = lance_namespace.connect("rest", {**PROPERTIES, **agent})
                    lance.write_dataset(
                        rows(9), namespace_client=client, table_id=["db", "own"], mode="overwrite"
                    )
            except BaseException:  # noqa: B902
                refused += 1
    status, count = call("table/db$own/count_rows", {})
    equal((status, count), (200, 2), "the rows of the table")
    return f"{refused} of 6 writes refused"


def databases():
    catalog = lancedb.connect_catalog(URI, api_key="none")
    for name in ("one", "two"):
        catalog.create_database(name).create_table("t", rows(1, 2) if name == "one" else rows(7))
    listed = catalog.list_databases()
    names = getattr(listed, "databases", listed)
    assert {"one", "two"} <= set(names), names
    equal(catalog.connect_database("one").open_table("t").count_rows(), 2)
    equal(catalog.connect_database("two").open_table("t").count_rows(), 1)
    catalog.connect_database("one").drop_table("t")
    catalog.drop_database("one")
    equal(catalog.connect_database("two").open_table("t").count_rows(), 1)
    equal("one" in tables_of_root(), False)


def tables_of_root():
    return call("namespace/$/list", method="GET")[1]["namespaces"]


def shared():
    """One table that Daft wrote, where it ran."""
    if "shared" not in tables("made"):
        return "left out: nobody made it"
    table = connect().open_table("shared", namespace_path=["made"])
    table.add(rows(3))
    equal(sorted(table.to_arrow()["id"].to_pylist()), [1, 2, 3])
    return "3 rows"


namespace("db")
step("lancedb: create, append, update, delete, merge, index, optimize", basics)
step("lancedb: a table that others wrote", shared)
step("lancedb: 8 writers of 4 appends", appenders)
during_loops("lancedb", "db", create, opened, ids_of)
step("lancedb: drop", drops)
step("lancedb: databases of a catalog are isolated", databases)
step("lancedb: a table of dirspace is not written", own_table)
