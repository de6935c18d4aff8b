"""pyarrow opens our fragments, and reads from them what the engine does."""

import json
import pathlib
import unittest
from urllib.parse import unquote

import pyarrow as pa

from exact import exact

FIXTURES = pathlib.Path(__file__).parents[3] / "fixtures" / "v1"

#: pyarrow reads past columns of these types, but its Python has no class for them.
UNKNOWN = {"interval_ym", "interval_dt"}


def tables_of(catalog):
    """The folder of each table by its id, as the catalog lists it."""
    for record in sorted(catalog.glob("**/*.table/.table.json")):
        folder = record.parent
        parts = [unquote(part) for part in folder.relative_to(catalog).parts]
        parts[-1] = parts[-1].removesuffix(".table")
        # The raw name tells: a namespace of this name would be escaped.
        at_root = folder.relative_to(catalog).parts[0] == "data"
        yield "$".join(parts[1:] if at_root else parts), folder


def manifest_of(table, version):
    (path,) = table.glob(f"versions-*/{version.zfill(20)}.json")
    return json.loads(path.read_text())


def columns_of(table, fragments):
    """Every column's values, of all fragments, by name."""
    found = {}
    for fragment in fragments:
        with pa.memory_map(str(table / "data" / f"{fragment['file']}.arrow")) as source:
            reader = pa.ipc.open_file(source)
            for at in range(reader.num_record_batches):
                batch = reader.get_batch(at)
                batch.validate()
                for column, name in enumerate(batch.schema.names):
                    values = None if name in UNKNOWN else exact(batch.column(column))
                    found.setdefault(name, []).extend(values or [])
    return found


class Fragments(unittest.TestCase):
    def test_every_value_of_every_type(self):
        compared, seen = 0, set()
        for catalog in ("types", "history"):
            expected = json.loads((FIXTURES / f"{catalog}.expected.json").read_text())["tables"]
            folders = dict(tables_of(FIXTURES / catalog))
            self.assertEqual(set(folders), set(expected))
            for table, folder in folders.items():
                for version, state in expected[table]["contents"].get("main", {}).items():
                    manifest = manifest_of(folder, version)
                    whole = not any("deletion" in one for one in manifest["fragments"])
                    if not whole or manifest["chunks"] or state["stats"]["num_deleted_rows"]:
                        continue
                    names = [field["name"] for field in state["schema"]["fields"]]
                    columns = columns_of(folder, manifest["fragments"])
                    for name, values in zip(names, state["rows"]):
                        seen.add(name)
                        if name in UNKNOWN or not manifest["fragments"]:
                            continue
                        with self.subTest(table=table, version=version, column=name):
                            self.assertEqual(columns[name], values)
                            compared += len(values)
        self.assertGreater(compared, 900)
        self.assertGreater(len(seen), 60)

    def test_deleted_rows_are_offsets_in_a_file_of_their_own(self):
        catalog = FIXTURES / "types"
        table = dict(tables_of(catalog))["prod$search$every.type"]
        expected = json.loads((FIXTURES / "types.expected.json").read_text())
        state = expected["tables"]["prod$search$every.type"]["contents"]["main"]["3"]
        rows = dict(zip((f["name"] for f in state["schema"]["fields"]), state["rows"]))
        found = []
        for fragment in manifest_of(table, "3")["fragments"]:
            values = columns_of(table, [fragment])["int64"]
            gone = set()
            if "deletion" in fragment:
                path = table / "deletions" / (fragment["deletion"]["file"] + ".arrow")
                with pa.memory_map(str(path)) as source:
                    (column,) = pa.ipc.open_file(source).read_all().columns
                    gone = set(column.to_pylist())
            found += [value for at, value in enumerate(values) if at not in gone]
        self.assertEqual(found, rows["int64"])


if __name__ == "__main__":
    unittest.main()
