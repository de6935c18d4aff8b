/**
 * Tags, branches and namespaces of a simulated catalog, seen from the disk: which operation made,
 * replaced and removed each, so that none is ever lost to an operation that was not about it.
 */
import { decodeBranch, decodeTable, decodeTag } from '../../src/format/catalog/records.ts';
import { type FileSystem, readFolder } from '../../src/store/disk/file-system.ts';
import { readAll } from './read-all.ts';
import type { SimulatedProcess } from './simulation.ts';

/** What an operation may do to references and namespaces; most may do nothing. */
export type Purpose =
  | 'create tag'
  | 'update tag'
  | 'delete tag'
  | 'create branch'
  | 'delete branch'
  | 'create namespace'
  | 'replace namespace'
  | 'drop namespace';

export interface Purposeful {
  /** Absent for operations that touch neither references nor namespaces. */
  readonly purpose?: Purpose;
  /** The step at which it began. */
  readonly begun: number;
}

export interface TagState {
  readonly table: string;
  readonly tag: string;
  readonly branch: string;
  readonly version: number;
  readonly operation: number;
  /** What it replaced. */
  readonly before: TagState | undefined;
}

export interface BranchState {
  /** Id of the table in whose folder it was put. */
  readonly table: string;
  readonly name: string;
  readonly operation: number;
  /** Made for a table that had left its place by then: out of sight, and free to go. */
  readonly foreign: boolean;
  removed: { readonly by: number; readonly step: number } | undefined;
}

const TAG = /^(.*)\/tags\/([^/]+)\.json$/;
const BRANCH = /^(.*)\/branches\/([^/]+)$/;
/** Where namespaces are in use. */
const NAMESPACE = /^(?!.*\/\.dirspace\/)/;

export class ReferenceHistory {
  /** As they stand, by table and name. */
  readonly tags = new Map<string, TagState>();
  /** By the id in the name of the folder of versions. */
  readonly branches = new Map<string, BranchState>();
  readonly #operations: ReadonlyMap<number, Purposeful>;
  readonly #violated: (what: string) => void;
  /** What each operation did to tags last. */
  readonly #tagged = new Map<number, TagState | 'removed'>();
  /** Namespaces in their places, by the operation that made them. */
  readonly #namespaces = new Map<string, number>();
  /** Folders that left the place of a namespace, by the operation that took them away. */
  readonly #dropped = new Map<number, string>();

  /** The steps at which tags were deleted last. */
  readonly #deleted = new Map<string, number>();

  constructor(operations: ReadonlyMap<number, Purposeful>, violated: (what: string) => void) {
    this.#operations = operations;
    this.#violated = violated;
  }

