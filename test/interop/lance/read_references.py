"""Prints what every version, tag and branch of a table holds, as JSON: read_references.py URI TABLE."""
import json
import sys

import lance
import lance_namespace

uri, name = sys.argv[1:3]
client = lance_namespace.connect("rest", {"uri": uri})
newest = lance.dataset(namespace_client=client, table_id=[name])


def ids(dataset):
    rows = dataset.to_table(columns=["id", "name"]).to_pylist()
    for row in rows:
        if row["name"] != f"name {row['id']}":
            sys.exit(f"row {row['id']} has the name {row['name']}")
    return sorted(row["id"] for row in rows)


print(
    json.dumps(
        {
            "main": ids(newest),
            "versions": {each["version"]: ids(newest.checkout_version(each["version"])) for each in newest.versions()},
            "tags": {tag: ids(newest.checkout_version(tag)) for tag in newest.tags.list()},
            "branches": {
                branch: ids(newest.checkout_version((branch, None))) for branch in newest.branches.list() if branch != "main"
            },
        }
    )
)
