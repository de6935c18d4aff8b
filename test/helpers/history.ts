/**
 * What happened to the tables of a simulated catalog, seen from the disk: every version at the
 * moment of its publication, with the rows that it must hold by the rules of a naive table. The
 * order of publications is the serial order that everything acknowledged has to fit.
 */
import { decodeVersion, type Manifest } from '../../src/format/catalog/manifest.ts';
import { readFolder } from '../../src/store/disk/file-system.ts';
import { type Decision, decodeDecision } from '../../src/table/versions/multi-table-commit.ts';
import { readAll } from './read-all.ts';
import { type Purposeful, ReferenceHistory } from './reference-history.ts';
import {
  type DiskEvents,
  operationOf,
  type SimulatedProcess,
  type Simulation,
} from './simulation.ts';

/** Of each row its name, by id. */
export type Rows = ReadonlyMap<number, string>;

export interface Operation extends Purposeful {
  readonly number: number;
  readonly what: string;
  /** What the rows of the newest version become; absent for operations that publish none. */
  readonly apply?: (rows: Rows, versions: Line) => Rows;
}

export interface Published {
  readonly manifest: Manifest;
  readonly checksum: string;
  readonly rows: Rows;
  /** The step at which it was to be seen. */
  step: number;
  readonly operation: number;
  /** The step at which it was no longer the newest. */
  replaced: number;
  /** And by the file system's own clock, in milliseconds. */
  replacedAt: number;
  takenBack: boolean;
  /** Its file was deleted, so that a writer far behind may use the number once more, in vain. */
  freed: boolean;
  /** Part of a batch that is not decided, or was aborted: its number is taken, and it is not seen. */
  hidden: 'undecided' | 'aborted' | undefined;
}

/** Versions of one branch, by number; kept also once they are deleted. */
export type Line = Map<number, Published>;

const DECISION = /\/transactions\/([0-9a-f-]+)\.json$/;
const VERSION = /\/versions-([^/]+)\/(\d{20})\.json$/;
const LIVE_FILE = /\/(?:data|deletions|chunks)\/([^/]+)\.(?:arrow|json)$/;

export const rowsText = (rows: Rows): string =>
  [...rows]
    .sort(([a], [b]) => a - b)
    .map(([id, name]) => `${id}:${name}`)
    .join(' ');

export class History implements DiskEvents {
  readonly operations = new Map<number, Operation>();
  /** By the id in the name of the folder: the table's for main, the branch's own for others. */
  readonly lines = new Map<string, Line>();
  /** Operations that answered without an error. */
  readonly acknowledged = new Set<number>();
  readonly violations: string[] = [];
  /** Versions that were written to numbers of deleted ones. */
  strays = 0;
  readonly deletedFiles: string[] = [];
  /** How long the versions that were deleted had been superseded by then, in milliseconds. */
  readonly deletedAges: { readonly path: string; readonly age: number }[] = [];
  /** Folder moves, by the operation that made them. */
  readonly moves = new Map<number, number>();
  simulation: Simulation | undefined;
  readonly #decisions = new Map<string, Decision>();
  readonly references = new ReferenceHistory(
    this.operations,
    (what) => void this.violations.push(what),
  );

  linked(by: SimulatedProcess, from: string, to: string): void {
    const [, line, number] = VERSION.exec(to) ?? [];
    if (line !== undefined) this.#publish(by, line, Number(number), this.#read(by, from), to);
    const [, batch] = DECISION.exec(to) ?? [];
    if (batch !== undefined) this.#decide(by, batch, this.#read(by, from), to);
    this.references.named(by, to);
  }

  renamed(by: SimulatedProcess, from: string, to: string): void {
    const { base } = by.simulation;
    if (!base.statSync(to).isDirectory()) {
      this.references.unnamed(by, from);
      this.#deleted(by, to);
      this.references.named(by, to);
      return;
    }
    this.references.moved(by, from, to);
    this.moves.set(by.operation, (this.moves.get(by.operation) ?? 0) + 1);
    if (!from.includes('/staging/')) return;
    for (const { name } of readFolder(base, to)) {
      const line = /^versions-(.+)$/.exec(String(name))?.[1];
      if (line === undefined || this.lines.has(line)) continue;
      this.lines.set(line, new Map());
      for (const entry of readFolder(base, `${to}/${name}`)) {
        const file = `${to}/${name}/${entry.name}`;
        const number = VERSION.exec(file)?.[2];
        if (number !== undefined)
          this.#publish(by, line, Number(number), this.#read(by, file), file);
      }
    }
  }

  unlinking(by: SimulatedProcess, path: string): void {
    const [, line, number] = VERSION.exec(path) ?? [];
    const published = line === undefined ? undefined : this.lines.get(line)?.get(Number(number));
    if (published !== undefined && published.operation === by.operation) {
      published.takenBack = true;
    } else {
      this.#deleted(by, path);
      if (published !== undefined) published.freed = true;
    }
    if (LIVE_FILE.test(path)) this.deletedFiles.push(path);
  }

