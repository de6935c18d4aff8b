"""The REST clients of the Lance namespace project: the generated one, and the one in Lance."""

import io
import json
import unittest
import urllib.error
import urllib.request

import lance_namespace
import lance_namespace_urllib3_client as client
import pyarrow as pa

from served import Served

TABLE = pa.table({"id": [1, 2, 3]})


def stream(table):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def api(url):
    return client.ApiClient(client.Configuration(host=url))


class Generated(Served):
    def setUp(self):
        super().setUp()
        opened = api(self.url)
        self.namespaces = client.NamespaceApi(opened)
        self.tables = client.TableApi(opened)
        self.data = client.DataApi(opened)
        self.tags = client.TagApi(opened)
        self.branches = client.BranchApi(opened)
        self.metadata = client.MetadataApi(opened)

    def test_namespaces(self):
        api = self.namespaces
        made = api.create_namespace("prod", client.CreateNamespaceRequest(properties={"a": "b"}))
        self.assertEqual(made.properties["a"], "b")
        api.create_namespace("prod$inner", client.CreateNamespaceRequest())
        self.assertIsNone(api.namespace_exists("prod$inner", client.NamespaceExistsRequest()))
        described = api.describe_namespace("prod", client.DescribeNamespaceRequest())
        self.assertEqual(described.properties["a"], "b")
        self.assertEqual(api.list_namespaces("$").namespaces, ["prod"])
        self.assertEqual(api.list_namespaces("prod").namespaces, ["inner"])
        with self.assertRaises(client.exceptions.ConflictException):
            api.create_namespace("prod", client.CreateNamespaceRequest())
        with self.assertRaises(client.exceptions.ConflictException):
            api.drop_namespace("prod", client.DropNamespaceRequest())
        api.drop_namespace("prod$inner", client.DropNamespaceRequest())
        api.drop_namespace("prod", client.DropNamespaceRequest())
        with self.assertRaises(client.exceptions.NotFoundException):
            api.describe_namespace("prod", client.DescribeNamespaceRequest())

    def test_tables_from_the_first_row_to_the_last_drop(self):
        self.namespaces.create_namespace("prod", client.CreateNamespaceRequest())
        self.assertEqual(self.tables.create_table("prod$t", stream(TABLE)).version, 1)
        inserted = self.data.insert_into_table("prod$t", stream(TABLE))
        self.assertEqual([inserted.version, inserted.num_inserted_rows], [2, 3])
        self.assertEqual(self.count("prod$t"), 6)
        merged = self.data.merge_insert_into_table(
            "prod$t", ["id"], stream(pa.table({"id": [3, 4]})), when_not_matched_insert_all=True
        )
        self.assertEqual(merged.num_inserted_rows, 1)
        updates = client.UpdateTableRequest(updates=[["id", "id + 10"]], predicate="id = 1")
        self.assertEqual(self.data.update_table("prod$t", updates).updated_rows, 2)
        self.data.delete_from_table("prod$t", client.DeleteFromTableRequest(predicate="id = 2"))
        query = client.QueryTableRequest(k=10, vector=client.QueryTableRequestVector())
        answer = self.data.query_table("prod$t", query)
        rows = pa.ipc.open_file(pa.py_buffer(answer)).read_all()["id"].to_pylist()
        self.assertEqual(sorted(rows), [3, 3, 4, 11, 11])

        described = self.tables.describe_table(
            "prod$t",
            client.DescribeTableRequest(),
            with_table_uri=True,
            load_detailed_metadata=True,
        )
        self.assertEqual([described.table, described.namespace], ["t", ["prod"]])
        self.assertEqual(described.var_schema.fields[0].name, "id")
        self.assertTrue(described.table_uri.startswith("file://"))
        self.assertEqual(self.tables.list_tables("prod").tables, ["t"])
        self.assertEqual(self.tables.list_all_tables().tables, ["prod$t"])
        self.tables.rename_table("prod$t", client.RenameTableRequest(new_table_name="u"))
        self.assertIsNone(self.tables.table_exists("prod$u", client.TableExistsRequest()))
        versions = [one.version for one in self.tables.list_table_versions("prod$u").versions]
        self.assertEqual(versions, [1, 2, 3, 4, 5])
        self.tables.restore_table("prod$u", client.RestoreTableRequest(version=1))
        self.assertEqual(self.count("prod$u"), 3)
        stats = self.tables.get_table_stats("prod$u", client.GetTableStatsRequest())
        self.assertEqual(stats.num_rows, 3)
        self.assertEqual(self.tables.drop_table("prod$u").id, ["prod", "u"])
        with self.assertRaises(client.exceptions.NotFoundException):
            self.tables.describe_table("prod$u", client.DescribeTableRequest())

    def test_declared_tables_tags_and_branches(self):
        declared = self.tables.declare_table("d", client.DeclareTableRequest())
        self.assertTrue(declared.location.startswith(self.root))
        described = self.tables.describe_table(
            "d", client.DescribeTableRequest(), check_declared=True
        )
        self.assertTrue(described.is_only_declared)
        self.tables.create_table("t", stream(TABLE))
        self.tags.create_table_tag("t", client.CreateTableTagRequest(tag="x", version=1))
        self.assertEqual(self.tags.list_table_tags("t").tags["x"].version, 1)
        tag = client.GetTableTagVersionRequest(tag="x")
        self.assertEqual(self.tags.get_table_tag_version("t", tag).version, 1)
        self.tags.delete_table_tag("t", client.DeleteTableTagRequest(tag="x"))
        self.assertEqual(self.tags.list_table_tags("t").tags, {})
        self.branches.create_table_branch("t", client.CreateTableBranchRequest(name="b"))
        self.assertEqual(list(self.branches.list_table_branches("t").branches), ["b"])
        self.branches.delete_table_branch("t", client.DeleteTableBranchRequest(name="b"))

    def count(self, table):
        return self.data.count_table_rows(table, client.CountTableRowsRequest())


