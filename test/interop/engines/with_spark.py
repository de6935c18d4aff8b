"""lance-spark on the catalog, in a local session of two threads: the jars of pom.xml lie in `jars`."""

import glob
import os
import tempfile
import threading
import time

from changes import during_loops, over_jobs
from common import MANAGED, URI, call, describe, equal, namespace, step, tables, together
from pyspark.sql import SparkSession

here = os.path.dirname(os.path.abspath(__file__))
OPENS = " ".join(f"--add-opens=java.base/{one}=ALL-UNNAMED" for one in ("java.nio", "sun.nio.ch", "java.lang"))
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.extraClassPath", ":".join(glob.glob(os.path.join(here, "jars", "*.jar"))))
    .config("spark.driver.extraJavaOptions", OPENS)
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.extensions", "org.lance.spark.extensions.LanceSparkSessionExtensions")
    .config("spark.sql.catalog.lance", "org.lance.spark.LanceNamespaceSparkCatalog")
    .config("spark.sql.catalog.lance.impl", "rest")
    .config("spark.sql.catalog.lance.uri", URI)
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")


def ids_of(name, suffix=""):
    return sorted(row.id for row in spark.sql(f"SELECT id FROM lance.{name} {suffix}").collect())


def basics():
    spark.sql("CREATE TABLE lance.sp.t (id BIGINT, name STRING)")
    spark.sql("INSERT INTO lance.sp.t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    spark.sql("INSERT INTO lance.sp.t VALUES (4, 'd')")
    equal(ids_of("sp.t"), [1, 2, 3, 4])
    spark.sql("DELETE FROM lance.sp.t WHERE id = 2")
    spark.sql("UPDATE lance.sp.t SET name = 'x' WHERE id = 3")
    spark.sql(
        "MERGE INTO lance.sp.t t USING (SELECT 4L AS id, 'm' AS name UNION ALL SELECT 5L, 'n') s "
        "ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    equal(ids_of("sp.t"), [1, 3, 4, 5])
    equal(spark.sql("SELECT name FROM lance.sp.t WHERE id = 3").collect()[0].name, "x")
    spark.sql("INSERT OVERWRITE lance.sp.t VALUES (9, 'o')")
    equal(ids_of("sp.t"), [9])


def versions():
    # Version 1 is the empty table that CREATE TABLE makes.
    counts = [len(ids_of("sp.t", f"VERSION AS OF {version}")) for version in (1, 2, 3)]
    assert counts in ([0, 3, 4], [3, 4, 3]), counts
    status, error = describe("sp$t", version=99)
    equal((status, error["code"]), (404, 11))


def appenders():
    spark.sql("CREATE TABLE lance.sp.many (id BIGINT, name STRING)")

    def work(at):
        found = []
        for turn in range(4):
            one = 1 + at * 4 + turn
            insert("many", one)
            found.append(one)
        return found

    acknowledged = together(6, work)
    equal(ids_of("sp.many"), sorted(acknowledged))
    return f"{len(acknowledged)} rows acknowledged and found"


def drops():
    spark.sql("CREATE TABLE lance.sp.d (id BIGINT)")
    spark.sql("INSERT INTO lance.sp.d VALUES (1)")
    place = describe("sp$d")[1]["location"].replace("file://", "")
    spark.sql("DROP TABLE lance.sp.d")
    assert "d" not in tables("sp")
    assert os.path.isdir(place), "DROP TABLE keeps the files"
    status, answer = call("table/sp$d2/register", {"location": place})
    equal(status, 200)
    equal(ids_of("sp.d2"), [1])
    spark.sql("DROP TABLE lance.sp.d2 PURGE")
    assert "d2" not in tables("sp")
    spark.sql("CREATE TABLE lance.sp.d (id BIGINT)")
    equal(ids_of("sp.d"), [])


def create(name, one):
    spark.sql(f"CREATE TABLE lance.sp.{name} (id BIGINT, name STRING)")
    insert(name, one)


def insert(name, one):
    spark.sql(f"INSERT INTO lance.sp.{name} VALUES ({one}, 'n')")


def job(name, change):
    """The one row of the insert waits, in the task that writes the files, until the table has changed."""
    folder = tempfile.mkdtemp()
    begun, over = os.path.join(folder, "begun"), os.path.join(folder, "over")

    def held(one):
        with open(begun, "w"):
            pass
        for _ in range(3000):
            if os.path.exists(over):
                return one
            time.sleep(0.01)
        raise RuntimeError("the table was not changed")

    spark.udf.register("held", held, "bigint")
    refused = []

    def insert_held():
        try:
            spark.sql(f"INSERT INTO lance.sp.{name} SELECT held(id + 2), 'n' FROM range(1)")
        except BaseException as error:  # noqa: B902
            refused.append(error)

    thread = threading.Thread(target=insert_held, daemon=True)
    thread.start()
    while not os.path.exists(begun) and thread.is_alive():
        time.sleep(0.01)
    change()
    with open(over, "w"):
        pass
    # lance-core 4.0.0 takes every refusal for a conflict, and repeats the commit for minutes.
    thread.join(20 if MANAGED else None)
    if thread.is_alive():
        raise TimeoutError("the commit is refused, and repeated")
    if refused:
        raise refused[0]


def shared():
    """One table that Daft wrote and LanceDB appended to, where those engines ran."""
    if "shared" not in tables("made"):
        return "left out: nobody made it"
    before = ids_of("made.shared")
    spark.sql("INSERT INTO lance.made.shared VALUES (100, 'spark')")
    spark.sql("DELETE FROM lance.made.shared WHERE id = 1")
    equal(ids_of("made.shared"), sorted([one for one in before if one != 1] + [100]))
    return f"{len(before)} rows of others"


namespace("sp")
step("spark: create, insert, delete, update, merge", basics)
step("spark: versions", versions)
step("spark: 6 writers of 4 inserts", appenders)
step("spark: DROP TABLE and DROP TABLE PURGE", drops)
step("spark: a table that others wrote", shared)
during_loops(
    "spark",
    "sp",
    create,
    lambda name: lambda one: insert(name, one),
    lambda name: ids_of(f"sp.{name}"),
    few=4,
)
over_jobs("spark", "sp", create, job, lambda name: ids_of(f"sp.{name}"))
spark.stop()
