"""Removes all old versions of a table that have no tag, again and again until its input ends: prune.py URI TABLE."""
import datetime
import sys
import threading

import lance
import lance_namespace

uri, name = sys.argv[1:3]
client = lance_namespace.connect("rest", {"uri": uri})
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
runs = removed = 0
while not ended.is_set():
    dataset = lance.dataset(namespace_client=client, table_id=[name])
    try:
        done = dataset.cleanup_old_versions(datetime.timedelta(0), error_if_tagged_old_versions=False)
    except OSError as error:
        # A tag or branch that went while Lance read what they are.
        if "Not found" not in str(error) or not any(folder in str(error) for folder in ("/_refs/", "/tree/")):
            raise
        continue
    runs += 1
    removed += done.old_versions
print(f"{runs} cleanups by pylance removed {removed} versions")
