/** Random sequences of operations on the engine and on a naive model: every outcome agrees. */
import nodeFs from 'node:fs';
import { expect, test } from 'vitest';
import { openDirectoryNamespace } from '../src/directory/directory-namespace.ts';
import { isDirspaceError } from '../src/errors.ts';
import type { FileSystem } from '../src/store/file-store.ts';
import { seeded } from './helpers/arrow-samples.ts';
import { CatalogModel } from './helpers/catalog-model.ts';
import { memoryFs } from './helpers/catalogs.ts';
import { temporaryFolder } from './helpers/temporary.ts';
import { visibleState } from './helpers/visible-state.ts';
import { people, rowIdsOf } from './suites/namespace/context.ts';

type Catalog = Awaited<ReturnType<typeof openDirectoryNamespace>>;

interface Step {
  readonly name: string;
  readonly model: () => string;
  readonly engine: (catalog: Catalog) => Promise<unknown>;
}

const outcomeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return 'ok';
  } catch (error) {
    if (isDirspaceError(error)) return error.code;
    throw error;
  }
};

/** Few names, so that operations meet. */
class Steps {
  readonly model = new CatalogModel();
  readonly #random: () => number;
  #nextRow = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #pick<Item>(...items: readonly Item[]): Item {
    return items[this.#below(items.length)] as Item;
  }

