"""Random tables that pylance writes over REST, operation by operation, beside plain datasets with the same
operations: `write_corpus.py URI FOLDER COUNT SEED`.

The first table goes through every operation, again and again, for 133 versions and more; COUNT others through a few
random ones. After each commit three readers are compared, values and row ids: pylance over REST (opened anew, and the
handle that has committed), the server's own reader, and pylance on the plain dataset. In the end all versions are read
once more. Commits of the server itself come between; a plain dataset then has other row ids, and values are compared.
Every fourth is made with columns of views, which Lance
sees as texts and bytes. Every third of the others has rows so wide that the server writes columns beside fragments, and is compressed or not;
rows are taken, filtered and found by vectors there, too."""
import decimal
import io
import json
import os
import random
import shutil
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

import lance
import lance_namespace
import pyarrow as pa
import pyarrow.ipc
from lance.file import LanceFileWriter

from corpus_values import difference, sorted_by_id, with_views, without_dictionaries, without_views

uri, folder, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
SCRIPTED_VERSIONS = 133
client = lance_namespace.connect("rest", {"uri": uri})
failures = []
counts = {"versions": 0, "values": 0, "exact": 0, "tables": 0}
done, skipped = {}, {}


def post(path, body, kind="application/json"):
    request = urllib.request.Request(uri + path, body, {"content-type": kind})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{path}: {error.code} {error.read()[:300]}") from None


def post_json(path, body):
    return json.loads(post(path, json.dumps(body).encode()))


def stream(table):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


# Values -----------------------------------------------------------------------------------------------------------


def value(rng, kind, nulls):
    if rng.random() < nulls and not pa.types.is_struct(kind):
        return None
    if pa.types.is_boolean(kind):
        return rng.random() < 0.5
    if pa.types.is_integer(kind):
        bits = kind.bit_width
        low, high = (0, 2**bits - 1) if pa.types.is_unsigned_integer(kind) else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return rng.choice([low, high, 0, rng.randint(low, high)])
    if pa.types.is_float16(kind):
        return float(rng.randrange(1000))
    if pa.types.is_floating(kind):
        return rng.choice([0.0, -0.0, float("inf"), float(rng.randrange(10**6)) / 8])
    if pa.types.is_decimal(kind):
        return decimal.Decimal(rng.randint(-(10**9), 10**9)).scaleb(-kind.scale)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return rng.choice(["", "a", "naïve", "🎈" * rng.randrange(5), "x" * rng.randrange(60), f"k{rng.randrange(9)}"])
    if pa.types.is_fixed_size_binary(kind):
        return rng.randbytes(kind.byte_width)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return rng.randbytes(rng.randrange(9))
    if pa.types.is_fixed_size_list(kind):
        return [value(rng, kind.value_type, nulls / 3) for _ in range(kind.list_size)]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [value(rng, kind.value_type, nulls) for _ in range(rng.randrange(4))]
    if pa.types.is_struct(kind):
        return {field.name: value(rng, field.type, nulls) for field in kind}
    if pa.types.is_date64(kind):
        return rng.randrange(20000) * 86400000
    if pa.types.is_time(kind):
        return rng.randrange(86400)
    return rng.randrange(20000)


def column(rng, kind, rows):
    nulls = rng.choice([0, 0.1, 0.5, 1])
    if pa.types.is_dictionary(kind):
        words = rng.choice([["a", "b"], ["x", "y", "z"], [""]])
        keys = [None if rng.random() < nulls else rng.randrange(len(words)) for _ in range(rows)]
        return pa.DictionaryArray.from_arrays(pa.array(keys, kind.index_type), pa.array(words, kind.value_type))
    return pa.array([value(rng, kind, nulls) for _ in range(rows)], kind)


def table_of(rng, schema, ids):
    columns = []
    for field in schema:
        if field.name == "id":
            columns.append(pa.array(ids, pa.int64()))
        elif field.name == "pad":
            columns.append(pa.array([rng.randbytes(4100) for _ in ids], field.type))
        elif field.name == "vec":
            columns.append(pa.array([[rng.random() for _ in range(8)] for _ in ids], VECTOR))
        elif not field.nullable:
            columns.append(pa.array([value(rng, field.type, 0) for _ in ids], field.type))
        else:
            columns.append(column(rng, field.type, len(ids)))
    return pa.table(columns, schema=schema)


