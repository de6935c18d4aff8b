"""The conformance kit against Lance's own REST server, the adapter of pylance over a directory.

Each verdict that is not "passed" is listed here with the sentence of the protocol that explains it. A
verdict that is not in the list is a fault of the kit, or a change of the adapter: look, and write it down.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

try:
    from lance.namespace import RestAdapter
except ImportError as error:
    raise unittest.SkipTest(f"pylance has no REST adapter here: {error}") from error

PROJECT = pathlib.Path(__file__).parents[3]
CLI = os.environ.get("DIRSPACE_CLI", str(PROJECT / "dist" / "cli" / "main.js"))

FAILED = {
    # "ExistOk: the operation succeeds and the existing namespace is kept." It answers 409.
    "CreateNamespace: mode ExistOk keeps the namespace that is there, in both spellings",
    # "Overwrite: the existing namespace is dropped and a new empty namespace with this name is
    # created." It answers 409.
    "CreateNamespace: mode Overwrite leaves an empty namespace",
    # "ListNamespaces | 1 (NamespaceNotFound)". It answers an empty list.
    "ListNamespaces: a missing namespace is not found",
    # "Skip: the server must return 204 indicating the drop operation has succeeded." It answers 404.
    "DropNamespace: mode Skip accepts a missing namespace, in both spellings",
    # "CreateTable | 1 (NamespaceNotFound), 5 (TableAlreadyExists), ...". It creates the table in a
    # namespace that is not there.
    "CreateTable: a missing namespace is not found",
    # "Indicates a bad request error. It could be caused by an unexpected request body format". It
    # answers 500, "a server-side problem that might not be addressable from the client side".
    "CreateTable: bytes that are no Arrow data are refused",
    # "When true, the response must include all detailed metadata such as `version`, `schema`, and
    # `stats` which require reading the dataset." It leaves out `stats`.
    "DescribeTable: load_detailed_metadata answers version, schema and statistics",
    # "Cannot be used together with `version` or `branch`." It passes over the tag.
    "DescribeTable: a tag beside a version is refused",
    # "If specified, the server should resolve the tag to a version number and describe that version."
    # It passes over the tag and describes the latest version.
    "DescribeTable: describes the version of a tag",
    # "ListTables | 1 (NamespaceNotFound)". It answers an empty list.
    "ListTables: a missing namespace is not found",
    # "This should recursively list all the tables in all child namespaces. Each string in the list is
    # the full identifier in string form." It lists the tables of the root alone.
    "ListAllTables: lists a table by its full identifier",
    # "invalid or unresolved paths should return InvalidInput or TableColumnNotFound." It answers 500
    # with code 18.
    "AlterTableAlterColumns: a missing column is not found",
    "AlterTableDropColumns: a missing column is not found",
    # "Replace the schema metadata for table `id` with the provided key-value pairs." It merges them.
    "UpdateTableSchemaMetadata: replaces the metadata of the schema",
    # "Branch to target. When not specified, the main branch is used." It inserts into main.
    "InsertIntoTable: rows that are inserted into a branch are not seen beside it",
    # "if there are more items than the page limit specified in the request, the implementation must
    # return a page token in the response". It bounds the list and answers no token.
    "ListTableVersions: pages have at most as many versions as asked for, and each version once",
    # "An inclusive upper bound of the number of results that a caller will receive." It lists all.
    "ListTableTags: pages have at most as many tags as asked for, and each tag once",
    "ListTableBranches: pages have at most as many branches as asked for, and each branch once",
}

#: "0 - Unsupported: Operation not supported by this backend", which all operations may answer.
NOT_IMPLEMENTED = {
    # "The `Cascade` behavior mode, which recursively drops all contents, is not required for basic
    # implementations." It restricts all the same.
    "DropNamespace: behavior Cascade drops what is in it",
    "RenameTable: a renamed table has its new name only",
    "RenameTable: moves a table to another namespace",
    "RenameTable: a taken name is a conflict, and a missing table is not found",
    "BatchCommitTables: declares several tables",
    "BatchCommitTables: declares all of several tables or none",
    "UpdateFieldMetadata: merges metadata of a field; null deletes a key, replace the rest",
    "BatchCreateTableVersions: a missing table is not found",
    "AlterTableBackfillColumns: answers a job, and values are those of the expression or not there yet",
    "AlterTableBackfillColumns: a computed column is null until it is backfilled",
    "AlterTableBackfillColumns: a column of plain values cannot be filled",
    "AlterTableBackfillColumns: a missing column is not found",
    "AlterTableBackfillColumns: a missing table is not found",
    "CreateMaterializedView: a missing namespace is not found",
    "CreateMaterializedView: a view is a table, with the columns of its query",
    "CreateMaterializedView: a view that is made without data has no row until it is refreshed",
    "CreateMaterializedView: a view with data has the rows of its query, or none yet",
    "CreateMaterializedView: the name of a table is taken",
    "CreateMaterializedView: a query of a missing table or column fails",
    "RefreshMaterializedView: a missing view is not found",
    "RefreshMaterializedView: a table that is no view is not refreshed",
}

DIFFERS = {
    # "version: integer, minimum 0" is the shape of a valid request; that a server checks it is not
    # said. It answers the latest version.
    "DescribeTable: a negative version is refused",
    # "Register an existing table at a given storage location as `id`.": which form a location has is
    # not said. It answers absolute URIs, and takes relative paths alone.
    "RegisterTable: takes the location that deregistering answered, and the rows are back",
}

#: It makes no views, so there is none to refresh.
NOT_DECIDABLE = {
    "RefreshMaterializedView: answers a job, and a view has the rows of before or of after a refresh",
}

EXPECTED = {
    "failed": FAILED,
    "not implemented": NOT_IMPLEMENTED,
    "differs": DIFFERS,
    "not decidable": NOT_DECIDABLE,
    "not run": set(),
}


class Conformance(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        root = tempfile.mkdtemp(prefix="dirspace-interop-")
        cls.addClassCleanup(shutil.rmtree, root)
        adapter = RestAdapter("dir", {"root": root}, port=0)
        adapter.start()
        cls.addClassCleanup(adapter.stop)
        cls.url = f"http://127.0.0.1:{adapter.port}"
        cls.done = cls.kit("--format", "json")
        cls.report = json.loads(cls.done.stdout)

    @classmethod
    def kit(cls, *arguments):
        command = ["node", CLI, "conformance", cls.url, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=300)

    def test_each_verdict_is_the_one_that_is_explained(self):
        found = {verdict: set() for verdict in EXPECTED}
        for one in self.report["results"]:
            if one["verdict"] != "passed":
                found[one["verdict"]].add(f"{one['operation']}: {one['name']}")
        self.assertEqual(found, EXPECTED)
        self.assertGreater(self.report["totals"]["passed"], 90)

    def test_each_has_its_request_and_answer_and_the_sentence_it_rests_on(self):
        for one in self.report["results"]:
            with self.subTest(one["name"]):
                self.assertTrue(one["basis"])
                if one["verdict"] in ("failed", "differs"):
                    self.assertTrue(one["request"] and one["answer"] and one["expected"] and one["got"])

    def test_the_exit_code_is_that_of_failures_alone(self):
        self.assertEqual(self.done.returncode, 1)
        missing = self.kit("--only", "RenameTable", "--only", "RegisterTable")
        self.assertEqual(missing.returncode, 0, missing.stdout)

    def test_nothing_is_left(self):
        done = self.kit("--only", "CreateNamespace")
        self.assertIn("CreateNamespace", done.stdout)
        from lance.namespace import RestNamespace
        from lance_namespace_urllib3_client import ListNamespacesRequest

        left = RestNamespace(uri=self.url).list_namespaces(ListNamespacesRequest(id=[])).namespaces
        self.assertEqual(left, [])


if __name__ == "__main__":
    unittest.main()
