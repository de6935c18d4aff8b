"""Writes random Lance 2.0 datasets that went through random histories, and beside each what Lance reads:
`make_datasets.py OUT COUNT SEED [--small]`. With --small, OUT.json gets all of it too, in base64. OUT/<n>.lance is the dataset, OUT/<n>.arrow the rows, and
OUT/datasets.json lists both with the version or tag that the rows are of."""
import base64
import decimal
import json
import os
import random
import shutil
import sys

# Pages that are cut at other rows in each column.
if int(sys.argv[3]) % 2 == 0:
    os.environ["LANCE_FILE_WRITER_MAX_PAGE_BYTES"] = "64" if "--small" in sys.argv else "2048"

import lance
import pyarrow as pa
import pyarrow.ipc

out, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
small = "--small" in sys.argv
rng = random.Random(seed)


def text():
    return "".join(rng.choice("abcß漢🙂 ") for _ in range(rng.randrange(12)))


LEAVES = {
    "bool": (pa.bool_(), lambda: rng.random() < 0.5),
    **{f"int{bits}": (getattr(pa, f"int{bits}")(), lambda bits=bits: rng.randrange(-(2 ** (bits - 1)), 2 ** (bits - 1))) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (getattr(pa, f"uint{bits}")(), lambda bits=bits: rng.randrange(2**bits)) for bits in (8, 16, 32, 64)},
    "half": (pa.float16(), lambda: float(rng.randrange(1000))),
    "float": (pa.float32(), lambda: float(rng.randrange(10**6))),
    "double": (pa.float64(), lambda: rng.random() * 1e9),
    "string": (pa.string(), text),
    "few": (pa.string(), lambda: rng.choice(["red", "green", "blau"])),
    "large_string": (pa.large_string(), text),
    "binary": (pa.binary(), lambda: rng.randbytes(rng.randrange(9))),
    "large_binary": (pa.large_binary(), lambda: rng.randbytes(rng.randrange(9))),
    "fixed": (pa.binary(5), lambda: rng.randbytes(5)),
    "decimal": (pa.decimal128(30, 4), lambda: decimal.Decimal(rng.randrange(-(10**20), 10**20)).scaleb(-4)),
    "decimal256": (pa.decimal256(50, 2), lambda: decimal.Decimal(rng.randrange(-(10**27), 10**27)).scaleb(-2)),
    "date32": (pa.date32(), lambda: rng.randrange(20000)),
    "date64": (pa.date64(), lambda: rng.randrange(20000) * 86400000),
    "time32": (pa.time32("ms"), lambda: rng.randrange(86400000)),
    "time64": (pa.time64("us"), lambda: rng.randrange(86400000000)),
    "timestamp": (pa.timestamp("us"), lambda: rng.randrange(10**15)),
    "zoned": (pa.timestamp("ns", "Europe/Berlin"), lambda: rng.randrange(10**18)),
    "duration": (pa.duration("s"), lambda: rng.randrange(10**9)),
}
FIXED = ["int8", "int32", "uint16", "half", "float", "double", "decimal", "timestamp"]


def leaf(nulls):
    kind, make = LEAVES[rng.choice(list(LEAVES))]
    return kind, lambda: None if rng.random() < nulls else make()


def column(nulls, depth=0):
    """A type, and what makes one value of it."""
    choice = rng.random()
    if depth > 2 or choice < 0.6:
        return leaf(nulls)
    if choice < 0.7:
        kind, make = LEAVES[rng.choice(FIXED)]
        size = rng.choice([1, 3, 8])
        inside = rng.choice([0, nulls])
        return pa.list_(kind, size), lambda: None if rng.random() < nulls else [None if rng.random() < inside else make() for _ in range(size)]
    if choice < 0.85:
        inner, make = column(nulls, depth + 1)
        kind = rng.choice([pa.list_, pa.large_list])(inner)
        return kind, lambda: None if rng.random() < nulls else [make() for _ in range(rng.randrange(4))]
    members = [column(nulls, depth + 1) for _ in range(rng.randrange(1, 4))]
    names = [f"m{at}" for at in range(len(members))]
    kind = pa.struct([pa.field(name, one[0]) for name, one in zip(names, members)])
    return kind, lambda: {name: one[1]() for name, one in zip(names, members)}


def built(kind, values):
    return pa.array(values, kind, from_pandas=False)


def dictionary(rows, nulls):
    index = rng.choice([pa.int8(), pa.int16(), pa.uint8(), pa.int32()])
    values = pa.array(["eins", "zwei", "drei"], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array([None if rng.random() < nulls else rng.randrange(3) for _ in range(rows)], index), values)


