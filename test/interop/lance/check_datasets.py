"""Compares what read_datasets.ts read with what Lance read: `check_datasets.py OUT`."""
import json
import os
import sys

import pyarrow as pa
import pyarrow.ipc

out = sys.argv[1]
read = refused = values = 0
failures = []


def plain(kind):
    """Dictionaries compare by their values."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


for entry in json.load(open(os.path.join(out, "datasets.json"))):
    name = f"{entry['dataset']} {entry['choice']}"
    want = pa.ipc.open_stream(os.path.join(out, entry["rows"])).read_all()
    error = os.path.join(out, entry["rows"] + ".error")
    if os.path.exists(error):
        refused += 1
        failures.append(f"{name}: {open(error).read()[:300]}")
        continue
    got = pa.ipc.open_stream(os.path.join(out, entry["rows"] + ".ours")).read_all()
    read += 1
    if got.schema.names != want.schema.names or [str(f.type) for f in got.schema] != [str(f.type) for f in want.schema]:
        failures.append(f"{name}: schema {got.schema} where {want.schema} is due")
        continue
    if (got.schema.metadata or {}) != (want.schema.metadata or {}):
        failures.append(f"{name}: metadata {got.schema.metadata} where {want.schema.metadata} is due")
    for field in want.schema:
        one, other = (table.column(field.name).cast(plain(field.type)).combine_chunks() for table in (got, want))
        values += len(other)
        if not one.equals(other):
            at = next((row for row in range(len(other)) if row >= len(one) or str(one[row]) != str(other[row])), "end")
            failures.append(f"{name}: column {field.name} ({field.type}) row {at}: {one[at] if isinstance(at, int) and at < len(one) else None} where {other[at] if isinstance(at, int) else None} is due")
for failure in failures[:20]:
    print(failure)
print(f"{read} versions of Lance's datasets read, {values} values compared, {refused} refused, {len(failures)} failures")
sys.exit(1 if failures or read == 0 else 0)
