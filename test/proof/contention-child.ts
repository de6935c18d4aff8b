/**
 * One process among many at work on one table: a writer, a reader or a janitor, until it is told to
 * stop or is killed. Says what it is about to do, and what came of it.
 */
import nodeFs from 'node:fs';
import { Field, Int32, Schema, Utf8 } from '../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { type Connection, connect, isDirspaceError, type Table } from '../../src/index.ts';
import { Connection as SdkConnection } from '../../src/sdk/connection.ts';
import { toRecordBatchStream } from '../../src/sdk/convert/data.ts';
import { seeded } from '../helpers/seeded.ts';
import { messages, say } from './child-process.ts';
import { type Change, type Content, hashOf, MODULUS, type Row } from './contention-model.ts';
import { renamesInsteadOfLinks } from './unsafe-engines.ts';

export interface ContentionTask {
  readonly root: string;
  readonly durability: 'full' | 'relaxed';
  readonly role: 'writer' | 'reader' | 'janitor';
  /** No other process of the round has it. */
  readonly number: number;
  readonly seed: number;
  /** Old versions go after so many milliseconds; absent where all are kept. */
  readonly cleanupAge?: number;
  readonly deleteUnverified?: boolean;
  /** For the negative control: publishing replaces. */
  readonly unsafe?: true;
}

export type Reference =
  | { readonly kind: 'set tag'; readonly tag: string; readonly version: number }
  | { readonly kind: 'delete tag'; readonly tag: string }
  | { readonly kind: 'create branch'; readonly branch: string; readonly version: number }
  | { readonly kind: 'delete branch'; readonly branch: string };

export type Work =
  | { readonly branch: string; readonly change: Change }
  | { readonly reference: Reference }
  | { readonly move: 'drop' | 'undrop' };

export interface ContentionLine {
  readonly ready?: true;
  readonly begin?: Work;
  /** Acknowledged; the version where one was made, `untold` where the answer has no number. */
  readonly done?: { readonly version?: number | 'untold' | undefined };
  /** Nothing was done. */
  readonly refused?: string;
  /** The outcome was not known. */
  readonly unknown?: true;
  readonly seen?: {
    readonly branch: string;
    readonly version: number;
    readonly hash: string;
    /** Read as the newest one. */
    readonly newest?: true;
  };
  /** A version was gone. */
  readonly gone?: { readonly branch: string; readonly version: number };
  readonly error?: string;
  /** Milliseconds of the machine's clock that never goes back. */
  readonly at?: number;
}

export const TABLE = 't';
/** What the table and every overwrite begin with. */
export const SCHEMA = new Schema([
  new Field('id', new Int32(), true),
  new Field('grp', new Int32(), true),
  new Field('mark', new Utf8(), true),
]);
const GROUPS = 5;
/** Keys that every writer merges, so that they meet. */
const SHARED = 12;

/** Answers to a writer whose table, column or version somebody else took away or changed. */
const REFUSALS = new Set([
  ...['ConcurrentModification', 'TableNotFound', 'TableAlreadyExists', 'TableColumnNotFound'],
  ...['TableVersionNotFound', 'ServiceUnavailable'],
]);

/** Of a tag that may be there or not. */
const TAG_REFUSALS = new Set(['TableTagAlreadyExists', 'TableTagNotFound']);

const now = (): number => Number(process.hrtime.bigint()) / 1e6;

/** All of a version, by the values that it gives. */
export async function contentIn(table: Table): Promise<{ content: Content; version: number }> {
  const version = await table.version();
  const found = await table.toArrow();
  const { fields } = found.schema;
  const rows = new Map<number, (string | null)[]>();
  for (const batch of found.batches) {
    const columns = fields.map(({ name }) => batch.getChild(name));
    for (let at = 0; at < batch.numRows; at++) {
      const cells = columns.map((column) => {
        const value: unknown = column?.get(at);
        return value === null || value === undefined ? null : String(value);
      });
      if (rows.has(Number(cells[0]))) throw new Error(`row ${cells[0]} is there twice`);
      rows.set(Number(cells[0]), cells);
    }
  }
  const columns = fields.map(({ name, type }) => [name, String(type)] as const);
  return { content: { columns, rows }, version };
}

export function openRoot(task: Pick<ContentionTask, 'root' | 'durability' | 'unsafe'>) {
  const { root, durability, unsafe } = task;
  if (unsafe === undefined) return connect(root, { durability });
  const fs = renamesInsteadOfLinks(nodeFs as never);
  return openDirectoryNamespace({ root, durability, fs }).then(
    (namespace): Connection => new SdkConnection(namespace, { label: root }),
  );
}