LEAVES = [
    pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(),
    pa.float16(), pa.float32(), pa.float64(), pa.decimal128(12, 2), pa.decimal256(40, 3), pa.string(), pa.large_string(),
    pa.binary(), pa.large_binary(), pa.binary(5), pa.date32(), pa.date64(), pa.time32("s"), pa.time64("us"),
    pa.timestamp("us"), pa.timestamp("ns", "Europe/Berlin"), pa.duration("ms"),
]  # fmt: skip
FIXED = [pa.int8(), pa.int32(), pa.float16(), pa.float32(), pa.float64(), pa.timestamp("us")]


def random_type(rng, depth=0):
    what = rng.randrange(10 if depth < 2 else 6)
    if what < 6:
        return rng.choice(LEAVES)
    if what == 6:
        return pa.list_(random_type(rng, depth + 1))
    if what == 7:
        return pa.list_(rng.choice(FIXED), rng.randint(1, 4))
    if what == 8 and depth == 0:
        return pa.dictionary(rng.choice([pa.int8(), pa.int32()]), pa.string())
    return pa.struct([pa.field(f"m{at}", random_type(rng, depth + 1)) for at in range(rng.randint(1, 3))])


VECTOR = pa.list_(pa.float32(), 8)
WIDE = [pa.field("pad", pa.binary(4100)), pa.field("vec", VECTOR)]


def random_schema(rng, columns, wide=False):
    fields = [pa.field("id", pa.int64(), nullable=False), pa.field("n", pa.int32()), pa.field("s", pa.string())]
    fields += WIDE if wide else []
    return pa.schema(fields + [pa.field(f"c{at}", random_type(rng)) for at in range(columns)])


# Operations: each makes what is done to a dataset, which is done to two --------------------------------------------


def fails_alike(operation, plain, error):
    """Lance has its own faults: where it fails by them on a plain dataset too, nothing is done."""
    try:
        operation(plain)
    except BaseException as other:
        return str(other)[:40] == str(error)[:40]
    return False


