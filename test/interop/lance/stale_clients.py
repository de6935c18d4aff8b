"""Clients of Lance that are versions behind commit over versions of this package, in random order.

stale_clients.py URI TABLES STEPS SEED COMMAND..., where COMMAND starts stale-own.mjs. What is acknowledged, applied to a
model in the order of the versions, has to be what both sides read then. A client may be told that its change is
incompatible with another, or has to be tried again; that the outcome of a commit is unknown is wrong here.
"""
import collections
import json
import random
import subprocess
import sys

import lance
import lance_namespace
import numpy as np
import pyarrow as pa

uri, tables, steps, seed, *command = sys.argv[1:]
own = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
client = lance_namespace.connect("rest", {"uri": uri})
counts = collections.Counter()
REFUSALS = {
    "Incompatible transaction": "incompatible",
    "Retryable commit conflict": "to be repeated",
    "preempted by concurrent": "to be repeated",
    "Too many concurrent writers": "to be repeated",
    "Append with different schema": "of other columns",
    # A client looks at the newest version before it renames or drops a column.
    "does not exist in the dataset": "of a column that is gone",
}


def ask(table, does, **given):
    own.stdin.write(json.dumps({"table": table, "does": does, **given}) + "\n")
    own.stdin.flush()
    answer = json.loads(own.stdout.readline())
    if "error" in answer:
        sys.exit(f"{table}: {does} {given}: {answer['error']}")
    return answer


class Model:
    """Rows by id. A column has a key of its own that stays when it is renamed."""

    def __init__(self):
        self.rows, self.columns = {}, {0: "id", 1: "v"}

    def copy(self):
        other = Model()
        other.rows = {id: dict(row) for id, row in self.rows.items()}
        other.columns = dict(self.columns)
        return other

    def write(self, columns, rows):
        """Rows with these columns: a column that the writer did not know is null, one that is gone is ignored."""
        for row in rows:
            known = {key: row[name] for key, name in columns.items()}
            self.rows[row["id"]] = {key: known.get(key) for key in self.columns}

    def merge(self, columns, rows):
        for row in rows:
            before = self.rows.get(row["id"], {})
            known = {key: row[name] for key, name in columns.items()}
            self.rows[row["id"]] = {key: known.get(key, before.get(key)) for key in self.columns}


DIMENSIONS = 1700


def vectors(ids):
    """As stale-own.mjs makes them."""
    values = (np.array(ids, np.int64)[:, None] * 31 + np.arange(DIMENSIONS) * 7) % 997
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel().astype(np.float32)), DIMENSIONS)


class Handle:
    """A dataset as a client holds it, with what the client knows of the table."""

    def __init__(self, table, model, version):
        self.dataset = lance.dataset(namespace_client=client, table_id=[table])
        self.known, self.version = model.copy(), version