  /** Of a version that goes, or gives its place to the mark of a deleted run. */
  #deleted({ simulation }: SimulatedProcess, path: string): void {
    const [, line = '', number] = VERSION.exec(path) ?? [];
    const published = this.lines.get(line)?.get(Number(number));
    if (published === undefined || published.takenBack || published.hidden !== undefined) return;
    this.deletedAges.push({ path, age: simulation.now - published.replacedAt });
  }

  unlinked(by: SimulatedProcess, path: string): void {
    this.references.unnamed(by, path);
  }

  /** The last version of a branch that was not taken back. */
  newest(line: Line): Published | undefined {
    return [...line.values()].filter(isSeen).at(-1);
  }

  /** Standing versions that an operation published. */
  publishedBy(operation: number): Published[] {
    return [...this.lines.values()].flatMap((line) =>
      [...line.values()].filter((one) => one.operation === operation && isSeen(one)),
    );
  }

  /** Whether some table's newest version had these rows at a moment between the two steps. */
  wasNewest(rows: string, from: number, to: number): boolean {
    for (const line of this.lines.values()) {
      for (const one of line.values()) {
        if (one.step <= to && one.replaced >= from && rowsText(one.rows) === rows) return true;
      }
    }
    return false;
  }

  /** Whether some table's version of that number has these rows. */
  isVersion(rows: string, version: number): boolean {
    return [...this.lines.values()].some((line) => {
      const found = line.get(version);
      return found !== undefined && found.hidden === undefined && rowsText(found.rows) === rows;
    });
  }

  #read(by: SimulatedProcess, path: string): Uint8Array {
    const { base } = by.simulation;
    return readAll(base, path);
  }

  /** Versions of a batch are seen all at once, or never. */
  #decide(by: SimulatedProcess, batch: string, bytes: Uint8Array, path: string): void {
    const { step } = by.simulation;
    const decision = decodeDecision(bytes, path);
    this.#decisions.set(batch, decision);
    const committed = decision === 'committed';
    for (const line of this.lines.values()) {
      for (const one of line.values()) {
        if (one.manifest.batch !== batch || one.takenBack) continue;
        const newest = this.newest(line);
        one.hidden = committed ? undefined : 'aborted';
        if (!committed) continue;
        one.step = step;
        if (newest !== undefined) replace(newest, by.simulation);
      }
    }
  }

  #publish(
    by: SimulatedProcess,
    id: string,
    number: number,
    bytes: Uint8Array,
    path: string,
  ): void {
    const document = decodeVersion(bytes, path);
    if (!('manifest' in document)) return;
    const { manifest, checksum } = document;
    const line = this.lines.get(id) ?? new Map<number, Published>();
    this.lines.set(id, line);
    const { step } = by.simulation;
    const violated = (what: string): void => {
      this.violations.push(`step ${step}: ${path}: ${what}`);
    };
    const transaction = manifest.transaction.split('.')[1] ?? '';
    const operation = operationOf(transaction);
    const known = line.get(number);
    if (manifest.version !== number) violated(`holds version ${manifest.version}`);
    // Never part of the history: who acknowledges such a version has lost it.
    if (known?.freed === true) {
      this.strays++;
      return;
    }
    if (known !== undefined && !known.takenBack) violated('is published twice');
    const newest = this.newest(line);
    const last = [...line.values()].filter(({ takenBack }) => !takenBack).at(-1);
    const slot = last?.manifest.version ?? 0;
    const copied = manifest.branch !== 'main' && newest === undefined;
    let rows: Rows = new Map();
    if (copied) {
      const source = this.#find(manifest.parent?.checksum);
      if (source === undefined) violated('is a copy of nothing known');
      rows = source?.rows ?? rows;
    } else {
      const made = this.operations.get(operation);
      const { parent } = manifest;
      if (parent?.version !== newest?.manifest.version)
        violated(`builds on ${parent?.version}, and the newest is ${newest?.manifest.version}`);
      if (number !== slot + 1) violated(`follows version ${slot}`);
      if (last?.hidden === 'undecided') violated('builds past a batch that is not decided');
      if (manifest.table !== id && manifest.branch === 'main') violated('is of another table');
      if (made?.apply === undefined) violated(`was made by ${made?.what ?? 'nobody known'}`);
      else rows = made.apply(newest?.rows ?? new Map(), line);
    }
    const decision = this.#decisions.get(manifest.batch ?? '');
    // Whoever found the journal too old has aborted it, and its process does not know it yet.
    const undecided = decision === 'aborted' ? decision : 'undecided';
    const hidden = manifest.batch === undefined || copied ? undefined : undecided;
    if (hidden !== undefined && decision === 'committed') violated('joins a batch that is decided');
    if (newest !== undefined && hidden === undefined) replace(newest, by.simulation);
    line.delete(number);
    line.set(number, {
      manifest,
      checksum,
      rows,
      step: hidden === undefined ? step : Number.POSITIVE_INFINITY,
      operation: copied ? 0 : operation,
      replaced: Number.POSITIVE_INFINITY,
      replacedAt: Number.POSITIVE_INFINITY,
      takenBack: false,
      freed: false,
      hidden,
    });
  }

  #find(checksum: string | undefined): Published | undefined {
    for (const line of this.lines.values()) {
      for (const one of line.values()) if (one.checksum === checksum) return one;
    }
    return undefined;
  }
}

function replace(version: Published, { step, now }: Simulation): void {
  version.replaced = step;
  version.replacedAt = now;
}

const isSeen = ({ takenBack, hidden }: Published): boolean => !takenBack && hidden === undefined;
