"""pylance's side of run.mjs: with_pylance.py URI SEED answers each line of its input as own.mjs does, but for what a
catalog alone does. It prunes old versions, moves tags of the catalog, and deletes the files of its tags and branches, which
are there again once the catalog has written them."""

import datetime
import hashlib
import json
import random
import sys

import lance
import lance_namespace
import pyarrow as pa

uri, seed = sys.argv[1:3]
rest = lance_namespace.connect("rest", {"uri": uri})
chance = random.Random(int(seed))
MAIN = "main"
state = {"next": 3_000_000, "named": 0, "fresh": False}
mine, handles = {}, {}


def say(**line):
    print(json.dumps(line), flush=True)


def tell(**line):
    say(who="pylance", **line)


def opened():
    return lance.dataset(namespace_client=rest, table_id=["history"])


def on_branch(branch):
    """Mostly a handle that was opened before, which may be versions behind."""
    state["fresh"] = branch not in handles or chance.random() < 0.4
    if state["fresh"]:
        handles[branch] = opened() if branch == MAIN else opened().checkout_version((branch, None))
    return handles[branch]


def branches():
    """Lance fails where one goes while it lists them."""
    for _ in range(20):
        try:
            return opened().branches.list()
        except Exception as error:
            if "Not found" not in str(error):
                raise
    return opened().branches.list()


def branch_names():
    return sorted(name for name in branches() if name != MAIN)


def any_branch(odds):
    names = branch_names()
    return chance.choice(names) if names and chance.random() < odds else MAIN


def stored(rows):
    ids, names, numbers = zip(*rows)
    schema = pa.schema([pa.field("id", pa.int64(), False), ("name", pa.string()), ("v", pa.int64())])
    return pa.table([pa.array(ids, pa.int64()), pa.array(names), pa.array(numbers, pa.int64())], schema)


def changed(branch, change, run):
    held = on_branch(branch)
    try:
        run(held)
    except Exception as error:
        tell(event="unknown", branch=branch, change=change, why=str(error)[:600])
        raise
    tell(event="changed", branch=branch, version=held.version, change=change)


def rows_of_own(branch, count):
    rows = []
    for _ in range(count):
        rows.append([state["next"], f"pylance {state['next']}", 0])
        state["next"] += 1
    mine.setdefault(branch, []).extend(row[0] for row in rows)
    return rows


def add(branch):
    rows = rows_of_own(branch, chance.randint(1, 3))
    changed(branch, {"does": "put", "rows": rows}, lambda held: held.insert(stored(rows)))


def delete(branch):
    own = mine.get(branch, [])
    ids = [chance.choice(own)] if own and chance.random() < 0.5 else [chance.randrange(100, 400)]
    changed(branch, {"does": "delete", "ids": ids}, lambda held: held.delete(f"id = {ids[0]}"))


def count(branch):
    first = chance.randrange(80)
    ids = list(range(first, first + chance.randint(1, 20)))
    where = f"id in ({', '.join(map(str, ids))})"
    changed(branch, {"does": "count", "ids": ids}, lambda held: held.update({"v": "v + 1"}, where))


def merge(branch):
    rows = [*rows_of_own(branch, 1), [chance.randrange(100), f"merged by pylance {state['next']}", state["next"]]]

    def run(held):
        upsert = held.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
        upsert.execute(stored(rows))

    changed(branch, {"does": "put", "rows": rows}, run)


def compact(branch):
    held = on_branch(branch)
    held.optimize.compact_files(target_rows_per_fragment=200)
    tell(event="compacted")


def prune():
    held = opened()
    done = held.cleanup_old_versions(datetime.timedelta(0), error_if_tagged_old_versions=False)
    tell(event="pruned", versions=done.old_versions)


def name_of(kind):
    state["named"] += 1
    return f"{kind}-py-{state['named']}"


def recent(branch):
    """A version, and the newest number of the branch."""
    newest = on_branch(branch).version
    return max(1, newest - chance.randrange(30)) if branch == MAIN else newest