class Run:
    def __init__(self, table, random):
        self.table, self.random, self.next_id, self.next_column = table, random, 0, 2
        self.model = Model()
        rows = self.fresh(self.model, 40)
        self.model.write(self.model.columns, rows)
        # Every second table has rows so wide that this package writes columns beside fragments.
        self.wide = int(table.removeprefix("stale")) % 2 == 0
        compression = random.choice(["auto", "zstd", "none"])
        self.version = ask(table, "make", rows=rows, isWide=self.wide, compression=compression)["version"]
        self.history = {self.version: self.model.copy()}
        self.handles = [Handle(table, self.model, self.version) for _ in range(3)]

    def fresh(self, model, count):
        ids = range(self.next_id, self.next_id + count)
        self.next_id += count
        return self.rows(model, ids)

    def rows(self, model, ids):
        return [
            {name: id if name == "id" else self.random.choice([None, self.random.randrange(1000)]) for name in model.columns.values()}
            for id in ids
        ]

    def some(self, model):
        """Neighbours mostly, which are in one fragment, and few: most changes do not meet."""
        ids = sorted(model.rows)
        if not ids:
            return []
        if self.random.random() < 0.15:
            return sorted(self.random.sample(ids, min(len(ids), 8)))
        first = self.random.randrange(len(ids))
        count = self.random.choice([1, 1, 2, 3, len(ids) if self.random.random() < 0.1 else 4])
        return ids[first : first + count]

    def extra(self, model):
        names = [name for key, name in model.columns.items() if key > 1]
        return self.random.choice(names) if names else None

    def ours(self):
        model, table, random = self.model, self.table, self.random
        does = random.choice(
            ["add"] * 3 + ["delete"] * 3 + ["update"] * 4 + ["merge"] * 2 + ["compact"] * 2
            + ["addColumn", "drop", "rename", "metadata"] + (["restore", "overwrite"] if random.random() < 0.15 else [])
        )
        ids = self.some(model)
        where = f"id IN ({', '.join(map(str, ids))})"
        column = self.extra(model)
        if (does in ("delete", "update", "merge") and not ids) or (does in ("drop", "rename") and column is None):
            return
        if does == "add":
            rows = self.fresh(model, random.randint(1, 5))
            ask(table, does, rows=rows)
            model.write(model.columns, rows)
        elif does == "delete":
            ask(table, does, where=where)
            for id in ids:
                del model.rows[id]
        elif does == "update":
            ask(table, does, where=where, valuesSql={"v": "coalesce(v, 0) + 1000"})
            self.increase(ids, 1000)
        elif does == "merge":
            rows = self.rows(model, ids) + self.fresh(model, random.randint(0, 2))
            ask(table, does, rows=rows)
            model.merge(model.columns, rows)
        elif does == "compact":
            ask(table, does, targetRows=random.choice([20, 50, 1000]))
        elif does == "addColumn":
            name = self.add_column()
            isNull = random.random() < 0.5
            ask(table, does, column=name, valueSql="CAST(NULL AS BIGINT)" if isNull else "v * 2")
            self.added(name, (lambda row: None) if isNull else (lambda row: row[1] and row[1] * 2))
        elif does == "drop":
            ask(table, does, column=column)
            self.dropped(column)
        elif does == "rename":
            to = self.add_column()
            ask(table, does, column=column, to=to)
            self.renamed(column, to)
        elif does == "metadata":
            ask(table, does, key=f"k{random.randrange(100)}")
        elif does == "restore":
            version = random.choice(list(self.history))
            ask(table, does, version=version)
            self.model = self.history[version].copy()
        elif does == "overwrite":
            self.model = Model()
            rows = self.fresh(self.model, 10)
            ask(table, does, rows=rows)
            self.model.write(self.model.columns, rows)
        counts[f"ours: {does}"] += 1

    def theirs(self):
        random, handle = self.random, self.random.choice(self.handles)
        known, dataset, model = handle.known, handle.dataset, self.model
        ids = self.some(known)
        where = f"id IN ({', '.join(map(str, ids))})"
        does = random.choice(
            ["append"] * 3 + ["delete"] * 3 + ["update"] * 4 + ["merge"] * 2 + ["compact", "add column", "drop", "rename"]
        )
        column = self.extra(known)
        if (does in ("delete", "update", "merge") and not ids) or (does in ("drop", "rename") and column is None):
            return
        if does == "append":
            rows = self.fresh(known, random.randint(1, 5))
            run, apply = lambda: dataset.insert(self.arrow(known, rows)), lambda: model.write(known.columns, rows)
        elif does == "delete":
            run, apply = lambda: dataset.delete(where), lambda: [model.rows.pop(id, None) for id in ids]
        elif does == "update":
            run = lambda: dataset.update({"v": "coalesce(v, 0) + 1"}, where=where)
            apply = lambda: self.increase(ids, 1)
        elif does == "merge":
            rows = self.rows(known, ids) + self.fresh(known, random.randint(0, 2))
            merging = dataset.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            run = lambda: merging.execute(self.arrow(known, rows))
            apply = lambda: model.merge(known.columns, rows)
        elif does == "compact":
            run, apply = lambda: dataset.optimize.compact_files(), lambda: None
        elif does == "add column":
            name = self.add_column()
            run, apply = lambda: dataset.add_columns({name: "v * 3"}), lambda: self.added(name, lambda row: row[1] and row[1] * 3)
        elif does == "drop":
            run, apply = lambda: dataset.drop_columns([column]), lambda: self.dropped(column)
        else:
            to = self.add_column()
            run = lambda: dataset.alter_columns({"path": column, "name": to})
            apply = lambda: self.renamed(column, to)
        behind, read = min(self.version - handle.version, 3), dataset.version
        try:
            run()
        except Exception as error:
            why = next((short for text, short in REFUSALS.items() if text in str(error)), None)
            if why is None or behind == 0:
                sys.exit(f"{self.table}: {does} by a client {behind} versions behind, at version {self.version}: {error!r}")
            counts[f"theirs: {does}, {'behind'}, {why}"] += 1
            if random.random() < 0.5:
                self.reopen(handle)
            return
        apply()
        counts[f"theirs: {does}, {'behind' if behind else 'at the newest'}, committed"] += 1
        # What changes nothing, such as a compaction of one fragment, is no commit: the client stays where it was.
        if dataset.version != read:
            handle.known, handle.version = self.model.copy(), None

    def reopen(self, handle):
        self.handles[self.handles.index(handle)] = Handle(self.table, self.model, self.version)

    def arrow(self, model, rows):
        fields = [pa.field(name, pa.int64(), nullable=name != "id") for name in model.columns.values()]
        made = pa.Table.from_pylist(rows, schema=pa.schema(fields))
        return made.append_column("vec", vectors(made.column("id").to_pylist())) if self.wide else made

    def increase(self, ids, by):
        for id in ids:
            row = self.model.rows.get(id)
            if row is not None:
                row[1] = (row[1] or 0) + by

    def add_column(self):
        self.next_column += 1
        return f"c{self.next_column}"

    def added(self, name, value):
        key = self.next_column
        self.model.columns[key] = name
        for row in self.model.rows.values():
            row[key] = value(row)

    def dropped(self, name):
        key = next(key for key, known in self.model.columns.items() if known == name)
        del self.model.columns[key]
        for row in self.model.rows.values():
            del row[key]

    def renamed(self, name, to):
        key = next(key for key, known in self.model.columns.items() if known == name)
        self.model.columns[key] = to

    def check(self, what, columns, rows):
        wanted = sorted((tuple(row[key] for key in self.model.columns) for row in self.model.rows.values()), key=str)
        order = [columns.index(name) for name in self.model.columns.values()]
        found = sorted((tuple(row[at] for at in order) for row in rows), key=str)
        if found != wanted or len(columns) != len(order):
            missing, extra = [r for r in wanted if r not in found], [r for r in found if r not in wanted]
            sys.exit(f"{self.table}: {what} reads other rows at version {self.version}: missing {missing[:5]}, more {extra[:5]}")

    def step(self):
        if self.random.random() < 0.1:
            self.reopen(self.random.choice(self.handles))
        (self.ours if self.random.random() < 0.6 else self.theirs)()
        answer = ask(self.table, "read")
        self.version = answer["version"]
        for handle in self.handles:
            handle.version = handle.version or self.version
        self.check("this package", answer["columns"], answer["rows"])
        self.history[self.version] = self.model.copy()

    def end(self):
        problems = ask(self.table, "verify")["problems"]
        if problems:
            sys.exit(f"{self.table}: verify: {problems[:3]}")
        found = lance.dataset(namespace_client=client, table_id=[self.table]).to_table()
        if self.wide:
            if found.column("vec").to_pylist() != vectors(found.column("id").to_pylist()).to_pylist():
                sys.exit(f"{self.table}: Lance reads other vectors at version {self.version}")
            found = found.drop_columns(["vec"])
        self.check("Lance", found.column_names, list(zip(*(column.to_pylist() for column in found.columns))) if found.num_rows else [])


for at in range(int(tables)):
    run = Run(f"stale{at}", random.Random(int(seed) * 10_000 + at))
    for _ in range(int(steps)):
        run.step()
    run.end()
own.stdin.close()
behind = sum(count for what, count in counts.items() if "behind, committed" in what)
print(f"stale clients: {tables} tables, {behind} commits of clients that were behind, all rows as acknowledged")
for what, count in sorted(counts.items()):
    print(f"  {what}: {count}")
