"""Compares what read_datasets.ts read with what Lance read, and the datasets that it wrote; changes those with
Lance: `check_datasets.py OUT`."""
import json
import os
import sys

import lance
import pyarrow as pa
import pyarrow.ipc

out = sys.argv[1]
read = refused = values = copies = closed = 0
failures = []


def plain(kind):
    """Dictionaries compare by their values."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def difference(got, want):
    """What differs first; nothing where all is equal."""
    global values
    for field in want.schema:
        one, other = (table.column(field.name).cast(plain(field.type)).combine_chunks() for table in (got, want))
        values += len(other)
        if not one.equals(other):
            at = next((row for row in range(len(other)) if row >= len(one) or str(one[row]) != str(other[row])), "end")
            return f"column {field.name} ({field.type}) row {at}: {one[at] if isinstance(at, int) and at < len(one) else None} where {other[at] if isinstance(at, int) else None} is due"
    return None


def copy_problem(base, want):
    """What is wrong with the dataset that was written, which Lance then changes in every way."""
    global copies, closed
    if os.path.exists(f"{base}.refused"):
        closed += 1
        text = open(f"{base}.refused").read()
        # Lance itself refuses a null row whose dictionary is full and holds no null.
        is_none = "has no form in Lance 2.0" in text or "holds nulls and a full dictionary" in text
        return None if is_none else text[:300]
    copies += 1
    path = f"{base}.copy"
    found = lance.dataset(path)
    problem = difference(found.to_table(), want)
    if problem or (found.schema.metadata or {}) != (want.schema.metadata or {}):
        return problem or f"metadata {found.schema.metadata}"
    rows = want.num_rows
    # Lance wants memory that is aligned, which IPC does not give. Of one batch: pyarrow cannot join dictionaries that
    # hold a null.
    batches = [batch for batch in want.to_batches() if batch.num_rows > 0][:1]
    taken = [batch.take(pa.array(range(min(5, batch.num_rows)), pa.int64())) for batch in batches]
    few = pa.Table.from_batches(taken, want.schema)
    lance.write_dataset(few, path, mode="append")
    changed = lance.dataset(path)
    changed.delete("id % 2 = 0")
    changed.add_columns({"added": "id + 1"})
    changed.optimize.compact_files()
    kept = [number for number in want.column("id").to_pylist() + few.column("id").to_pylist() if number % 2] if "id" in want.schema.names else None
    after = lance.dataset(path).to_table()
    if kept is not None and after.column("added").to_pylist() != [number + 1 for number in kept]:
        return f"{after.num_rows} rows of {rows} after Lance's changes"
    return None


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
    for what, compare in [("rows", lambda: difference(got, want)), ("copy", lambda: copy_problem(os.path.join(out, entry["rows"]), want))]:
        try:
            problem = compare()
        except BaseException as error:
            problem = f"{type(error).__name__} {str(error)[:300]}"
        if problem:
            failures.append(f"{name}: {what}: {problem}")
for failure in failures[:20]:
    print(failure)
print(f"{read} versions of Lance's datasets read, {values} values compared, {refused} refused; {copies} written as datasets and changed by Lance, {closed} without a form; {len(failures)} failures")
sys.exit(1 if failures or read == 0 or copies == 0 else 0)