  #purposeOf(operation: number): Purpose | undefined {
    return this.#operations.get(operation)?.purpose;
  }

  /** The tag that an operation left, if the last thing it did to tags was not to remove one. */
  tagOf(operation: number): TagState | undefined {
    const last = this.#tagged.get(operation);
    return last === 'removed' ? undefined : last;
  }

  removedTag(operation: number): boolean {
    return this.#tagged.get(operation) === 'removed';
  }

  /** Where the namespace lies that an operation dropped. */
  droppedTo(operation: number): string | undefined {
    return this.#dropped.get(operation);
  }

  /** A file took its name. */
  named(by: SimulatedProcess, path: string): void {
    const [, folder, tag] = TAG.exec(path) ?? [];
    if (folder === undefined || tag === undefined) return;
    const { base } = by.simulation;
    const table = tableAt(base, folder);
    if (table === undefined) return;
    const { operation } = by;
    const record = decodeTag(readAll(base, path), path);
    const key = `${table} ${tag}`;
    const before = this.tags.get(key);
    const own = before?.operation === operation;
    const purpose = this.#purposeOf(operation);
    const foreign = record.table !== table;
    if (before !== undefined && !own && (foreign || purpose !== 'update tag'))
      this.#violated(`${path}: ${operation} replaces the tag of ${before.operation}`);
    const begun = this.#operations.get(operation)?.begun ?? 0;
    // Of an update and a deletion that meet, either may be the last.
    const meets = purpose === 'update tag' && (this.#deleted.get(key) ?? 0) >= begun;
    if (before === undefined && !foreign && purpose !== 'create tag' && !meets)
      this.#violated(`${path}: ${operation} brings back a tag that was deleted`);
    const { branch, version } = record;
    const after = { table, tag, branch, version, operation, before };
    this.#tagged.set(operation, after);
    const older = before?.before;
    const isRestored = own && older?.branch === branch && older.version === version;
    if (isRestored) this.tags.set(key, older);
    else if (foreign) this.tags.delete(key);
    else this.tags.set(key, after);
  }

  /** A file lost its name: it was removed, or moved to another one. */
  unnamed(by: SimulatedProcess, path: string): void {
    const [, folder, tag] = TAG.exec(path) ?? [];
    if (folder === undefined || tag === undefined) return;
    const { operation } = by;
    this.#tagged.set(operation, 'removed');
    const key = `${tableAt(by.simulation.base, folder)} ${tag}`;
    const before = this.tags.get(key);
    if (before === undefined) return;
    const allowed = this.#purposeOf(operation) === 'delete tag' || before.operation === operation;
    if (!allowed) this.#violated(`${path}: ${operation} removes the tag of ${before.operation}`);
    this.tags.delete(key);
    this.#deleted.set(key, by.simulation.step);
  }

  moved(by: SimulatedProcess, from: string, to: string): void {
    this.#movedBranch(by, from, to);
    const { base } = by.simulation;
    const { operation } = by;
    if (NAMESPACE.test(to) && isThere(base, `${to}/.namespace.json`))
      this.#namespaces.set(to, operation);
    // A new one is in its place before, with a marker that does not count.
    if (NAMESPACE.test(to) && to.endsWith('/.namespace.json'))
      this.#namespaces.set(to.slice(0, -'/.namespace.json'.length), operation);
    const maker = this.#namespaces.get(from);
    if (!NAMESPACE.test(from) || maker === undefined) return;
    this.#namespaces.delete(from);
    this.#dropped.set(operation, to);
    const purpose = this.#purposeOf(operation);
    const allowed =
      purpose === 'drop namespace' || purpose === 'replace namespace' || maker === operation;
    if (!allowed) this.#violated(`${from}: ${operation} removes the namespace of ${maker}`);
  }

  #movedBranch(by: SimulatedProcess, from: string, to: string): void {
    const { base, step } = by.simulation;
    const { operation } = by;
    const into = BRANCH.exec(to);
    const outOf = BRANCH.exec(from);
    const lines = into || outOf ? linesIn(base, to) : [];
    for (const line of lines) {
      const known = this.branches.get(line);
      if (into && known === undefined) {
        const [, folder = '', name = ''] = into;
        const record = decodeBranch(readAll(base, `${to}/branch.json`), to);
        const table = tableAt(base, folder) ?? '';
        const foreign = record.table !== table;
        this.branches.set(line, { table, name, operation, foreign, removed: undefined });
      } else if (into && known !== undefined) known.removed = undefined;
      else if (known !== undefined) {
        const purpose = this.#purposeOf(operation);
        const own = known.operation === operation || known.foreign;
        if (purpose !== 'delete branch' && !(purpose === 'create branch' && own))
          this.#violated(`${from}: ${operation} removes the branch of ${known.operation}`);
        known.removed = { by: operation, step };
      }
    }
  }
}

const linesIn = (fs: FileSystem, folder: string): string[] =>
  readFolder(fs, folder).flatMap(({ name }) => /^versions-(.+)$/.exec(String(name))?.[1] ?? []);

const isThere = (fs: FileSystem, path: string): boolean =>
  fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined;

function tableAt(fs: FileSystem, folder: string): string | undefined {
  const file = `${folder}/.table.json`;
  return isThere(fs, file) ? decodeTable(readAll(fs, file), file).id : undefined;
}
