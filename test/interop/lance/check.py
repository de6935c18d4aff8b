"""Opens every version that tables.ts wrote in Lance, over REST, and compares values and row ids."""
import json
import os
import random
import sys

import lance
import lance_namespace
import pyarrow as pa
import pyarrow.ipc

out, uri = sys.argv[1:3]


def plain(array):
    """Values that compare exactly: numbers for dates and times, texts for NaN."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return plain(array.dictionary_decode() if isinstance(array, pa.Array) else array.cast(kind.value_type))
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        width = pa.int32() if kind.bit_width == 32 else pa.int64()
        chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
        return [value for chunk in chunks for value in chunk.view(width).to_pylist()]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind) or pa.types.is_struct(kind):
        return nested(array)
    return array.to_pylist()


def nested(array):
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    rows = []
    for chunk in chunks:
        if pa.types.is_struct(chunk.type):
            members = [plain(chunk.field(at)) for at in range(chunk.type.num_fields)]
            valid = chunk.is_valid().to_pylist()
            rows += [tuple(column[row] for column in members) if valid[row] else None for row in range(len(chunk))]
        else:
            for row in range(len(chunk)):
                value = chunk[row]
                rows.append(plain(value.values) if value.is_valid else None)
    return rows


def by_row_id(table):
    ids = table.column("_rowid").to_pylist()
    return sorted(range(len(ids)), key=ids.__getitem__)


def main():
    client = lance_namespace.connect("rest", {"uri": uri})
    opened = closed = values = 0
    failures = []
    entries = json.load(open(os.path.join(out, "expected.json")))
    # A client is told of a table by its newest version: where that does not open, none does.
    newest = {entry["table"]: entry["opens"] for entry in entries}
    for entry in entries:
        name = f"{entry['table']} version {entry['version']}"
        if not entry["opens"] or not newest[entry["table"]]:
            closed += 1
            continue
        want = pa.ipc.open_stream(os.path.join(out, entry["file"])).read_all()
        try:
            found = lance.dataset(namespace_client=client, table_id=[entry["table"]], version=entry["version"])
            got = found.to_table(with_row_id=True)
        except BaseException as error:
            failures.append(f"{name}: {str(error)[:300]} {want.schema}")
            continue
        opened += 1
        # Lance has the fragments in the order of their ids.
        order, found_order = by_row_id(want), by_row_id(got)
        some = random.sample(order, min(len(order), 10))
        try:
            ids = [want.column("_rowid")[row].as_py() for row in some]
            taken = found._take_rows(ids, columns=[each for each in want.column_names if each != "_rowid"])
        except BaseException as error:
            failures.append(f"{name}: rows {ids} are not taken: {str(error)[:300]}")
            continue
        for column in want.column_names:
            left, right = plain(want.column(column)), plain(got.column(column))
            if repr([left[row] for row in order]) != repr([right[row] for row in found_order]):
                failures.append(f"{name}: column {column} of {want.column(column).type} differs")
            if column != "_rowid" and repr([left[row] for row in some]) != repr(plain(taken.column(column))):
                failures.append(f"{name}: column {column} of {want.column(column).type} differs in rows that are taken by id")
            values += len(left)
    for failure in failures:
        print("FAILED", failure)
    print(f"{opened} versions opened, {closed} say why not, {values} values, {len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
