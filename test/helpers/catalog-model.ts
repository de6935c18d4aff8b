/**
 * A catalog as simple as can be, in plain objects: what the engine must look like from outside.
 * Every operation returns 'ok' or the code of the error that the engine should answer with.
 */
import type { ErrorCode } from '../../src/errors.ts';
import type { VisibleState, VisibleTable } from './visible-state.ts';

type Outcome = 'ok' | ErrorCode;
type Rows = readonly number[];

interface BranchModel {
  /** Row ids of the model: values of the `id` column are unique within a table. */
  readonly versions: Map<number, Rows>;
  next: number;
  readonly parent: string;
}

interface TableModel {
  readonly properties: Readonly<Record<string, string>>;
  readonly branches: Map<string, BranchModel>;
  readonly tags: Map<string, { branch: string; version: number }>;
}

interface Dropped {
  readonly id: readonly string[];
  readonly tables: Map<string, TableModel>;
}

const keyOf = (id: readonly string[]): string => id.join('$');
const parentOf = (id: readonly string[]): string => keyOf(id.slice(0, -1));

export class CatalogModel {
  readonly namespaces = new Map<string, Readonly<Record<string, string>>>();
  tables = new Map<string, TableModel>();
  readonly #trash: Dropped[] = [];

  #hasNamespace(key: string): boolean {
    return key === '' || this.namespaces.has(key);
  }

  #below(key: string): string[] {
    return [...this.namespaces.keys(), ...this.tables.keys()].filter((name) =>
      name.startsWith(`${key}$`),
    );
  }

  createNamespace(
    id: readonly string[],
    mode: string,
    properties: Record<string, string>,
  ): Outcome {
    const key = keyOf(id);
    if (!this.#hasNamespace(parentOf(id))) return 'NamespaceNotFound';
    const known = this.namespaces.has(key);
    if (known && mode === 'exist_ok') return 'ok';
    if (known && mode === 'create') return 'NamespaceAlreadyExists';
    if (this.tables.has(key)) return 'NamespaceAlreadyExists';
    if (known) this.#remove(id);
    this.namespaces.set(key, properties);
    return 'ok';
  }

  dropNamespace(id: readonly string[], mode: string, behavior: string): Outcome {
    const key = keyOf(id);
    if (!this.namespaces.has(key)) return mode === 'skip' ? 'ok' : 'NamespaceNotFound';
    if (behavior === 'restrict' && this.#below(key).length > 0) return 'NamespaceNotEmpty';
    this.#remove(id);
    return 'ok';
  }

  #remove(id: readonly string[]): void {
    const key = keyOf(id);
    const tables = new Map<string, TableModel>();
    for (const name of this.#below(key)) {
      const table = this.tables.get(name);
      if (table !== undefined) tables.set(name, table);
      this.tables.delete(name);
      this.namespaces.delete(name);
    }
    this.namespaces.delete(key);
    this.#trash.push({ id, tables });
  }

  createTable(id: readonly string[], mode: string, rows: Rows): Outcome {
    const key = keyOf(id);
    if (this.namespaces.has(key)) return 'TableAlreadyExists';
    const known = this.tables.get(key);
    const main = known?.branches.get('main');
    if (main !== undefined && main.versions.size > 0) {
      if (mode === 'create') return 'TableAlreadyExists';
      if (mode === 'overwrite') commit(main, rows);
      return 'ok';
    }
    if (main !== undefined) {
      commit(main, rows);
      return 'ok';
    }
    if (!this.#hasNamespace(parentOf(id))) return 'NamespaceNotFound';
    this.tables.set(key, tableModel(rows));
    return 'ok';
  }

  declareTable(id: readonly string[]): Outcome {
    const key = keyOf(id);
    if (!this.#hasNamespace(parentOf(id))) return 'NamespaceNotFound';
    if (this.namespaces.has(key) || this.tables.has(key)) return 'TableAlreadyExists';
    this.tables.set(key, tableModel(undefined));
    return 'ok';
  }

  dropTable(id: readonly string[]): Outcome {
    const key = keyOf(id);
    const table = this.tables.get(key);
    if (table === undefined) return 'TableNotFound';
    this.tables.delete(key);
    this.#trash.push({ id, tables: new Map([[key, table]]) });
    return 'ok';
  }

  undropTable(id: readonly string[]): Outcome {
    const key = keyOf(id);
    if (!this.#hasNamespace(parentOf(id))) return 'NamespaceNotFound';
    if (this.namespaces.has(key)) return 'TableAlreadyExists';
    const found = [...this.#trash].reverse().find(({ tables }) => tables.has(key));
    const table = found?.tables.get(key);
    if (table === undefined) return 'TableNotFound';
    if (this.tables.has(key)) return 'TableAlreadyExists';
    found?.tables.delete(key);
    this.tables.set(key, table);
    return 'ok';
  }

  renameTable(id: readonly string[], target: readonly string[]): Outcome {
    const table = this.tables.get(keyOf(id));
    if (table === undefined) return 'TableNotFound';
    if (!this.#hasNamespace(parentOf(target))) return 'NamespaceNotFound';
    const key = keyOf(target);
    if (this.namespaces.has(key) || this.tables.has(key)) return 'TableAlreadyExists';
    this.tables.delete(keyOf(id));
    this.tables.set(key, table);
    return 'ok';
  }

  /** Rows of the newest version, for choosing some to delete. */
  rows(id: readonly string[], branch: string): Rows {
    const found = this.tables.get(keyOf(id))?.branches.get(branch);
    return found === undefined ? [] : newest(found);
  }

  change(id: readonly string[], branch: string, edit: (rows: Rows) => Rows): Outcome {
    const found = this.#branch(id, branch);
    if (typeof found === 'string') return found;
    if (found.versions.size === 0) return 'InvalidTableState';
    const before = newest(found);
    const after = edit(before);
    if (after !== before) commit(found, after);
    return 'ok';
  }

  /** As a change, and the first rows of a table that was only declared. */
  insert(id: readonly string[], branch: string, edit: (rows: Rows) => Rows): Outcome {
    const found = this.#branch(id, branch);
    if (typeof found === 'string') return found;
    if (found.versions.size > 0) return this.change(id, branch, edit);
    commit(found, edit([]));
    return 'ok';
  }

  restore(id: readonly string[], branch: string, version: number): Outcome {
    const found = this.#branch(id, branch);
    if (typeof found === 'string') return found;
    const rows = found.versions.get(version);
    if (rows === undefined) return 'TableVersionNotFound';
    commit(found, rows);
    return 'ok';
  }

  deleteVersions(id: readonly string[], branch: string, from: number, to: number): Outcome {
    const found = this.#branch(id, branch);
    if (typeof found === 'string') return found;
    const doomed = [...found.versions.keys()].filter((version) => from <= version && version < to);
    const kept = this.#kept(id, branch, found);
    if (doomed.some((version) => kept.has(version))) return 'InvalidTableState';
    for (const version of doomed) found.versions.delete(version);
    return 'ok';
  }

  /** All versions that nothing keeps. */
  cleanup(id: readonly string[]): Outcome {
    const table = this.tables.get(keyOf(id));
    if (table === undefined) return 'TableNotFound';
    for (const [name, branch] of table.branches) {
      const kept = this.#kept(id, name, branch);
      for (const version of [...branch.versions.keys()]) {
        if (!kept.has(version)) branch.versions.delete(version);
      }
    }
    return 'ok';
  }

  createTag(id: readonly string[], tag: string, branch: string, version: number): Outcome {
    const found = this.#branch(id, branch);
    if (typeof found === 'string') return found;
    if (!found.versions.has(version)) return 'TableVersionNotFound';
    const { tags } = this.tables.get(keyOf(id)) as TableModel;
    if (tags.has(tag)) return 'TableTagAlreadyExists';
    tags.set(tag, { branch, version });
    return 'ok';
  }

  deleteTag(id: readonly string[], tag: string): Outcome {
    const table = this.tables.get(keyOf(id));
    if (table === undefined) return 'TableNotFound';
    return table.tags.delete(tag) ? 'ok' : 'TableTagNotFound';
  }

  createBranch(id: readonly string[], name: string, from: string, version: number): Outcome {
    const found = this.#branch(id, from);
    if (typeof found === 'string') return found;
    const rows = found.versions.get(version);
    if (rows === undefined) return 'TableVersionNotFound';
    const { branches } = this.tables.get(keyOf(id)) as TableModel;
    if (branches.has(name)) return 'TableBranchAlreadyExists';
    branches.set(name, {
      versions: new Map([[version, rows]]),
      next: version + 1,
      parent: `${from}:${version}`,
    });
    return 'ok';
  }

  deleteBranch(id: readonly string[], name: string): Outcome {
    const found = this.#branch(id, name);
    if (typeof found === 'string') return found;
    const table = this.tables.get(keyOf(id)) as TableModel;
    if ([...table.tags.values()].some(({ branch }) => branch === name)) return 'InvalidTableState';
    table.branches.delete(name);
    return 'ok';
  }

  #branch(id: readonly string[], branch: string): BranchModel | Outcome {
    const table = this.tables.get(keyOf(id));
    if (table === undefined) return 'TableNotFound';
    return table.branches.get(branch) ?? 'TableBranchNotFound';
  }

  #kept(id: readonly string[], name: string, branch: BranchModel): ReadonlySet<number> {
    const table = this.tables.get(keyOf(id)) as TableModel;
    const tagged = [...table.tags.values()].filter((tag) => tag.branch === name);
    return new Set([Math.max(...branch.versions.keys()), ...tagged.map(({ version }) => version)]);
  }

  state(): VisibleState {
    const namespaces: Record<string, Record<string, string>> = {};
    for (const [key, properties] of this.namespaces) {
      namespaces[key] = { ...properties, dated: 'true' };
    }
    const tables: Record<string, VisibleTable> = {};
    for (const [key, table] of this.tables) tables[key] = visible(table);
    return { namespaces, tables };
  }
}

function tableModel(rows: Rows | undefined): TableModel {
  const versions = new Map<number, Rows>(rows === undefined ? [] : [[1, rows]]);
  const main = { versions, next: rows === undefined ? 1 : 2, parent: '' };
  return { properties: {}, branches: new Map([['main', main]]), tags: new Map() };
}

function commit(branch: BranchModel, rows: Rows): void {
  branch.versions.set(branch.next, rows);
  branch.next += 1;
}

const newest = (branch: BranchModel): Rows =>
  branch.versions.get(Math.max(...branch.versions.keys())) ?? [];

function visible({ properties, branches, tags }: TableModel): VisibleTable {
  const main = branches.get('main') as BranchModel;
  const present = [...branches].filter(([, branch]) => branch.versions.size > 0);
  return {
    properties,
    declared: main.versions.size === 0,
    versions: Object.fromEntries(
      [...branches].map(([name, branch]) => [name, Object.fromEntries(branch.versions)]),
    ),
    newest: Object.fromEntries(present.map(([name, branch]) => [name, newest(branch)])),
    tags: Object.fromEntries(
      [...tags].map(([tag, { branch, version }]) => [tag, `${branch}:${version}`]),
    ),
    parents: Object.fromEntries(
      [...branches]
        .filter(([name]) => name !== 'main')
        .map(([name, branch]) => [name, branch.parent]),
    ),
  };
}