class Pair:
    """A table over REST, and a plain dataset that has gone through the same."""

    def __init__(self, rng, name, columns, rows, wide=False):
        self.wide = wide
        self.rng, self.name, self.next_id, self.names = rng, name, 0, 0
        self.place = dict(namespace_client=client, table_id=[name])
        self.path = os.path.join(folder, name)
        self.branch, self.branches, self.tags = None, {}, {}
        self.loose = False
        first = table_of(rng, random_schema(rng, columns, wide), self.ids(rows))
        properties = {"compression": rng.choice(["auto", "zstd", "none"])}
        create = f"/v1/table/{name}/create?properties={urllib.parse.quote(json.dumps(properties))}"
        self.views = rng.random() < 0.25
        post(create, stream(with_views(first) if self.views else first), "application/vnd.apache.arrow.stream")
        shutil.rmtree(self.path, ignore_errors=True)
        lance.write_dataset(first, self.path, data_storage_version="2.0")
        self.handle = None
        self.history = {}
        self.check("create", None)

    def ids(self, many):
        self.next_id += many
        return list(range(self.next_id - many, self.next_id))

    def fresh(self):
        self.names += 1
        return f"f{self.names}"

    def rest(self):
        dataset = lance.dataset(**self.place)
        return dataset if self.branch is None else dataset.checkout_version((self.branch, None))

    def plain(self):
        dataset = lance.dataset(self.path)
        return dataset if self.branch is None else dataset.checkout_version((self.branch, None))

    def own(self, version, **more):
        body = {"k": 10**9, "version": version, "with_row_id": True, "vector": {}, **more}
        if self.branch is not None:
            body["branch"] = self.branch
        answer = post(f"/v1/table/{self.name}/query", json.dumps(body).encode())
        rows = pa.ipc.open_file(io.BytesIO(answer)).read_all()
        self.own_types = {field.name: field.type for field in rows.schema}
        return without_views(rows) if self.views else rows

    def as_own(self, rows):
        """With the types that the server has, which may be views."""
        return rows.cast(pa.schema([field.with_type(self.own_types[field.name]) for field in rows.schema]))

    def run(self, name):
        operation = OPERATIONS[name](self)
        if operation is None:
            return False
        done[name] = done.get(name, 0) + 1
        plain = self.plain()
        # A client goes on with its own manifest, or opens the table anew.
        dataset = self.handle if self.handle is not None and self.rng.random() < 0.5 else self.rest()
        try:
            made = operation(dataset)
        except BaseException as error:
            if fails_alike(operation, plain, error):
                skipped[name] = skipped.get(name, 0) + 1
                return False
            failures.append(f"{self.name} {name}: {str(error)[:400]}")
            raise
        operation(plain)
        # One without rows is false.
        self.handle = made if isinstance(made, lance.LanceDataset) else dataset
        self.check(name, self.handle)
        return True

    def commit(self, name, own, plain):
        """What the server commits itself."""
        done[name] = done.get(name, 0) + 1
        self.loose, self.handle = True, None
        own()
        plain(self.plain())
        self.check(name, None)

    def check(self, name, handle):
        rest, plain = self.rest(), self.plain()
        version = rest.version
        self.history[self.branch, version] = plain.version
        where = f"{self.name} {self.branch or 'main'} version {version} after {name}"
        counts["versions"] += 1
        got = self.compare(where, rest, version, plain)
        if handle is not None:
            if handle.version != version:
                failures.append(f"{where}: the client that committed is at version {handle.version}")
            wrong = difference(handle.to_table(with_row_id=True), got)
            if wrong:
                failures.append(f"{where}: the client that committed has {wrong}")

    def compare(self, where, rest, version, plain):
        got, want = rest.to_table(with_row_id=True), plain.to_table(with_row_id=True)
        counts["values"] += got.num_rows * got.num_columns
        wrong = difference(got, self.own(version))
        if wrong:
            failures.append(f"{where}: the server's reader has {wrong}")
        self.compare_some(where, rest, version, got)
        if not self.loose and plain.version != version:
            failures.append(f"{where}: the plain dataset is at version {plain.version}")
        if got.num_rows == want.num_rows and not difference(got, want):
            counts["exact"] += 1
            return got
        # A join gives its rows in any order.
        mine, theirs = [set(each.column("_rowid").to_pylist()) for each in (got, want)]
        if not self.loose and mine != theirs:
            failures.append(f"{where}: row ids {sorted(mine - theirs)[:5]} in place of {sorted(theirs - mine)[:5]}")
        wrong = difference(*[sorted_by_id(each.drop_columns(["_rowid"])) for each in (got, want)])
        if wrong:
            failures.append(f"{where}: the plain dataset has {wrong}")
        return got

    def compare_some(self, where, rest, version, got):
        """Rows that are taken, filtered, and near to a vector."""
        rng, rows = self.rng, got.num_rows
        if rows == 0:
            return
        offsets = sorted(rng.sample(range(rows), min(rows, 7)))
        plain = without_dictionaries(got.drop_columns(["_rowid"]))
        ids = [got.column("_rowid")[at].as_py() for at in offsets]
        for what, taken in (("take", rest.take(offsets)), ("take by row id", rest._take_rows(ids))):
            wrong = difference(plain.take(offsets), without_dictionaries(taken))
            if wrong:
                failures.append(f"{where}: {what} gives {wrong}")
        if "n" in got.column_names and "s" in got.column_names:
            filter = rng.choice(["n > 0", "s = 'ours' OR s IS NULL", "n IS NULL AND id > 5", "id % 3 = 1"])
            wrong = difference(rest.to_table(filter=filter, with_row_id=True), self.own(version, filter=filter))
            if wrong:
                failures.append(f"{where}: where {filter} the server's reader has {wrong}")
        if "vec" in got.column_names:
            point, k = [rng.random() for _ in range(8)], 5
            nearest = {"column": "vec", "q": pa.array(point, pa.float32()), "k": k}
            found = rest.to_table(columns=["id"], nearest=nearest).column("id").to_pylist()
            vector = {"vector": {"single_vector": point}, "vector_column": "vec", "k": k}
            mine = self.own(version, **vector).column("id").to_pylist()
            if found != mine:
                failures.append(f"{where}: {mine} are near to {point} in place of {found}")

    def finish(self):
        """Every version once more, and the tags, which are the table's by now."""
        for (branch, version), plain in self.history.items():
            self.branch = branch
            at = [version, plain] if branch is None else [(branch, version), (branch, plain)]
            rest = lance.dataset(**self.place).checkout_version(at[0])
            where = f"{self.name} {branch or 'main'} version {version} in the end"
            self.compare(where, rest, version, lance.dataset(self.path).checkout_version(at[1]))
        self.branch = self.handle = None
        self.run("delete")
        found = post_json(f"/v1/table/{self.name}/tags/list", {})["tags"]
        names = {tag: [each.get("branch"), each["version"]] for tag, each in found.items()}
        if names != self.tags:
            failures.append(f"{self.name}: the tags {names} in place of {self.tags}")


