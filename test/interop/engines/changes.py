"""An engine appends to a table while the table is renamed, dropped, or dropped and made anew: what was acknowledged is
found in the table that it was acknowledged for, dropped ones brought back, or the engine got an error."""

from common import call, describe, drop, equal, rename, step, tables
from jobs import Loop


def undrop(name):
    status, answer = call(f"dirspace/table/{name}/undrop")
    assert status == 200, answer


def during_loops(engine, space, create, opened, ids_of, few=8):
    """Runs the three steps.

    create(name, one) makes a table of one row, opened(name) answers a function that appends a row, ids_of(name) reads
    all rows; few is how many appends happen before and after the change.
    """

    def changed(name, change):
        create(name, 1)
        loop = Loop(opened(name))
        loop.wait(few)
        change()
        loop.wait(few, since=loop.attempts())
        loop.stop()
        return loop

    def told(loop):
        return f"{len(loop.acknowledged)} acknowledged, {len(loop.errors)} refused"

    def over_rename():
        loop = changed("loop_r", lambda: rename(f"{space}$loop_r", "loop_r2"))
        assert "loop_r" not in tables(space), "a ghost is listed"
        equal(describe(f"{space}$loop_r")[0], 404, "the status of the old name")
        equal(set(loop.acknowledged) - set(ids_of("loop_r2")), set(), "what was acknowledged and lost")
        create("loop_r", 9)
        equal(ids_of("loop_r"), [9], "the table that has the old name now")
        return told(loop)

    def over_drop():
        loop = changed("loop_d", lambda: drop(f"{space}$loop_d"))
        assert "loop_d" not in tables(space), "a ghost is listed"
        equal(describe(f"{space}$loop_d")[0], 404, "the status of the dropped name")
        undrop(f"{space}$loop_d")
        equal(set(loop.acknowledged) - set(ids_of("loop_d")), set(), "what was acknowledged and lost")
        return told(loop)

    def over_drop_and_create():
        def change():
            drop(f"{space}$loop_a")
            create("loop_a", 5)

        loop = changed("loop_a", change)
        equal(tables(space).count("loop_a"), 1)
        new = set(ids_of("loop_a"))
        assert 5 in new and 1 not in new, f"the new table has {sorted(new)}"
        rename(f"{space}$loop_a", "loop_a2")
        undrop(f"{space}$loop_a")
        old = set(ids_of("loop_a"))
        assert 1 in old and 5 not in old, f"the dropped table has {sorted(old)}"
        equal(set(loop.acknowledged) - old - new, set(), "what was acknowledged and lost")
        equal(old & new, set(), "what is in both")
        return f"{told(loop)}; {len(old) - 1} in the dropped table, {len(new) - 1} in the new one"

    step(f"{engine}: a rename during an append loop", over_rename)
    step(f"{engine}: a drop during an append loop", over_drop)
    step(f"{engine}: drop and create anew during an append loop", over_drop_and_create)


def over_jobs(engine, space, create, job, ids_of):
    """Runs a job that writes row 2, with the table changed between its files and its commit.

    job(name, change) calls change at that moment, and raises what the engine was refused with.
    """

    def over(change):
        def run():
            name = f"job_{change}"
            create(name, 1)

            def changed():
                if change == "rename":
                    rename(f"{space}${name}", f"{name}_now")
                else:
                    drop(f"{space}${name}")
                if change == "anew":
                    create(name, 7)

            refused = None
            done = []
            try:
                job(name, lambda: (done.append(1), changed()))
            except BaseException as error:  # noqa: B902
                refused = error
            equal(done, [1], "how often the table was changed")
            assert name in tables(space) or change != "anew", refused
            if change == "anew":
                equal(ids_of(name), [7], "the new table")
                rename(f"{space}${name}", f"{name}_new")
            if change == "rename":
                rename(f"{space}${name}_now", name)
            else:
                undrop(f"{space}${name}")
            found = ids_of(name)
            assert found == [1, 2] or (refused is not None and found == [1]), (found, refused)
            return "committed" if refused is None else "refused"

        return run

    for change in ("rename", "drop", "anew"):
        step(f"{engine}: a job over {change}", over(change))


class BeforeCommit:
    """Has pylance, on which Daft and Ray commit, do something else first, once."""

    def __init__(self, change):
        self.change = change

    def __enter__(self):
        import lance

        self.owner, self.commit = lance.LanceDataset, lance.LanceDataset.__dict__["commit"]
        true = lance.LanceDataset.commit

        def commit(*args, **more):
            self.__exit__()
            self.change()
            return true(*args, **more)

        self.owner.commit = staticmethod(commit)

    def __exit__(self, *_):
        self.owner.commit = self.commit