class Worker {
  readonly #task: ContentionTask;
  readonly #random: () => number;
  readonly #connection: Connection;
  #rows = 0;
  #names = 0;
  /** Branches of its own. */
  readonly #branches: string[] = [];
  readonly #tags = new Set<string>();
  /** Tags of which nobody can tell whether they are there. */
  readonly #unsure = new Set<string>();
  /** The code of the error that the change tried last ended with. */
  #outcome: string | undefined;

  constructor(task: ContentionTask, connection: Connection) {
    this.#task = task;
    this.#random = seeded(task.seed);
    this.#connection = connection;
  }

  async step(): Promise<void> {
    const { role } = this.#task;
    if (role === 'reader') await this.#read();
    else if (role === 'janitor') await this.#tidy();
    else await this.#write();
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #fresh(): Row[] {
    const { number } = this.#task;
    return Array.from({ length: 1 + this.#below(3) }, (): Row => {
      const id = 1000 + number * 100_000 + this.#rows++;
      return [id, this.#below(GROUPS), `r${id}`];
    });
  }

  #name(prefix: string): string {
    return `${prefix}${this.#task.number}_${this.#names++}`;
  }

  /** Does it, and says so before and after. */
  async #perform(work: Work, run: () => Promise<number | 'untold' | undefined>): Promise<boolean> {
    this.#outcome = undefined;
    say({ begin: work } satisfies ContentionLine);
    try {
      const version = await run();
      say({ done: { version }, at: now() } satisfies ContentionLine);
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  #failed(error: unknown): void {
    const code = isDirspaceError(error) ? error.code : undefined;
    this.#outcome = code;
    if (code === 'CommitStateUnknown') say({ unknown: true } satisfies ContentionLine);
    else if (code !== undefined && this.#expected(code, error as Error))
      say({ refused: code } satisfies ContentionLine);
    else say({ error: String((error as Error).stack ?? error) } satisfies ContentionLine);
  }

  #expected(code: string, { message }: Error): boolean {
    // A column that was renamed, dropped, widened or made anew since this process looked.
    if (code === 'InvalidInput' || code === 'TableSchemaValidation')
      return /\b([xy]\d+_|grp\b)/.test(message);
    if (TAG_REFUSALS.has(code)) return [...this.#unsure].some((tag) => message.includes(tag));
    return REFUSALS.has(code);
  }

  async #open(): Promise<Table | undefined> {
    try {
      return await this.#connection.openTable(TABLE);
    } catch (error) {
      if (!isDirspaceError(error, 'TableNotFound')) throw error;
      // Whoever dropped it may be dead.
      await this.#perform({ move: 'undrop' }, async () => {
        await this.#connection.undropTable(TABLE);
        return undefined;
      });
      return undefined;
    }
  }

  async #write(): Promise<void> {
    const table = await this.#open();
    if (table === undefined) return;
    const roll = this.#below(100);
    if (roll < 80) await this.#change(table, 'main');
    else if (roll < 88) await this.#tag(table);
    else if (roll < 97) await this.#branch(table);
    else {
      const dropped = await this.#perform({ move: 'drop' }, async () => {
        await this.#connection.dropTable(TABLE);
        return undefined;
      });
      if (dropped) await this.#open();
    }
  }

  async #change(table: Table, branch: string): Promise<void> {
    let change: Change;
    try {
      change = await this.#choose(table);
    } catch (error) {
      // It was dropped meanwhile.
      if (isDirspaceError(error, 'TableNotFound')) return;
      throw error;
    }
    await this.#perform({ branch, change }, () => this.#make(table, change));
  }

  async #choose(table: Table): Promise<Change> {
    const roll = this.#below(100);
    const group = this.#below(GROUPS);
    if (roll < 30) return { kind: 'append', rows: this.#fresh() };
    if (roll < 42) return { kind: 'update', group, to: this.#below(GROUPS), mark: this.#name('u') };
    if (roll < 55) return { kind: 'delete', group, rest: this.#below(MODULUS) };
    if (roll < 68) {
      const key = this.#below(SHARED);
      const keys = [key, (key + 1 + this.#below(SHARED - 1)) % SHARED];
      const rows = keys.map((id): Row => [id, this.#below(GROUPS), this.#name('m')]);
      return { kind: 'merge', rows: [...rows, ...this.#fresh()] };
    }
    if (roll < 70) return { kind: 'overwrite', rows: this.#fresh() };
    if (roll < 74) {
      const versions = await table.listVersions({ limit: 20, descending: true });
      const chosen = versions[this.#below(versions.length)]?.version;
      return chosen === undefined
        ? { kind: 'append', rows: this.#fresh() }
        : { kind: 'restore', version: chosen };
    }
    if (roll < 76) return { kind: 'widen' };
    const { fields } = await table.schema();
    const extra = fields.map(({ name }) => name).filter((name) => /^[xy]\d/.test(name));
    const name = extra[this.#below(extra.length)];
    if (name === undefined || (roll < 84 && extra.length < 6))
      return { kind: 'add column', name: this.#name('x'), factor: 1 + this.#below(9) };
    if (roll < 92) return { kind: 'rename column', from: name, to: this.#name('y') };
    return { kind: 'drop column', name };
  }

  async #make(table: Table, change: Change): Promise<number | 'untold' | undefined> {
    const records = (rows: readonly Row[]): Record<string, unknown>[] =>
      rows.map(([id, grp, mark]) => ({ id, grp, mark }));
    switch (change.kind) {
      case 'append':
        return (await table.add(records(change.rows))).version;
      case 'overwrite': {
        const rows = await toRecordBatchStream(records(change.rows), { schema: SCHEMA });
        const { namespace } = this.#connection;
        return (await namespace.insertIntoTable({ id: [TABLE], mode: 'overwrite' }, rows)).version;
      }
      case 'merge': {
        const merge = table.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll();
        return (await merge.execute(records(change.rows))).version;
      }
      case 'update': {
        const valuesSql = { grp: String(change.to), mark: `'${change.mark}'` };
        const { version, rowsUpdated } = await table.update({
          valuesSql,
          where: `grp = ${change.group}`,
        });
        return rowsUpdated === 0 ? undefined : version;
      }
      case 'delete': {
        const rule = `grp = ${change.group} AND id % ${MODULUS} = ${change.rest}`;
        const { version, numDeletedRows } = await table.delete(rule);
        return numDeletedRows === 0 ? undefined : version;
      }
      case 'add column': {
        const { name, factor } = change;
        return (await table.addColumns([{ name, valueSql: `id * ${factor}` }])).version;
      }
      case 'rename column':
        return (await table.alterColumns([{ path: change.from, rename: change.to }])).version;
      case 'drop column':
        return (await table.dropColumns([change.name])).version;
      case 'widen': {
        const { version, transactionId } = await table.alterColumns([
          { path: 'grp', dataType: 'int64' },
        ]);
        // It was wide before: the answer names a version that somebody else made.
        return transactionId === undefined ? undefined : version;
      }
      case 'restore': {
        const { namespace } = this.#connection;
        const request = { id: [TABLE], version: change.version };
        const { transaction_id } = await namespace.restoreTable(request);
        // Absent where the newest version was restored, which makes none.
        return transaction_id === undefined ? undefined : 'untold';
      }
      case 'compact': {
        const { optimizeTable } = this.#connection.namespace;
        const request = { id: [TABLE], compact: { target_rows: 40, max_deleted_share: 0.1 } };
        return (await optimizeTable?.call(this.#connection.namespace, request))?.version;
      }
    }
  }

  async #tag(table: Table): Promise<void> {
    const { number } = this.#task;
    const tag = `w${number}_${this.#below(3)}`;
    const known = this.#tags.has(tag);
    const tags = await table.tags();
    if (known && this.#random() < 0.3) {
      const reference: Reference = { kind: 'delete tag', tag };
      const done = await this.#perform({ reference }, async () => {
        await tags.delete(tag);
        return undefined;
      });
      if (done) this.#tags.delete(tag);
      this.#note(tag);
      return;
    }
    const version = await this.#lately(table);
    if (version === undefined) return;
    const done = await this.#perform({ reference: { kind: 'set tag', tag, version } }, async () => {
      if (known) await tags.update(tag, version);
      else await tags.create(tag, version);
      return undefined;
    });
    if (done) this.#tags.add(tag);
    this.#note(tag);
  }

  /** Where nobody can tell what became of a tag, it may be there or not: then it is changed, or made. */
  #note(tag: string): void {
    if (this.#outcome === 'CommitStateUnknown') this.#unsure.add(tag);
    else if (this.#unsure.has(tag) && TAG_REFUSALS.has(this.#outcome ?? '')) {
      this.#unsure.delete(tag);
      if (this.#outcome === 'TableTagAlreadyExists') this.#tags.add(tag);
      else this.#tags.delete(tag);
    } else if (this.#outcome === undefined) this.#unsure.delete(tag);
  }

  async #branch(table: Table): Promise<void> {
    const branches = await table.branches();
    const branch = this.#branches[this.#below(3)];
    if (branch === undefined) {
      const version = await this.#lately(table);
      if (version === undefined) return;
      const made = this.#name('b');
      const reference: Reference = { kind: 'create branch', branch: made, version };
      const done = await this.#perform({ reference }, async () => {
        await branches.create(made, 'main', version);
        return undefined;
      });
      if (done) this.#branches.push(made);
    } else if (this.#random() < 0.8) {
      let own: Table;
      try {
        own = await branches.checkout(branch);
      } catch (error) {
        if (isDirspaceError(error, 'TableNotFound')) return;
        throw error;
      }
      const change: Change = { kind: 'append', rows: this.#fresh() };
      await this.#perform({ branch, change }, () => this.#make(own, change));
    } else {
      const reference: Reference = { kind: 'delete branch', branch };
      const done = await this.#perform({ reference }, async () => {
        await branches.delete(branch);
        return undefined;
      });
      if (done) this.#branches.splice(this.#branches.indexOf(branch), 1);
    }
  }

  /** The number of a version that was there a moment ago. */
  async #lately(table: Table): Promise<number | undefined> {
    try {
      const versions = await table.listVersions({ limit: 10, descending: true });
      return versions[this.#below(versions.length)]?.version;
    } catch (error) {
      if (isDirspaceError(error, 'TableNotFound')) return undefined;
      throw error;
    }
  }

  async #read(): Promise<void> {
    const at = now();
    let chosen: number | undefined;
    try {
      const newest = await this.#connection.openTable(TABLE);
      if (this.#random() < 0.4) {
        const versions = await newest.listVersions();
        chosen = versions[this.#below(versions.length)]?.version;
      }
      const isNewest = chosen === undefined;
      chosen ??= await newest.version();
      const table = await this.#connection.openTable(TABLE, [], { version: chosen });
      const { content, version } = await contentIn(table);
      const read = { branch: 'main', version, hash: hashOf(content) };
      const seen = isNewest ? ({ ...read, newest: true } as const) : read;
      say({ seen, at } satisfies ContentionLine);
    } catch (error) {
      if (isDirspaceError(error, 'TableNotFound')) return;
      if (isDirspaceError(error, 'TableVersionNotFound') && chosen !== undefined)
        say({ gone: { branch: 'main', version: chosen }, at } satisfies ContentionLine);
      else say({ error: `reading ${chosen}: ${(error as Error).stack}` } satisfies ContentionLine);
    }
  }

  async #tidy(): Promise<void> {
    const { cleanupAge, deleteUnverified } = this.#task;
    const table = await this.#open();
    if (table === undefined) return;
    if (cleanupAge === undefined || this.#random() < 0.7) {
      const change: Change = { kind: 'compact' };
      await this.#perform({ branch: 'main', change }, () => this.#make(table, change));
      return;
    }
    try {
      await table.optimize({
        compaction: false,
        cleanupOlderThan: new Date(Date.now() - cleanupAge),
        ...(deleteUnverified === true ? { deleteUnverified } : {}),
      });
    } catch (error) {
      this.#failed(error);
    }
  }
}

/** Runs when it is the script of a process, and not when its parent takes names from it. */
async function main(): Promise<void> {
  say({ ready: true } satisfies ContentionLine);
  let worker: Worker | undefined;
  let stopped = false;
  let working: Promise<void> | undefined;
  for await (const message of messages<ContentionTask | 'stop'>()) {
    if (message === 'stop') {
      stopped = true;
      await working;
      break;
    }
    const connection = await openRoot(message);
    worker = new Worker(message, connection);
    const one = worker;
    working = (async () => {
      while (!stopped) {
        try {
          await one.step();
        } catch (error) {
          if (isDirspaceError(error, 'TableNotFound')) continue;
          say({ error: String((error as Error).stack ?? error) } satisfies ContentionLine);
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
      await connection.close();
    })();
  }
  process.exit();
}

if (process.argv[1]?.endsWith('contention-child.js') === true) await main();
