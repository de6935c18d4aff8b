"""The recipes of docs/files.md: other programs read the files of a table as the engine does."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import pyarrow as pa

PROJECT = pathlib.Path(__file__).parents[3]
CLI = str(PROJECT / "dist" / "cli" / "main.js")
ARROW = str(PROJECT / "node_modules" / "apache-arrow" / "Arrow.node.mjs")
PAGE = (PROJECT / "docs" / "files.md").read_text()
#: The lazy scans need DuckDB and Polars, which older Pythons do not have.
RECIPES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)

MAKE = """
import { connect } from %s;
const db = await connect(process.argv[2]);
const rows = (from, count) => Array.from({ length: count }, (_, at) => ({
  id: BigInt(from + at), name: `name ${(from + at) %% 977} of a text that repeats`, x: (from + at) / 4,
  when: new Date((from + at) * 1000), tags: at %% 5 === 4 ? null : ['a', `${at %% 3}`], s: { a: at, b: 'q' },
}));
const one = await db.createTable('whole', rows(0, 40000));
await one.add(rows(40000, 1000));
const t = await db.createTable('changed', rows(0, 40000), [], { compression: process.argv[3] });
await t.add(rows(40000, 1000));
await t.delete('id %% 100 = 7');
await t.add(rows(41000, 5));
await t.delete('id = 41001');
await t.addColumns([{ name: 'y', valueSql: 'x * 2' }]);
await t.alterColumns([{ path: 'name', rename: 'label' }]);
await t.addColumns({ name: 'later', type: 'int32', nullable: true });
await t.dropColumns(['when']);
await (await t.tags()).create('before', await t.version());
await t.alterColumns([{ path: 's.a', rename: 'aa' }]);
const { Dictionary, Field, Int32, List, Schema, Struct, Utf8 } = await import(%s);
const codes = () => new Dictionary(new Utf8(), new Int32());
const within = new Struct([new Field('d', codes())]);
const coded = new Schema([
  new Field('d', codes()), new Field('s', within), new Field('l', new List(new Field('item', within))),
]);
const words = await db.createTable('words', [{ d: 'x', s: { d: 'x' }, l: [{ d: 'x' }] }], [], { schema: coded });
await words.add([{ d: 'y', s: { d: 'y' }, l: [{ d: 'y' }, { d: 'x' }] }]);
const empty = await db.createTable('empty', rows(0, 1));
await empty.delete('true');
"""


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="dirspace-files-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        # As the recipes call it.
        command = pathlib.Path(cls.folder, "bin", "dirspace")
        command.parent.mkdir()
        command.write_text(f'#!/bin/sh\nexec node {CLI} "$@"\n')
        command.chmod(0o755)
        os.environ["PATH"] = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
        script = pathlib.Path(cls.folder, "make.mjs")
        script.write_text(MAKE % (json.dumps(str(PROJECT / "dist" / "index.js")), json.dumps(ARROW)))
        for name in ("none", "zstd"):
            subprocess.run(["node", script, f"{cls.folder}/{name}", name], check=True)
        cls.recipe = {}
        exec(RECIPES[0], cls.recipe)
        try:
            exec(RECIPES[1], cls.recipe)
            cls.lazy = True
        except ImportError:
            cls.lazy = False

    def catalog(self, name):
        os.environ["DIRSPACE_URI"] = f"{self.folder}/{name}"

    def query(self, table, at):
        """The rows as the engine gives them."""
        script = (
            f"import {{ connect }} from {json.dumps(str(PROJECT / 'dist' / 'index.js'))};"
            "const db = await connect(process.env.DIRSPACE_URI);"
            f"const t = await db.openTable({json.dumps(table)}, [], {at});"
            "const { tableToIPC } = await import(process.argv[1]);"
            "process.stdout.write(tableToIPC(await t.query().toArrow(), 'stream'));"
        )
        done = subprocess.run(
            ["node", "--input-type=module", "-e", script, ARROW], check=True, stdout=subprocess.PIPE
        )
        return pa.ipc.open_stream(done.stdout).read_all()

    def assertSameRows(self, found, expected):
        self.assertEqual(found.column_names, expected.column_names)
        self.assertEqual(found.num_rows, expected.num_rows)
        for name in expected.column_names:
            with self.subTest(column=name):
                self.assertEqual(found.column(name).to_pylist(), expected.column(name).to_pylist())

    def test_whole_tables_with_deletions_and_changed_columns(self):
        for name in ("none", "zstd"):
            self.catalog(name)
            found = self.recipe["read_table"]("changed", "--at", "before")
            self.assertLess(found.num_rows, 41005)
            self.assertSameRows(found, self.query("changed", "{ tag: 'before' }"))
            listed = self.recipe["list_files"]("changed", "--at", "before")
            forms = {c["form"] for layout in listed["layouts"] for c in layout["columns"]}
            self.assertTrue({"stored", "missing"} <= forms, forms)
            self.assertTrue(any("offset" in f["deletion"] for f in listed["fragments"] if "deletion" in f))
            self.assertEqual(self.recipe["read_table"]("empty").num_rows, 0)
            # Renamed within a struct: the recipe says that it cannot, until the files are written anew.
            with self.assertRaisesRegex(ValueError, "optimize --plain"):
                self.recipe["read_table"]("changed")

    def test_forgotten_deletions_are_noticed(self):
        self.catalog("none")
        forgetful = dict(self.recipe)
        exec(RECIPES[0].replace('if "deletion" in fragment:', "if False:"), forgetful)
        with self.assertRaisesRegex(AssertionError, "too many"):
            forgetful["read_table"]("changed", "--at", "before")

    def test_lazy_scans_want_plain_files(self):
        if not self.lazy:
            self.skipTest("DuckDB and Polars are not installed")
        self.catalog("none")
        for scan in ("arrow_dataset", "polars_frame", "duckdb_relation"):
            with self.assertRaises(subprocess.CalledProcessError):
                self.recipe[scan]("changed", "--at", "before")
        whole = self.query("whole", "{}")
        self.assertSameRows(self.recipe["arrow_dataset"]("whole").to_table(), whole)
        self.assertSameRows(self.recipe["polars_frame"]("whole").collect().to_arrow(), whole)
        words = [{"d": w, "s": {"d": w}, "l": [{"d": v} for v in l]} for w, l in (("x", "x"), ("y", "yx"))]
        self.assertEqual(self.recipe["read_table"]("words").to_pylist(), words)
        self.assertEqual(self.recipe["polars_frame"]("words").collect().to_dicts(), words)
        relation = self.recipe["duckdb_relation"]("whole")
        self.assertEqual(len(relation.filter("id % 2 = 0").fetchall()), 20500)

    def test_written_anew_the_files_are_plain(self):
        if not self.lazy:
            self.skipTest("DuckDB and Polars are not installed")
        self.catalog("none")
        shutil.copytree(f"{self.folder}/none", f"{self.folder}/anew")
        self.catalog("anew")
        subprocess.run(["dirspace", "optimize", "changed", "--plain"], check=True, stdout=subprocess.DEVNULL)
        expected = self.query("changed", "{}")
        self.assertSameRows(self.recipe["read_table"]("changed"), expected)
        self.assertSameRows(self.recipe["arrow_dataset"]("changed").to_table(), expected)


if __name__ == "__main__":
    unittest.main()