def existing(pair, many):
    ids = pair.rest().to_table(columns=["id"]).column("id").to_pylist()
    return pair.rng.sample(ids, min(many, len(ids)))


def added(pair, kind):
    many = pair.rng.choice([1, 2, 63, 64, 65, pair.rng.randint(1, 200)])
    schema = pair.rest().schema
    rows = table_of(pair.rng, schema, pair.ids(many))
    pieces = pa.Table.from_batches(rows.to_batches(max_chunksize=pair.rng.choice([10, 100, 10000])))
    if kind == "insert":
        return lambda d: d.insert(pieces)
    limit = {"max_rows_per_file": 50} if kind == "several" else {}
    return lambda d: lance.write_dataset(pieces, d, mode="append", **limit)


def deleted(pair):
    divisor, rest = pair.rng.choice([(2, 1), (3, 0), (7, 2), (50, 3)]), None
    return lambda d: d.delete(f"id % {divisor[0]} = {divisor[1]}") and rest


def updated(pair):
    names = pair.rest().schema.names
    changes = {name: text for name, text in (("s", "'changed'"), ("n", "7")) if name in names}
    divisor = pair.rng.choice([2, 5, 1000])
    return (lambda d: d.update(changes, f"id % {divisor} = 1") and None) if changes else None


def merged(pair, some=False):
    schema = pair.rest().schema
    if some:
        names = [name for name in ("n", "s") if name in schema.names]
        if not names:
            return None
        schema = pa.schema([schema.field(name) for name in ["id", *names[:1]]])
        ids = existing(pair, 5)
    else:
        ids = existing(pair, 5) + pair.ids(3)
    rows = table_of(pair.rng, schema, ids)

    def run(d):
        merge = d.merge_insert("id").when_matched_update_all()
        (merge if some else merge.when_not_matched_insert_all()).execute(rows)

    return run if ids else None


def removed_by_merge(pair):
    rows = pa.table({"id": pa.array(existing(pair, 400), pa.int64())})
    rows = table_of(pair.rng, pair.rest().schema, rows.column("id").to_pylist())
    return lambda d: d.merge_insert("id").when_not_matched_by_source_delete().execute(rows) and None


def replaced(pair):
    """Every fragment gets another file for a column, for deleted rows too."""
    names = [name for name in ("n", "s") if name in pair.rest().schema.names]
    if not names:
        return None
    name = pair.rng.choice(names)
    given = value(pair.rng, pair.rest().schema.field(name).type, 0.2)
    place = [] if pair.branch is None else ["tree", pair.branch]

    def run(d):
        field = next(each for each in d.lance_schema.fields() if each.name() == name)
        groups = []
        for fragment in d.get_fragments():
            rows = pa.table({name: pa.array([given] * fragment.physical_rows, d.schema.field(name).type)})
            file = f"{uuid.uuid4().hex}.lance"
            folder = d.uri.removeprefix("file://").split("/tree/")[0]
            path = os.path.join(folder, *place, "data", file)
            with LanceFileWriter(path, rows.schema, version="2.0") as writer:
                writer.write_batch(rows)
            made = lance.fragment.DataFile(file, [field.id()], [0], 2, 0, os.path.getsize(path))
            groups.append(lance.LanceOperation.DataReplacementGroup(fragment.fragment_id, made))
        return lance.LanceDataset.commit(d, lance.LanceOperation.DataReplacement(groups), read_version=d.version)

    return run


def column_by_sql(pair):
    name = pair.fresh()
    return lambda d: d.add_columns({name: "id * 2"})


def column_of_nulls(pair):
    name, kind = pair.fresh(), random_type(pair.rng)
    if pa.types.is_struct(kind):
        kind = pa.float64()
    return lambda d: d.add_columns(pa.schema([pa.field(name, kind)]))


def others(pair, number=False):
    """Columns that may go."""
    schema = pair.rest().schema
    kept = ("id", "n", "s", "pad", "vec")
    return [f.name for f in schema if f.name not in kept and (not number or f.type in (pa.int8(), pa.int16(), pa.int32(), pa.float32()))]


def chosen(pair, make, number=False):
    names = others(pair, number)
    return make(pair.rng.choice(names)) if names else None