  #namespace(): string[] {
    return this.#pick(['a'], ['b'], ['a', 'x'], ['b', 'x']);
  }

  #table(): string[] {
    const known = [...this.model.tables.keys()];
    if (known.length > 0 && this.#random() < 0.8) return this.#pick(...known).split('$');
    return this.#newTable();
  }

  #newTable(): string[] {
    return this.#pick(['t'], ['x'], ['a', 't'], ['a', 'x'], ['a', 'x', 't'], ['b', 't']);
  }

  #branch(): string {
    return this.#pick('main', 'main', 'main', 'one', 'two');
  }

  #version(): number {
    return this.#below(7);
  }

  next(): Step {
    const { model } = this;
    const mode = this.#pick('create', 'exist_ok', 'overwrite');
    const branch = this.#branch();
    const version = this.#version();
    const count = 1 + this.#below(3);
    const from = this.#nextRow;
    const rows = Array.from({ length: count }, (_, row) => from + row);
    const id = this.#table();
    const step = (
      name: string,
      run: () => string,
      engine: (catalog: Catalog) => Promise<unknown>,
    ): Step => ({ name, model: run, engine });
    const roll = this.#below(100);
    if (roll < 10) {
      const namespace = this.#namespace();
      const properties = { by: String(from) };
      return step(
        `create namespace ${namespace.join('$')} ${mode}`,
        () => model.createNamespace(namespace, mode, properties),
        (catalog) => catalog.createNamespace({ id: namespace, mode, properties }),
      );
    }
    if (roll < 14) {
      const namespace = this.#namespace();
      const behavior = this.#pick('restrict', 'restrict', 'cascade');
      const drop = this.#pick('fail', 'skip');
      return step(
        `drop namespace ${namespace.join('$')} ${drop} ${behavior}`,
        () => model.dropNamespace(namespace, drop, behavior),
        (catalog) => catalog.dropNamespace({ id: namespace, mode: drop, behavior }),
      );
    }
    if (roll < 26) {
      const fresh = this.#newTable();
      this.#nextRow += count;
      return step(
        `create table ${fresh.join('$')} ${mode}`,
        () => model.createTable(fresh, mode, rows),
        (catalog) => catalog.createTable({ id: fresh, mode }, people(count, from)),
      );
    }
    if (roll < 29) {
      const fresh = this.#newTable();
      return step(
        `declare ${fresh.join('$')}`,
        () => model.declareTable(fresh),
        (catalog) => catalog.declareTable({ id: fresh }),
      );
    }
    if (roll < 33) {
      return step(
        `drop ${id.join('$')}`,
        () => model.dropTable(id),
        (catalog) => catalog.dropTable({ id }),
      );
    }
    if (roll < 38) {
      const fresh = this.#newTable();
      return step(
        `undrop ${fresh.join('$')}`,
        () => model.undropTable(fresh),
        (catalog) => catalog.undropTable({ id: fresh }),
      );
    }
    if (roll < 42) {
      const target = this.#newTable();
      return step(
        `rename ${id.join('$')} to ${target.join('$')}`,
        () => model.renameTable(id, target),
        (catalog) =>
          catalog.renameTable({
            id,
            new_table_name: target.at(-1) ?? '',
            new_namespace_id: target.slice(0, -1),
          }),
      );
    }
    if (roll < 58) {
      this.#nextRow += count;
      return step(
        `append to ${id.join('$')} ${branch}`,
        () => model.change(id, branch, (before) => [...before, ...rows]),
        (catalog) => catalog.insertIntoTable({ id, branch }, people(count, from)),
      );
    }
    if (roll < 62) {
      this.#nextRow += count;
      return step(
        `overwrite ${id.join('$')} ${branch}`,
        () => model.change(id, branch, () => rows),
        (catalog) =>
          catalog.insertIntoTable({ id, branch, mode: 'overwrite' }, people(count, from)),
      );
    }
    if (roll < 72) {
      const gone = new Set(model.rows(id, branch).filter(() => this.#random() < 0.4));
      return step(
        `delete ${[...gone].join()} from ${id.join('$')} ${branch}`,
        () =>
          model.change(id, branch, (before) =>
            gone.size === 0 ? before : before.filter((row) => !gone.has(row)),
          ),
        async (catalog) => {
          const rowIds =
            gone.size === 0 ? new Map<number, bigint>() : await rowIdsOf(catalog, id, { branch });
          const row_ids = [...gone].map((row) => rowIds.get(row) ?? -1n);
          await catalog.deleteRows({ id, branch, row_ids });
        },
      );
    }
    if (roll < 76) {
      return step(
        `restore ${id.join('$')} ${branch} ${version}`,
        () => model.restore(id, branch, version),
        (catalog) => catalog.restoreTable({ id, branch, version }),
      );
    }
    if (roll < 82) {
      const tag = this.#pick('v', 'W');
      return step(
        `tag ${id.join('$')} ${tag} ${branch} ${version}`,
        () => model.createTag(id, tag, branch, version),
        (catalog) => catalog.createTableTag({ id, tag, branch, version }),
      );
    }
    if (roll < 85) {
      const tag = this.#pick('v', 'W');
      return step(
        `untag ${id.join('$')} ${tag}`,
        () => model.deleteTag(id, tag),
        (catalog) => catalog.deleteTableTag({ id, tag }),
      );
    }
    if (roll < 90) {
      const name = this.#pick('one', 'two');
      return step(
        `branch ${id.join('$')} ${name} from ${branch} ${version}`,
        () => model.createBranch(id, name, branch, version),
        (catalog) =>
          catalog.createTableBranch({ id, name, from_branch: branch, from_version: version }),
      );
    }
    if (roll < 92) {
      const name = this.#pick('one', 'two');
      return step(
        `delete branch ${id.join('$')} ${name}`,
        () => model.deleteBranch(id, name),
        (catalog) => catalog.deleteTableBranch({ id, name }),
      );
    }
    if (roll < 97) {
      const end = version + this.#below(4);
      return step(
        `delete versions ${version} to ${end} of ${id.join('$')} ${branch}`,
        () => model.deleteVersions(id, branch, version, end),
        (catalog) =>
          catalog.batchDeleteTableVersions({
            id,
            branch,
            ranges: [{ start_version: version, end_version: end }],
          }),
      );
    }
    return step(
      `clean up ${id.join('$')}`,
      () => model.cleanup(id),
      (catalog) => catalog.cleanupTable({ id, older_than_millis: 0, orphan_grace_millis: 0 }),
    );
  }
}

async function runSequence(
  seed: number,
  steps: number,
  place: { readonly root: string; readonly fs?: FileSystem; readonly managedVersioning?: boolean },
): Promise<void> {
  const random = seeded(seed);
  const sequence = new Steps(random);
  const options = { ...place, durability: 'relaxed' } as const;
  let catalog = await openDirectoryNamespace(options);
  // A second handle whose caches go stale all the time.
  const other = await openDirectoryNamespace(options);
  const told: string[] = [];
  const tell = (): string => `seed ${seed}: ${told.slice(-25).join('; ')}`;
  for (let count = 0; count < steps; count++) {
    const step = sequence.next();
    const expected = step.model();
    told.push(`${step.name} -> ${expected}`);
    if (random() < 0.1) {
      await catalog.close();
      catalog = await openDirectoryNamespace(options);
    }
    const by = random() < 0.25 ? other : catalog;
    let found: string;
    try {
      found = await outcomeOf(step.engine(by));
    } catch (error) {
      throw new Error(tell(), { cause: error });
    }
    if (found !== expected) expect({ run: tell(), outcome: found }).toEqual({ outcome: expected });
    if (random() < (expected === 'ok' ? 0.25 : 0.03) || count === steps - 1) {
      let state: unknown;
      try {
        state = await visibleState(random() < 0.3 ? other : catalog);
      } catch (error) {
        throw new Error(tell(), { cause: error });
      }
      expect(state, tell()).toEqual(sequence.model.state());
    }
  }
  expect((await catalog.verify({})).problems, tell()).toEqual([]);
  await catalog.close();
  await other.close();
}

/** Another one each day; DIRSPACE_SEED replays a run. */
const FIRST = Number(process.env.DIRSPACE_SEED ?? Math.floor(Date.now() / 86_400_000) * 10_000);

test('in memory, 200 sequences', async () => {
  for (let seed = FIRST; seed < FIRST + 200; seed++) {
    await runSequence(seed, 30, { root: '/c', fs: memoryFs() });
  }
}, 180_000);

test('in memory with managed versioning, 30 sequences', async () => {
  for (let seed = FIRST; seed < FIRST + 30; seed++) {
    await runSequence(seed, 30, { root: '/c', fs: memoryFs(), managedVersioning: true });
  }
}, 60_000);

test('on the disk, 10 sequences', async () => {
  for (let seed = FIRST; seed < FIRST + 10; seed++) {
    await runSequence(seed, 40, { root: temporaryFolder(), fs: nodeFs });
  }
}, 60_000);