def dataset(number):
    path = os.path.join(out, f"{number}.lance")
    columns = {f"c{at}": column(rng.choice([0, 0, 0.2, 0.2, 1])) for at in range(rng.randrange(1, 7))}
    with_dictionary = rng.random() < 0.2
    with_packed = rng.random() < 0.1
    serial = [0]
    done = 0

    def rows(size):
        ids = range(serial[0], serial[0] + size)
        serial[0] += size
        arrays = {"id": pa.array(ids, pa.int64())}
        for name, (kind, make) in columns.items():
            arrays[name] = built(kind, [make() for _ in range(size)])
        metadata = {name: {b"note": b"of " + name.encode()} for name in arrays if rng.random() < 0}
        if with_dictionary:
            arrays["dict"] = dictionary(size, 0.2)
        if with_packed:
            kind = pa.struct([("x", pa.int32()), ("y", pa.float64()), ("v", pa.list_(pa.float32(), 2))])
            arrays["packed"] = pa.array([{"x": at, "y": at / 2, "v": [1.0, float(at)]} for at in ids], kind)
            metadata["packed"] = {b"packed": b"true"}
        fields = [pa.field(name, array.type, nullable=name != "id", metadata=metadata.get(name)) for name, array in arrays.items()]
        return pa.table(list(arrays.values()), schema=pa.schema(fields, metadata={"made": "by a test"}))

    sizes = [0, 1, 7, 33] if small else [0, 1, 7, 64, 500, 3000, 20000]
    options = {"data_storage_version": "2.0", "max_rows_per_file": rng.choice([100, 1000, 1 << 20])}
    now = lambda: lance.dataset(path)
    lance.write_dataset(rows(rng.choice(sizes)), path, enable_v2_manifest_paths=rng.random() < 0.8, **options)
    some = lambda: rng.randrange(2, 7)
    steps = [
        lambda: lance.write_dataset(rows(rng.choice(sizes)), path, mode="append", **options),
        lambda: now().delete(f"id % {some()} = 1"),
        lambda: now().delete(f"id < {rng.randrange(1 + serial[0])}"),
        lambda: now().add_columns({f"extra{rng.randrange(10**6)}": "id * 2"}),
        lambda: now().add_columns(pa.schema([pa.field(f"none{rng.randrange(10**6)}", rng.choice([pa.float64(), pa.string(), pa.list_(pa.int8())]))])),
        lambda: now().drop_columns([rng.choice([name for name in now().schema.names if name != "id"])]),
        lambda: now().alter_columns({"path": rng.choice([name for name in now().schema.names if name != "id"]), "name": f"new{rng.randrange(10**6)}"}),
        lambda: now().update({"id": "id + 0"}, f"id % {some()} = 0"),
        lambda: now().optimize.compact_files(),
        lambda: now().tags.create(f"t{rng.randrange(10**6)}", now().version),
    ]
    entries = []
    for _ in range(rng.randrange(6)):
        try:
            rng.choice(steps)()
            done += 1
        except BaseException as error:
            if not isinstance(error, Exception) and "Panic" not in type(error).__name__:
                raise
    wanted = [({}, now())]
    versions = [entry["version"] for entry in now().versions()]
    wanted.append(({"version": rng.choice(versions)}, None))
    tags = list(now().tags.list())
    if tags:
        wanted.append(({"tag": rng.choice(tags)}, None))
    for at, (choice, ds) in enumerate(wanted):
        ds = ds or lance.dataset(path, version=choice.get("version", choice.get("tag")))
        try:
            table = ds.to_table()
        except BaseException as error:
            print(f"Lance cannot read its own dataset {number}: {str(error)[:100]}")
            continue
        file = f"{number}-{at}.arrow"
        with pa.ipc.new_stream(os.path.join(out, file), table.schema) as stream:
            stream.write_table(table)
        entries.append({"dataset": f"{number}.lance", "rows": file, "version": ds.version, "choice": choice, "steps": done})
    return entries


shutil.rmtree(out, ignore_errors=True)
os.makedirs(out)
entries = []
for number in range(count):
    try:
        entries += dataset(number)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        print(f"Lance cannot write dataset {number}: {type(error).__name__} {str(error)[:120]}")
        shutil.rmtree(os.path.join(out, f"{number}.lance"), ignore_errors=True)
with open(os.path.join(out, "datasets.json"), "w") as file:
    json.dump(entries, file, indent=1)


def packed(folder):
    """Files in base64 by their path, without what no reader needs."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            if name.endswith((".txn", "hint.json")):
                continue
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder).replace(os.sep, "/")] = base64.b64encode(file.read()).decode()
    return found


if small:
    lines = [json.dumps({**entry, "choice": entry["choice"], "rows": packed(out)[entry["rows"]]}) for entry in entries]
    folders = [f"{json.dumps(name)}: {json.dumps(packed(os.path.join(out, name)))}" for name in sorted({entry["dataset"] for entry in entries})]
    with open(f"{out}.json", "w") as file:
        file.write('{"entries": [\n' + ",\n".join(lines) + '\n], "datasets": {\n' + ",\n".join(folders) + "\n}}\n")