def renamed(pair):
    new = pair.fresh()
    return chosen(pair, lambda name: lambda d: d.alter_columns({"path": name, "name": new}))


def widened(pair):
    schema = pair.rest().schema

    def make(name):
        kind = pa.float64() if pa.types.is_floating(schema.field(name).type) else pa.int64()
        return lambda d: d.alter_columns({"path": name, "data_type": kind})

    return chosen(pair, make, number=True)


def dropped(pair):
    return chosen(pair, lambda name: lambda d: d.drop_columns([name]))


def compacted(pair):
    options = pair.rng.choice(
        [{}, {"target_rows_per_fragment": 100}, {"materialize_deletions_threshold": 0.0}, {"compaction_mode": "try_binary_copy"}]
    )
    return lambda d: d.optimize.compact_files(**options) and None


def overwritten(pair):
    rows = table_of(pair.rng, random_schema(pair.rng, pair.rng.randint(0, 5), pair.wide), pair.ids(pair.rng.randint(1, 150)))
    return lambda d: lance.write_dataset(rows, d, mode="overwrite", data_storage_version="2.0")


def listed_again(pair):
    """An overwrite by fragments that are there, in another order, and new ones behind."""
    whole = [each.fragment_id for each in pair.rest().get_fragments() if each.metadata.deletion_file is None]
    if pair.loose or not whole:
        return None
    chosen = pair.rng.sample(whole, pair.rng.randint(1, len(whole)))
    few = table_of(pair.rng, pair.rest().schema, pair.ids(pair.rng.randint(1, 20))) if pair.rng.random() < 0.5 else None

    def run(d):
        by_id = {each.fragment_id: each.metadata for each in d.get_fragments()}
        fragments = [by_id[each] for each in chosen]
        if few is not None:
            fragments += lance.fragment.write_fragments(few, d, mode="append")
        return lance.LanceDataset.commit(d, lance.LanceOperation.Overwrite(d.lance_schema, fragments), read_version=d.version)

    return run


def restored(pair):
    pairs = [each for each in pair.history.items() if each[0][0] == pair.branch]
    (_, version), plain = pair.rng.choice(pairs[:-1] or pairs)
    if version == pair.rest().version:
        return None

    def run(d):
        number = plain if d.uri == pair.plain().uri else version
        old = d.checkout_version(number if pair.branch is None else (pair.branch, number))
        old.restore()
        return old

    return run


def emptied(pair):
    return lambda d: d.truncate_table()


def of_schema(pair):
    value = str(pair.rng.random())
    return lambda d: d.update_schema_metadata({"k": value}) and None


def of_table(pair):
    value = str(pair.rng.random())
    return lambda d: d.update_metadata({"m": value}) and None


def of_field(pair):
    value = str(pair.rng.random())
    return lambda d: d.update_field_metadata({"id": {"k": value}}) and None


def branched(pair):
    """From then on the branch is written."""
    name, parent = f"b{len(pair.branches)}", pair.branch

    def run(d):
        made = d.create_branch(name, (parent, None) if parent else None)
        pair.branch, pair.branches[name] = name, parent
        return made

    return run


def main_again(pair):
    if pair.branch is None:
        return None
    pair.branch, pair.handle = None, None
    return added(pair, "append")


def tagged(pair):
    """And a commit, from which on the tag is the table's."""
    name, version = f"t{len(pair.tags)}", pair.rest().version
    at = version if pair.branch is None else (pair.branch, version)
    pair.tags[name] = [pair.branch, version]
    append = added(pair, "append")
    lance.dataset(**pair.place).tags.create(name, at)
    return append


OPERATIONS = {
    "append": lambda pair: added(pair, "append"),
    "insert": lambda pair: added(pair, "insert"),
    "append several fragments": lambda pair: added(pair, "several"),
    "delete": deleted,
    "delete nothing": lambda pair: lambda d: d.delete("id < 0") and None,
    "update": updated,
    "merge": merged,
    "merge some columns": lambda pair: merged(pair, some=True),
    "delete by merge": removed_by_merge,
    "replace data": replaced,
    "add a column": column_by_sql,
    "add a column of nulls": column_of_nulls,
    "rename": renamed,
    "change a type": widened,
    "drop a column": dropped,
    "compact": compacted,
    "restore": restored,
    "metadata of the schema": of_schema,
    "metadata of the table": of_table,
    "metadata of a field": of_field,
    "branch": branched,
    "main again": main_again,
    "tag": tagged,
    "overwrite": overwritten,
    "list fragments again": listed_again,
    "delete every row": emptied,
}
RARE = {"overwrite", "list fragments again", "delete every row", "branch"}


