"""Arrow IPC of other writers, made now and kept as fixtures, becomes tables that hold the same."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import lance_namespace_urllib3_client as client
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.types as is_

from served import CLI, PROJECT, Served

FIXTURES = PROJECT / "fixtures" / "ipc"
sys.path.append(str(FIXTURES))

from corpus import WRITERS, column, corpus, described, held  # noqa: E402

#: Refused though pyarrow reads them: rows may be lost or multiplied, or no table can hold them.
REFUSED = {
    "by-hand/batch-twice.arrow": "blocks overlap",
    "by-hand/unlisted-batch.arrow": "does not list the rows",
    "by-hand/unlisted-first-batch.arrow": "does not list the rows",
    "by-hand/no-marker.arrows": "end-of-stream marker",
    "by-hand/stream-after.arrows": "bytes follow the end",
}


def refusal(name, data):
    """What a message of refusal says, or None for files that are taken."""
    if name in REFUSED:
        return REFUSED[name]
    if "/wide-indices" in name:
        return "dictionary indices of 64 bits"
    what = described(name, data)
    return "Arrow data is not valid" if "refused" in what else None


def kept(type):
    """The type of a table's column: list views become lists, and runs the values they have."""
    if is_.is_run_end_encoded(type):
        return kept(type.value_type)
    inner = [type.field(at) for at in range(type.num_fields)]
    inner = [field.with_type(kept(field.type)) for field in inner]
    if is_.is_list(type) or is_.is_list_view(type):
        return pa.list_(*inner)
    if is_.is_large_list(type) or is_.is_large_list_view(type):
        return pa.large_list(*inner)
    if is_.is_fixed_size_list(type):
        return pa.list_(*inner, type.list_size)
    if is_.is_dictionary(type):
        return pa.dictionary(type.index_type, kept(type.value_type), type.ordered)
    return pa.struct(inner) if is_.is_struct(type) else type


def large():
    """Batches of many rows, and many of them."""
    rows = 300_000
    table = pa.table(
        {
            "n": pa.array(range(rows), pa.int64()),
            "text": pa.array([f"row {at % 977}" for at in range(rows)]),
            "word": pa.array([f"w{at % 50}" for at in range(rows)]).dictionary_encode(),
            "list": pa.array([[at, None][: at % 3] for at in range(rows)], pa.list_(pa.int32())),
        }
    )
    for codec in (None, "lz4", "zstd"):
        for form, make in (("arrow", ipc.new_file), ("arrows", ipc.new_stream)):
            sink = pa.BufferOutputStream()
            with make(sink, table.schema, options=ipc.IpcWriteOptions(compression=codec)) as writer:
                writer.write_table(table, max_chunksize=rows if codec else 1_000)
            yield "pyarrow-large", f"{codec or 'plain'}.{form}", sink.getvalue().to_pybytes()


class Corpus(Served):
    @classmethod
    def setUpClass(cls):
        cls.files = {}
        for path in sorted((FIXTURES / "corpus").glob("*/*.arrow*")):
            cls.files[f"{path.parent.name}/{path.name}"] = path.read_bytes()
        cls.kept = len(cls.files)
        for writer, name, data in corpus([*WRITERS, large]):
            cls.files[f"{writer}/{name}"] = data

    def setUp(self):
        super().setUp()
        api = client.ApiClient(client.Configuration(host=self.url))
        self.tables, self.data = client.TableApi(api), client.DataApi(api)

    def answer(self, table):
        query = client.QueryTableRequest(k=10_000_000, vector=client.QueryTableRequestVector())
        return self.data.query_table(table, query)

    def compare(self, name, data, answer):
        expected = held(name, data)
        found = ipc.open_file(pa.py_buffer(answer)).read_all()
        self.assertEqual(found.num_rows, expected.num_rows)
        self.assertEqual(found.schema.names, expected.schema.names)
        for at, field in enumerate(expected.schema):
            self.assertEqual(found.schema.field(at).type, kept(field.type), field.name)
            if expected.num_rows > 1_000:
                self.assertTrue(found.column(at).equals(expected.column(at)), field.name)
            else:
                self.assertEqual(column(found.column(at)), column(expected.column(at)), field.name)

    def test_fixtures_hold_what_pyarrow_reads_now(self):
        known = json.loads((FIXTURES / "corpus.json").read_text())
        self.assertGreater(len(known), 400)
        for name, what in known.items():
            with self.subTest(name):
                found = described(name, (FIXTURES / "corpus" / name).read_bytes())
                self.assertEqual(found.keys(), what.keys())
                if "refused" not in what:
                    self.assertEqual(found, what)

    def test_over_rest(self):
        counts = {"equal": 0, "refused": 0}
        for name, data in self.files.items():
            with self.subTest(name):
                expected = refusal(name, data)
                if expected is not None:
                    with self.assertRaises(client.exceptions.ApiException) as caught:
                        self.tables.create_table("t", data, mode="overwrite")
                    self.assertIn(expected, caught.exception.body)
                    counts["refused"] += 1
                    continue
                self.tables.create_table("t", data, mode="overwrite")
                self.compare(name, data, self.answer("t"))
                counts["equal"] += 1
        writers = {}
        for name in self.files:
            writer = name.split("/")[0]
            writers[writer] = writers.get(writer, 0) + 1
        print(f"\n{len(self.files)} files, {self.kept} of them fixtures: {counts}; {writers}")

    def test_by_import(self):
        """One file of each writer, as a file on disk."""
        seen = set()
        with tempfile.TemporaryDirectory() as folder:
            for name, data in self.files.items():
                writer = name.split("/")[0]
                if refusal(name, data) is not None or (writer, name[-1]) in seen:
                    continue
                seen.add((writer, name[-1]))
                path = pathlib.Path(folder) / name.replace("/", "-")
                path.write_bytes(data)
                with self.subTest(name):
                    command = ["node", CLI, "import", str(path), path.name, "--root", self.root]
                    done = subprocess.run(command, capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.compare(name, data, self.answer(path.name))


if __name__ == "__main__":
    unittest.main()
