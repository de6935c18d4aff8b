/** Random operations on a catalog, each as the naive model does it and as the engine does. */
import type { DirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { CatalogModel } from './catalog-model.ts';
import { people, rowIdsOf } from './people.ts';

type Catalog = DirectoryNamespace;

export interface Step {
  readonly name: string;
  readonly model: () => string;
  readonly engine: (catalog: Catalog) => Promise<unknown>;
}

/** Few names, so that operations meet. */
export class Steps {
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
        () => model.insert(id, branch, (before) => [...before, ...rows]),
        (catalog) => catalog.insertIntoTable({ id, branch }, people(count, from)),
      );
    }
    if (roll < 62) {
      this.#nextRow += count;
      return step(
        `overwrite ${id.join('$')} ${branch}`,
        () => model.insert(id, branch, () => rows),
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