class Models(Served):
    """A newer protocol shows itself here: the server refuses members it does not know."""

    def test_every_member_of_a_request_is_known_to_the_server(self):
        with urllib.request.urlopen(f"{self.url}/openapi.json") as answer:
            known = json.load(answer)["components"]["schemas"]
        missing = {}
        for name, model in vars(client).items():
            if name not in known or not (isinstance(model, type) and hasattr(model, "model_fields")):
                continue
            members = {field.alias or key for key, field in model.model_fields.items()}
            unknown = members - set(known[name].get("properties", members))
            if unknown and "Response" not in name:
                missing[name] = sorted(unknown)
        self.assertEqual(missing, {})
        self.assertIn("QueryTableRequest", known)

    def test_a_misspelt_member_of_a_change_is_refused(self):
        client.TableApi(api(self.url)).create_table("t", stream(TABLE))
        body = json.dumps({"filter": "id = 1", "updates": [["id", "7"]]}).encode()
        asked = urllib.request.Request(f"{self.url}/v1/table/t/update", data=body)
        asked.add_header("content-type", "application/json")
        with self.assertRaisesRegex(urllib.error.HTTPError, "400"):
            urllib.request.urlopen(asked)


class InLance(Served):
    """`lance_namespace.connect("rest")`: the client that Lance itself uses."""

    def setUp(self):
        super().setUp()
        try:
            self.catalog = lance_namespace.connect("rest", {"uri": self.url})
        except ValueError as error:
            self.skipTest(str(error))

    def test_the_catalog(self):
        names, catalog = lance_namespace, self.catalog
        catalog.create_namespace(names.CreateNamespaceRequest(id=["prod"]))
        listed = catalog.list_namespaces(names.ListNamespacesRequest(id=[]))
        self.assertEqual(list(listed.namespaces), ["prod"])
        catalog.declare_table(names.DeclareTableRequest(id=["prod", "d"]))
        tables = catalog.list_tables(names.ListTablesRequest(id=["prod"])).tables
        self.assertEqual(list(tables), ["d"])
        found = catalog.describe_table(names.DescribeTableRequest(id=["prod", "d"]))
        self.assertTrue(found.location.startswith(self.root))
        catalog.table_exists(names.TableExistsRequest(id=["prod", "d"]))
        with self.assertRaises(names.TableNotFoundError):
            catalog.describe_table(names.DescribeTableRequest(id=["prod", "missing"]))
        with self.assertRaises(names.NamespaceAlreadyExistsError):
            catalog.create_namespace(names.CreateNamespaceRequest(id=["prod"]))
        with self.assertRaises(names.NamespaceNotEmptyError):
            catalog.drop_namespace(names.DropNamespaceRequest(id=["prod"]))
        renamed = names.RenameTableRequest(id=["prod", "d"], new_table_name="e")
        catalog.rename_table(renamed)
        catalog.drop_table(names.DropTableRequest(id=["prod", "e"]))
        catalog.drop_namespace(names.DropNamespaceRequest(id=["prod"]))
        listed = catalog.list_namespaces(names.ListNamespacesRequest(id=[]))
        self.assertEqual(list(listed.namespaces), [])


if __name__ == "__main__":
    unittest.main()
