"""LanceDB's Python client in remote mode, beside the same calls on its own local database."""

import shutil
import tempfile
import unittest

import lancedb
import pyarrow as pa

from served import Served

SCHEMA = pa.schema(
    [("id", pa.int64()), ("name", pa.string()), ("v", pa.list_(pa.float32(), 2))]
)
ROWS = [{"id": at, "name": f"n{at}", "v": [float(at), 1.0]} for at in range(5)]


def rows_of(query):
    return sorted(query.to_list(), key=lambda row: (row.get("query_index", 0), row["id"]))


class Remote(Served):
    def setUp(self):
        super().setUp()
        local = tempfile.mkdtemp(prefix="dirspace-interop-")
        self.addCleanup(shutil.rmtree, local)
        self.local = lancedb.connect(local)
        self.remote = lancedb.connect("db://any", api_key="key", host_override=self.url)

    def compare(self, program):
        """What the client does with its own database is what is expected of the server."""
        expected = program(self.local)
        found = program(self.remote)
        self.assertEqual(found, expected)
        return found

    def compare_table(self, program):
        return self.compare(lambda db: program(db.create_table("t", ROWS, schema=SCHEMA)))

    def test_create_open_and_drop(self):
        def program(db):
            table = db.create_table("t", ROWS, schema=SCHEMA)
            with self.assertRaisesRegex(ValueError, "already exists"):
                db.create_table("t", ROWS, schema=SCHEMA)
            kept = db.create_table("t", ROWS[:1], schema=SCHEMA, exist_ok=True).count_rows()
            with self.assertRaisesRegex(ValueError, "not found"):
                db.open_table("missing")
            found = [table.name, table.schema, kept, db.open_table("t").count_rows()]
            over = db.create_table("t", ROWS[:2], schema=SCHEMA, mode="overwrite")
            found += [over.count_rows(), db.list_tables().tables]
            db.drop_table("t")
            return [*found, db.list_tables().tables]

        self.assertEqual(self.compare(program)[-1], [])

    def test_blobs(self):
        schema = pa.schema([pa.field("id", pa.int64()), lancedb.blob("image")])
        values = [b"abc", None, b"", bytes(range(256)) * 9000, b"last"]
        rows = [{"id": at, "image": value} for at, value in enumerate(values)]

        def program(db):
            table = db.create_table("t", schema=schema)
            table.add(rows)
            hits = table.search().select(["id"]).with_row_id(True).limit(10).to_arrow()
            by_id = dict(zip(hits["id"].to_pylist(), hits["_rowid"].to_pylist()))
            order = [by_id[at] for at in (3, 0, 1, 2, 4)]
            blobs = [blob.as_py() for blob in table.fetch_blobs("image", order)]
            files = table.fetch_blob_files("image", order)
            sizes = [file and file.size() for file in files]
            files[0].seek(1000)
            part = files[0].read(600)
            rest = files[0].read()
            return table.blob_columns(), blobs, sizes, part, len(rest), files[4].read()

        found = self.compare(program)
        self.assertEqual(found[1], [values[at] for at in (3, 0, 1, 2, 4)])

    def test_rows_in_parts(self):
        batches = [pa.record_batch({"id": pa.array(range(at, at + 50))}) for at in (0, 50, 100)]
        data = pa.Table.from_batches(batches)

        def program(db):
            table = db.create_table("t", data.slice(0, 1))
            added = table.add(data, write_parallelism=3)
            found = [added.version, table.count_rows(), table.count_rows("id >= 100")]
            over = table.add(data, mode="overwrite", write_parallelism=3)
            return [*found, over.version, table.count_rows()]

        self.assertEqual(self.compare(program), [2, 151, 50, 3, 150])

    def test_namespaces(self):
        def program(db):
            db.create_namespace(["a"])
            db.create_namespace(["a", "b"])
            table = db.create_table("t", ROWS, schema=SCHEMA, namespace_path=["a", "b"])
            found = [
                table.count_rows(),
                db.list_namespaces(["a"]).namespaces,
                db.list_tables(["a", "b"]).tables,
                db.open_table("t", namespace_path=["a", "b"]).count_rows("id > 2"),
            ]
            db.drop_table("t", namespace_path=["a", "b"])
            db.drop_namespace(["a", "b"])
            return [*found, db.list_namespaces(["a"]).namespaces]

        self.compare(program)

    def test_insert_and_query_with_a_filter(self):
        def program(table):
            added = table.add([{"id": 9, "name": None, "v": [9.0, 9.0]}])
            query = table.search().where("id > 3").select(["id", "name"])
            return [
                added.version,
                rows_of(query.limit(10)),
                rows_of(table.search().where("name IS NULL").limit(10)),
                table.count_rows("name LIKE 'n%'"),
                table.search().limit(2).to_arrow().schema,
            ]

        self.compare_table(program)

    def test_vector_search(self):
        def program(table):
            near = table.search([0.0, 1.0]).limit(3)
            cosine = table.search([2.0, 1.0]).distance_type("cosine").limit(2)
            filtered = table.search([0.0, 1.0]).where("id >= 2", prefilter=True).limit(2)
            return [
                [[row["id"] for row in query.to_list()] for query in (near, cosine, filtered)],
                [row["_distance"] for row in near.to_list()],
            ]

        self.compare_table(program)

    def test_several_vectors_in_one_search(self):
        def program(table):
            found = table.search([[0.0, 1.0], [4.0, 1.0]]).limit(2).to_list()
            return sorted((row["query_index"], row["id"], row["_distance"]) for row in found)

        self.compare_table(program)

    def test_update_merge_and_delete(self):
        def program(table):
            updated = table.update(where="id = 1", values={"name": "new"})
            merged = (
                table.merge_insert("id")
                .when_matched_update_all()
                .when_not_matched_insert_all()
                .execute(
                    [
                        {"id": 2, "name": "m", "v": [0.0, 0.0]},
                        {"id": 20, "name": "n", "v": [0.0, 0.0]},
                    ]
                )
            )
            deleted = table.delete("id = 3")
            return [
                [updated.rows_updated, updated.version],
                [merged.num_updated_rows, merged.num_inserted_rows, merged.version],
                [deleted.num_deleted_rows, deleted.version],
                rows_of(table.search().limit(100)),
            ]

        self.compare_table(program)

    def test_versions_tags_and_restore(self):
        def program(table):
            table.add(ROWS[:1])
            tags = table.tags
            tags.create("one", 1)
            found = [
                [one["version"] for one in table.list_versions()],
                {name: one["version"] for name, one in tags.list().items()},
                tags.get_version("one"),
            ]
            tags.update("one", 2)
            found.append(tags.get_version("one"))
            tags.delete("one")
            found.append(list(tags.list()))
            table.checkout(1)
            found += [table.version, table.count_rows()]
            table.restore()
            return [*found, table.version, table.count_rows()]

        self.compare_table(program)

    def test_branches(self):
        def program(table):
            branch = table.branches.create("b")
            branch.add(ROWS[:1])
            found = [branch.count_rows(), table.count_rows(), list(table.branches.list())]
            table.branches.delete("b")
            return [*found, list(table.branches.list())]

        self.compare_table(program)

    def test_columns(self):
        def program(table):
            added = table.add_columns({"twice": "id * 2"})
            renamed = table.alter_columns({"path": "twice", "rename": "double"})
            rows = [row["double"] for row in rows_of(table.search().limit(9))]
            dropped = table.drop_columns(["double"])
            return [added.version, renamed.version, dropped.version, rows, table.schema.names]

        self.compare_table(program)

    def test_rows_by_number_statistics_and_plans(self):
        def program(table):
            stats = table.stats()
            plans = table.search([0.0, 1.0]).limit(1)
            return [
                rows_of(table.take_offsets([2, 0])),
                rows_of(table.take_row_ids([0, 2])),
                table.head(2).to_pylist(),
                [stats["num_rows"], stats["num_indices"]],
                [type(plans.explain_plan()), type(plans.analyze_plan())],
                list(table.list_indices()),
            ]

        self.compare_table(program)

    def test_integers_of_64_bits(self):
        def program(db):
            wide = pa.table({"x": pa.array([2**62 + 1, None, -(2**63)], pa.int64())})
            return db.create_table("wide", wide).search().limit(9).to_arrow()["x"].to_pylist()

        self.compare(program)

    def test_rename(self):
        self.remote.create_table("t", ROWS)
        self.remote.rename_table("t", "u")
        self.assertEqual(self.remote.list_tables().tables, ["u"])


if __name__ == "__main__":
    unittest.main()
