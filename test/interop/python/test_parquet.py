"""Parquet that pyarrow writes is read here, and what is written here pyarrow reads: the same values."""

import decimal
import json
import pathlib
import random
import subprocess
import tempfile
import unittest

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

ROWS = 2000
PROGRAM = pathlib.Path(__file__).with_name("parquet_copies.mjs")


def table():
    """Columns of all types that Parquet has, with nulls, from one seed."""
    chance = random.Random(5)

    def some(value, nulls=0.2):
        return [None if chance.random() < nulls else value(row) for row in range(ROWS)]

    def whole(least, most):
        return lambda _: chance.randint(least, most)

    columns = {}
    for bits in (8, 16, 32, 64):
        signed, unsigned = getattr(pa, f"int{bits}")(), getattr(pa, f"uint{bits}")()
        columns[f"int{bits}"] = pa.array(some(whole(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)), signed)
        columns[f"uint{bits}"] = pa.array(some(whole(0, 2**bits - 1)), unsigned)
    odd = [float("nan"), float("inf"), float("-inf"), -0.0, 1.5]
    for name in ("float32", "float64"):
        floats = some(lambda _: chance.choice([*odd, chance.random()]))
        columns[name] = pa.array(floats, getattr(pa, name)())
    columns["bool"] = pa.array(some(lambda _: chance.random() < 0.5))
    words = ["", "a", "日本", 'a,"b"\n', "x" * 60]
    columns["text"] = pa.array(some(lambda row: chance.choice([*words, str(row)])))
    columns["bytes"] = pa.array(some(lambda _: chance.randbytes(chance.randint(0, 20))), pa.binary())
    columns["fixed"] = pa.array(some(lambda _: chance.randbytes(5)), pa.binary(5))
    columns["day"] = pa.array(some(whole(-700_000, 2_000_000)), pa.int32()).cast(pa.date32())
    columns["clock"] = pa.array(some(whole(0, 86_399_999_999)), pa.int64()).cast(pa.time64("us"))
    for unit, scale in (("ms", 1), ("us", 1000), ("ns", 1_000_000)):
        for zone in (None, "UTC", "Europe/Berlin"):
            counts = pa.array(some(lambda _: chance.randint(-(10**12), 10**12) * scale), pa.int64())
            columns[f"at_{unit}_{zone}"] = counts.cast(pa.timestamp(unit, zone))
    columns["span"] = pa.array(some(whole(-(10**15), 10**15)), pa.int64()).cast(pa.duration("us"))
    wide = decimal.Context(prec=100)
    for digits, scale in ((5, 2), (18, 5), (38, 10), (76, 3)):
        most = 10**digits - 1
        made = some(lambda _: decimal.Decimal(chance.randint(-most, most)).scaleb(-scale, wide))
        kind = pa.decimal128 if digits <= 38 else pa.decimal256
        columns[f"decimal{digits}"] = pa.array(made, kind(digits, scale))
    items = lambda _: [chance.choice([None, chance.randint(0, 9)]) for _ in range(chance.randint(0, 4))]
    columns["list"] = pa.array(some(items), pa.list_(pa.int64()))
    lists = lambda _: [chance.choice([None, [], [None], ["x", "y"]]) for _ in range(chance.randint(0, 3))]
    columns["lists"] = pa.array(some(lists), pa.list_(pa.list_(pa.string())))
    vector = lambda _: [chance.random() for _ in range(4)]
    columns["vector"] = pa.array(some(vector), pa.list_(pa.float32(), 4))
    inner = pa.struct([("a", pa.int32()), ("b", pa.struct([("c", pa.string())]))])
    parts = lambda row: {"a": row, "b": chance.choice([None, {"c": chance.choice([None, "q"])}])}
    columns["struct"] = pa.array(some(parts), inner)
    pairs = lambda _: [(f"k{at}", chance.choice([None, at])) for at in range(chance.randint(0, 3))]
    columns["map"] = pa.array(some(pairs), pa.map_(pa.string(), pa.int32()))
    return pa.table(columns)


FORMS = {
    "default": {},
    "plain": {"use_dictionary": False, "compression": "none"},
    "v2": {"data_page_version": "2.0", "compression": "zstd"},
    "small": {"data_page_size": 200, "write_batch_size": 50, "row_group_size": 700},
    "gzip": {"compression": "gzip"},
    "brotli": {"compression": "brotli"},
    "lz4": {"compression": "lz4"},
    "old": {"version": "1.0", "store_schema": False, "use_compliant_nested_type": False},
    "checked": {"write_page_checksum": True},
}


def same(a, b):
    """NaN is itself here, and -0 is not 0."""
    return repr(a) == repr(b)


class Parquet(unittest.TestCase):
    def test_files_of_pyarrow_and_of_ours(self):
        whole = table()
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name, options in FORMS.items():
                pq.write_table(whole, folder / f"{name}.parquet", **options)
            files = [str(folder / f"{name}.parquet") for name in FORMS]
            # Each is read and written anew: as Parquet in each codec, Arrow, CSV and lines of JSON.
            subprocess.run(["node", PROGRAM, *files], check=True, timeout=600)
            compared = 0
            for name in FORMS:
                expected = pq.read_table(folder / f"{name}.parquet")
                for copy in sorted(folder.glob(f"{name}.parquet.*")):
                    if copy.suffix == ".parquet":
                        found = pq.read_table(copy)
                    elif copy.suffix == ".arrow":
                        found = pa.ipc.open_file(copy).read_all()
                    else:
                        continue
                    for column in expected.column_names:
                        with self.subTest(copy=copy.name, column=column):
                            pair = found[column].to_pylist(), expected[column].to_pylist()
                            self.assertTrue(same(*pair))
                            if name != "old":
                                self.assertEqual(found[column].type, expected[column].type)
                            compared += 1
            self.assertGreater(compared, 1000)

    def test_texts_of_ours(self):
        whole = table()
        names = ["int64", "uint64", "float64", "bool", "text", "day", "at_us_None", "decimal18"]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "t.parquet"
            pq.write_table(whole.select(names), path)
            subprocess.run(["node", PROGRAM, str(path)], check=True, timeout=600)
            types = {name: whole[name].type for name in names}
            convert = pyarrow.csv.ConvertOptions(
                column_types=types, null_values=["NULL"], strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            )
            parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
            csv = pyarrow.csv.read_csv(f"{path}.csv", convert_options=convert, parse_options=parse)
            for name in names:
                with self.subTest(format="csv", column=name):
                    self.assertTrue(same(csv[name].to_pylist(), whole[name].to_pylist()))
            lines = pathlib.Path(f"{path}.ndjson").read_text().splitlines()
            rows = [json.loads(line) for line in lines]
            for name in ("int64", "uint64", "text", "bool"):
                with self.subTest(format="ndjson", column=name):
                    self.assertEqual([row[name] for row in rows], whole[name].to_pylist())


if __name__ == "__main__":
    unittest.main()
