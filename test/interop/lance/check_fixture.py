"""Opens every version of `fixtures/lance` in Lance and shows that its writers are refused."""
import glob
import os
import sys

import lance
import lance_namespace
import pyarrow as pa

root, uri = sys.argv[1:3]
client = lance_namespace.connect("rest", {"uri": uri})
failures = []
opened = 0
for table in ("types", "changed"):
    folder = os.path.join(root, "data", f"{table}.table")
    versions = sorted(glob.glob(os.path.join(folder, "versions-*", "0*.json")))
    for version in range(1, len(versions) + 1):
        found = lance.dataset(namespace_client=client, table_id=[table], version=version)
        found.to_table(with_row_id=True)
        opened += 1
    data = lance.dataset(namespace_client=client, table_id=[table])
    before = data.to_table()
    rows = before.slice(0, 1)
    attempts = {
        "append": lambda: lance.write_dataset(rows, data, mode="append"),
        "delete": lambda: data.delete("true"),
        "update": lambda: data.update({before.column_names[0]: "1"}),
        "index": lambda: data.create_scalar_index(before.column_names[0], "BTREE"),
    }
    for name, attempt in attempts.items():
        try:
            attempt()
            failures.append(f"{name} of {table} went through")
        except (OSError, ValueError, RuntimeError, pa.ArrowInvalid) as error:
            if "cannot be written" not in str(error):
                failures.append(f"{name} of {table} says {str(error)[:200]}")
    after = lance.dataset(namespace_client=client, table_id=[table]).to_table()
    if after.num_rows != before.num_rows:
        failures.append(f"{table} changed")
for failure in failures:
    print("FAILED", failure)
print(f"{opened} versions of the fixture opened, {len(failures)} failures")
sys.exit(1 if failures else 0)