def own_commit(pair):
    """By the server's own operations."""
    what = pair.rng.choice(["add", "delete", "update", "column", "type", "compress", "optimize"])
    branch = "" if pair.branch is None else f"?branch={pair.branch}"
    named = {} if pair.branch is None else {"branch": pair.branch}
    path = f"/v1/table/{pair.name}"
    if what == "add":
        rows = table_of(pair.rng, pair.rest().schema, pair.ids(pair.rng.randint(1, 40)))
        return pair.commit(
            "own append",
            lambda: post(f"{path}/insert{branch}", stream(pair.as_own(rows)), "application/vnd.apache.arrow.stream"),
            lambda d: lance.write_dataset(rows, d, mode="append"),
        )
    if what == "delete":
        body = {"predicate": "id % 9 = 4", **named}
        return pair.commit("own delete", lambda: post_json(f"{path}/delete", body), lambda d: d.delete("id % 9 = 4"))
    # No expression of the server gives a view.
    if what == "update" and not pair.views and "s" in pair.rest().schema.names:
        body = {"predicate": "id % 4 = 2", "updates": [["s", "'ours'"]], **named}
        return pair.commit("own update", lambda: post_json(f"{path}/update", body), lambda d: d.update({"s": "'ours'"}, "id % 4 = 2"))
    if what == "column":
        name = pair.fresh()
        body = {"new_columns": [{"name": name, "expression": "CAST(id % 100 AS INT)"}], **named}

        def plain(d):
            d.add_columns({name: "CAST(id % 100 AS INT)"})
            # Lance calls it required, as the id is.
            d.alter_columns({"path": name, "nullable": True})

        return pair.commit("own column", lambda: post_json(f"{path}/add_columns", body), plain)
    if what == "type":
        names = [field.name for field in pair.rest().schema if field.name[0] == "f" and field.type == pa.int32()]
        if names:
            body = {"alterations": [{"path": names[0], "data_type": {"type": "int64"}}], **named}
            change = {"path": names[0], "data_type": pa.int64()}
            return pair.commit("own type", lambda: post_json(f"{path}/alter_columns", body), lambda d: d.alter_columns(change))
    compress = {"compression": pair.rng.choice(["auto", "zstd", "none"])} if what == "compress" else {}
    return pair.commit(
        "own optimize",
        lambda: post_json(f"/v1/dirspace/table/{pair.name}/optimize", {**named, **compress}),
        lambda d: d.optimize.compact_files(),
    )


def attempt(make):
    """A table that failed is left; the others go on."""
    counts["tables"] += 1
    try:
        make().finish()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        if not failures or str(error)[:400] not in failures[-1]:
            failures.append(f"{type(error).__name__}: {str(error)[:400]}")


def scripted():
    rng = random.Random(seed)
    pair = Pair(rng, "every", 8, 300)
    while counts["versions"] < SCRIPTED_VERSIONS:
        for name in OPERATIONS:
            pair.run(name)
    return pair


def randomized(at):
    rng = random.Random(f"{seed} {at}")
    wide = at % 3 == 0
    rows = rng.randint(64, 200) if wide else rng.choice([1, 2, 64, 65, rng.randint(1, 300)])
    pair = Pair(rng, f"r{at}", rng.randint(1, 9), rows, wide)
    often = [name for name in OPERATIONS if name not in RARE]
    for _ in range(rng.randint(3, 8)):
        if rng.random() < (0.5 if wide else 0.12):
            own_commit(pair)
        else:
            pair.run(rng.choice(often if rng.random() < 0.9 else sorted(RARE)))
    return pair


began = time.monotonic()
os.makedirs(folder, exist_ok=True)
attempt(scripted)
first = counts["versions"]
for number in range(count):
    attempt(lambda: randomized(number))
for failure in failures:
    print("FAILED", failure)
print(
    f"{first} versions of every operation and {counts['versions'] - first} of {counts['tables'] - 1} random tables, "
    f"{counts['values']} values, {counts['exact']} reads equal row by row, {len(failures)} failures, "
    f"{time.monotonic() - began:.0f} s"
)
print(", ".join(f"{name} {many}" for name, many in sorted(done.items())))
if skipped:
    print("failed in Lance itself, on the plain dataset too:", skipped)
sys.exit(1 if failures else 0)