def tag():
    branch = any_branch(0.5)
    # One with a tag cannot be deleted.
    if branch[0] in "dxz":
        branch = MAIN
    name, version = name_of("l"), recent(branch)
    opened().tags.create(name, (branch, version))
    tell(event="tagged", tag=name, branch=branch, version=version)


def move():
    """A tag of the catalog, which follows."""
    names = [name for name in opened().tags.list() if name.startswith("k-")]
    if not names:
        return tag()
    name, version = chance.choice(names), recent(MAIN)
    opened().tags.update(name, (MAIN, version))
    tell(event="tagged", tag=name, branch=MAIN, version=version, moved=True)


def remove():
    """The file of a tag of the catalog, which stands."""
    names = [name for name in opened().tags.list() if name.startswith("q-")]
    if not names:
        return tag()
    opened().tags.delete(chance.choice(names))
    tell(event="deleted the file of a tag")


def branch():
    if len(branch_names()) >= 14:
        return
    name = name_of(chance.choice("pxz"))
    tags = [tag for tag in opened().tags.list() if tag[0] in "lt"]
    if tags and chance.random() < 0.5:
        by, start = "tag", chance.choice(tags)
    else:
        origin = any_branch(0.3)
        by, start = "version", (origin, recent(origin))
    try:
        made = opened().create_branch(name, start)
    except Exception as error:
        # The catalog wrote the file that says so first, for another change of tags or branches; or another branch
        # went while Lance listed them all, after this one was made.
        if "already exists" not in str(error) and not ("Not found" in str(error) and name in branches()):
            raise
        tell(event="made a branch that is said to be there")
        made = opened().checkout_version((name, None))
    # A tag may have been moved meanwhile.
    record = branches()[name]
    origin, at = record.get("parent_branch") or MAIN, record["parent_version"]
    assert by == "tag" or (origin, at) == start, (record, start)
    handles[name] = made
    tell(event="branched", branch=name, at=at, by=by, **{"from": origin})
    add(name)


def delete_branch():
    names = [name for name in branch_names() if name.startswith("z-")]
    if not names:
        return branch()
    name = chance.choice(names)
    opened().branches.delete(name)
    handles.pop(name, None)
    tell(event="deleted the files of a branch")


def write(commits):
    for at in range(commits):
        name = MAIN
        try:
            if at % 20 == 14:
                name = any_branch(0.3)
                compact(name)
            elif at % 8 == 5:
                prune()
            elif chance.random() < 0.3:
                chance.choice([tag, move, remove, branch, branch, delete_branch])()
            name = any_branch(0.3)
            chance.choice([add, delete, count, merge])(name)
        except Exception as error:
            handles.pop(name, None)
            tell(event="refused", branch=name, fresh=state["fresh"], why=str(error)[:600])
    return {}


def digest(rows):
    text = "".join("|".join(map(str, row)) + "\n" for row in sorted(rows))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read(versions, tags):
    reads = []

    def one(key, version):
        try:
            found = opened().checkout_version(version).to_table(with_row_id=True)
        except Exception as error:
            reads.append([key, str(error)[:300], ""])
            return
        columns = [found.column(name).to_pylist() for name in ("id", "name", "v", "_rowid")]
        ids, names, numbers, row_ids = columns
        reads.append([key, digest(list(zip(ids, names, numbers))), digest(list(zip(ids, row_ids)))])

    for name, version in versions:
        one(f"{name}/{version}", (name, version))
    for name in tags:
        one(f"tag {name}", name)
    return {"reads": reads}


def listing():
    tags = [[name, found.get("branch") or MAIN, found["version"]] for name, found in opened().tags.list().items()]
    return {"branches": list(opened().branches.list()), "tags": tags}


DOES = {"write": write, "read": read, "list": listing}
for line in sys.stdin:
    request = json.loads(line)
    does = request.pop("does")
    try:
        say(done=does, **DOES[does](**request))
    except Exception as error:
        say(done=does, error=repr(error))
