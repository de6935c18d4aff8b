/**
 * `commit` commits the next version of a branch. It calls the caller's `build` on the newest
 * version and publishes the `Draft` that it returns under the next number. If `build` returns
 * undefined, nothing is published. After a conflict it builds again. It throws
 * ConcurrentModification if an overwrite, restore or compaction meanwhile rules the change out, if
 * the commit timeout is over, or if the request fixes `version` and another number is next
 * (`notNextVersion`). CommitStateUnknown means that the version may or may not exist. On a
 * materialized view, a draft that is no refresh throws InvalidTableState (`isRefusedOnView`),
 * unless its kind keeps the rows: compact, restore, and metadata, such as createIndex. A writer
 * that loses too often takes an advisory lock, for which others wait a little.
 *
 * `newTransaction` makes the id of a commit. `nextManifest` and `madeVisible` also serve files that
 * publish versions in other ways, and `sameContent` drafts a version of the same rows and columns.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  encodeManifest,
  livingIndexes,
  type Manifest,
  type OperationKind,
} from '../../format/index.ts';
import type { Engine } from './engine.ts';
import { type FragmentList, fragmentListOf } from './fragment-list.ts';
import { type Head, isBaseGone, resolveHead, type TableBranch } from './head.ts';
import { writeHint } from './hint.ts';
import { lanceToldOf } from './lance-transaction-of.ts';
import { publish } from './publish.ts';
import { settleUndecided } from './settle-undecided.ts';
import { Snapshot } from './snapshot.ts';
import { highestListed, visibleSnapshot } from './version-files.ts';
import { nextTimestamp } from './version-times.ts';

/** The content of the next version. */
export interface Draft {
  readonly kind: OperationKind;
  readonly summary: Readonly<Record<string, number>>;
  readonly schema: Manifest['schema'];
  readonly fieldIds: readonly number[];
  readonly nextFieldId: number;
  readonly nextFragmentId: number;
  readonly metadata: Readonly<Record<string, string>>;
  /** New properties of the table; those it has stay if absent. */
  readonly properties?: Readonly<Record<string, string>> | undefined;
  readonly fragments: FragmentList;
  /** If absent, indexes of the base stay, unless their columns are gone or the rows are others. */
  readonly indexes?: Manifest['indexes'] | null;
  /**
   * Whether the table is written for Lance from now on; else it stays as it is, or the catalog
   * decides.
   */
  readonly lance?: boolean | undefined;
  /** Lance's ids of fields, where they are not those of the base. */
  readonly lanceIds?: Manifest['lanceIds'];
  /** Ids of fragments that are given away; those of the base stay if absent. */
  readonly lanceReserved?: Manifest['lanceReserved'];
  /** The transaction of a version that a writer of Lance made. */
  readonly lanceTransaction?: string | undefined;
  /** The source and query of a materialized view from now on; if absent they stay as they are. */
  readonly view?: Manifest['view'];
  /** The SQL that chose the rows which are gone. */
  readonly predicate?: string | undefined;
  /** Resolves once what was written for this draft alone is durable. */
  readonly after?: Promise<unknown>;
}

/** A draft of the same rows and columns, for a change of what lies beside them. */
export const sameContent = (manifest: Manifest, summary: Draft['summary']): Draft => ({
  kind: 'metadata',
  summary,
  schema: manifest.schema,
  fieldIds: manifest.fieldIds,
  nextFieldId: manifest.nextFieldId,
  nextFragmentId: manifest.nextFragmentId,
  metadata: manifest.metadata,
  fragments: fragmentListOf(manifest),
});

export interface CommitRequest {
  /**
   * Builds the next version on `base` (undefined for a table without versions); called again on
   * the newer base after a conflict. Undefined means there is nothing to change.
   */
  readonly build: (base: Snapshot | undefined) => Promise<Draft | undefined>;
  /** The only number that the version may have; else it takes the next one. */
  readonly version?: number | undefined;
  /** True when the change does not depend on what overwrite or restore replace. */
  readonly survivesOverwrite?: boolean;
  /** True when the change names rows by ids that compaction gives anew. */
  readonly namesRowIds?: boolean;
  /** A function is asked once the next version was built, and all that it is made of was read. */
  readonly transaction?: string | (() => string) | undefined;
  /** Resolves once everything the new version refers to is durable. */
  readonly after?: Promise<unknown>;
  readonly signal?: AbortSignal | undefined;
}

export interface Committed {
  readonly snapshot: Snapshot;
  /** Undefined when nothing had to change. */
  readonly transaction: string | undefined;
}

/** Waits between attempts never exceed this, in milliseconds. */
const LONGEST_WAIT = 50;
/** Attempts after which a writer takes the advisory lock, so that it does not starve. */
const PATIENCE = 4;
/**
 * Milliseconds of building in vain after which it takes the lock earlier: a change of many
 * fragments takes longer than the commits of others, and would lose again.
 */
const DEAR = 50;
/** How long a writer lets one that holds the lock go first, in milliseconds. */
const COURTESY = 1_000;

/**
 * No file of the caller is removed, whatever happens.
 * @throws ConcurrentModification when the commit timeout is over, or when another writer committed,
 * between two attempts, an overwrite or restore that the change does not survive, or a compaction
 * and the change names rows by id
 * @throws CommitStateUnknown when it may or may not have been published
 * @throws InvalidTableState for a change of rows of a materialized view, and where there is neither
 * a version nor a change
 */
export async function commit(
  engine: Engine,
  branch: TableBranch,
  request: CommitRequest,
): Promise<Committed> {
  const { transaction: given = newTransaction(engine, branch) } = request;
  const transaction = typeof given === 'string' ? () => given : given;
  const attempts = new Attempts(engine, branch, request);
  return attempts.run(() =>
    engine.queue.run(branch.folder, () => attempt(engine, branch, request, transaction, attempts)),
  );
}

/** Ids say which table they belong to, so that one can be found again without an index. */
export const newTransaction = (engine: Engine, branch: TableBranch): string =>
  `${branch.incarnation}.${engine.env.uuid()}`;

/** The incarnation of the table that a transaction id names. */
export const incarnationOfTransaction = (transaction: string): string =>
  (transaction.split('.', 1) as [string])[0];

async function attempt(
  engine: Engine,
  branch: TableBranch,
  request: CommitRequest,
  transactionOf: () => string,
  attempts: Attempts,
): Promise<Committed | undefined> {
  request.signal?.throwIfAborted();
  const head = await resolveHead(engine, branch);
  const base = head?.snapshot;
  const slot = head?.slot ?? (await highestListed(engine, branch)) ?? 0;
  if (await settleUndecided(engine, branch, base?.version ?? 0, slot)) return undefined;
  if (request.version !== undefined && slot + 1 !== request.version)
    throw notNextVersion(request.version, { slot });
  await attempts.refuseClash(head);
  const began = engine.env.now();
  let draft: Draft | undefined;
  try {
    draft = await request.build(base);
  } catch (error) {
    if (await isBaseGone(engine, base, error)) return undefined;
    throw error;
  }
  if (draft === undefined) {
    if (base === undefined)
      throw new DirspaceError('InvalidTableState', 'The table has no version to keep.');
    return { snapshot: base, transaction: undefined };
  }
  refuseOnView(base, draft);
  const transaction = transactionOf();
  const position = { slot, snapshot: base };
  let manifest = nextManifest(engine, branch, draft, position, transaction);
  try {
    manifest = await lanceToldOf(engine, branch, manifest, base, draft.predicate);
  } catch (error) {
    if (await isBaseGone(engine, base, error)) return undefined;
    throw error;
  }
  const encoded = encodeManifest(manifest);
  const after = draft.after ?? request.after;
  const spent = engine.env.now() - began;
  if (!(await publish(engine, branch, manifest, base, encoded.bytes, after))) {
    engine.counters.conflicts++;
    attempts.lost(spent);
    return undefined;
  }
  engine.counters.commits++;
  const snapshot = new Snapshot(engine, branch, manifest, encoded.checksum, encoded.bytes.length);
  await madeVisible(engine, snapshot);
  engine.committed?.(snapshot);
  return { snapshot, transaction };
}

/** Remembers a version that readers see from now on as the newest of its branch. */
export async function madeVisible(engine: Engine, snapshot: Snapshot): Promise<void> {
  const { branch, version } = snapshot;
  const head = { slot: version, snapshot };
  engine.heads.remember(branch, head);
  await writeHint(engine, branch, version);
  await engine.heads.noteMain(head);
  await engine.follow?.(snapshot);
}

/** The place of a new version: after `slot`, built on `snapshot`. */
export interface Position {
  readonly slot: number;
  readonly snapshot: Snapshot | undefined;
}

/** The manifest of the version after `head`. */
export function nextManifest(
  engine: Engine,
  branch: TableBranch,
  draft: Draft,
  head: Position | undefined,
  transaction: string,
): Manifest {
  const base = head?.snapshot;
  const version = (head?.slot ?? 0) + 1;
  return {
    table: branch.incarnation,
    branch: branch.branch,
    version,
    parent:
      base === undefined
        ? undefined
        : { version: base.version, branch: base.branch.branch, checksum: base.checksum },
    timestamp: nextTimestamp(engine.env.now(), base?.manifest.timestamp),
    transaction,
    batch: undefined,
    operation: { kind: draft.kind, summary: draft.summary },
    schema: draft.schema,
    fieldIds: draft.fieldIds,
    nextFieldId: draft.nextFieldId,
    nextFragmentId: draft.nextFragmentId,
    metadata: draft.metadata,
    properties:
      draft.properties === undefined
        ? base?.manifest.properties
        : { since: version, values: draft.properties },
    lance: draft.lance ?? base?.manifest.lance ?? (engine.lance === 'off' ? undefined : true),
    lanceIds: livingIds(draft.lanceIds ?? base?.manifest.lanceIds, draft.fieldIds),
    lanceReserved: draft.lanceReserved ?? base?.manifest.lanceReserved,
    lanceTransaction: draft.lanceTransaction,
    view: draft.view ?? base?.manifest.view,
    annotations: undefined,
    indexes: indexesAfter(draft, base),
    totals: draft.fragments.totals,
    chunks: draft.fragments.chunks,
    fragments: draft.fragments.tail,
  };
}

/** The indexes of a new version; an overwrite leaves none, as its rows are others. */
function indexesAfter(draft: Draft, base: Snapshot | undefined): Manifest['indexes'] {
  const kept = draft.kind === 'overwrite' ? undefined : base?.manifest.indexes;
  const indexes = draft.indexes === undefined ? kept : draft.indexes;
  return livingIndexes(indexes ?? undefined, draft.fieldIds);
}

/** Operations that a materialized view allows besides its refresh. */
const KEEPS_ROWS: readonly OperationKind[] = ['compact', 'metadata', 'restore'];

/** @throws InvalidTableState for a change of rows or columns that is no refresh */
function refuseOnView(
  base: Snapshot | undefined,
  { kind, view: refreshed }: Pick<Draft, 'kind' | 'view'>,
): void {
  const view = base?.manifest.view;
  if (view === undefined || refreshed !== undefined || KEEPS_ROWS.includes(kind)) return;
  throw new DirspaceError(
    'InvalidTableState',
    `The table is a materialized view of ${view.source.join('/')}: its rows and columns come from refreshes alone. Change the source and refresh the view, or make a table of its rows.`,
    { details: { view: true } },
  );
}

/** Whether a commit was refused because the table is a view, before anything was published. */
export const isRefusedOnView = (error: unknown): boolean =>
  isDirspaceError(error, 'InvalidTableState') && error.details.view === true;

/** The ids of fields that are still there. */
function livingIds(ids: Manifest['lanceIds'], fieldIds: readonly number[]): Manifest['lanceIds'] {
  if (ids === undefined) return undefined;
  const fields = new Set(fieldIds);
  const living = [...ids].filter(([own]) => fields.has(own));
  return living.length === 0 ? undefined : new Map(living);
}

/** The error for a writer that asks for a version number which is not the next. */
export const notNextVersion = (
  version: number,
  head: { slot: number } | undefined,
): DirspaceError => {
  const next = (head?.slot ?? 0) + 1;
  return new DirspaceError(
    'ConcurrentModification',
    `Version ${version} cannot be created: the next one is ${next}. Read the versions in between, build on the newest, and create version ${next}.`,
    { details: { version, next } },
  );
};

const rowsMoved = (version: number): DirspaceError =>
  new DirspaceError(
    'ConcurrentModification',
    `Version ${version} compacted the table while this change was being made, and gave its rows new ids. Nothing was changed; read the ids again and repeat the change.`,
    { details: { version } },
  );

/** Counts the attempts of one commit, spaces them out, and notices clashes on the way. */
class Attempts {
  readonly #engine: Engine;
  readonly #branch: TableBranch;
  readonly #request: CommitRequest;
  readonly #started: number;
  #count = 0;
  /** Milliseconds for which versions were built that lost. */
  #spent = 0;
  #seen: number | undefined;

  constructor(engine: Engine, branch: TableBranch, request: CommitRequest) {
    this.#engine = engine;
    this.#branch = branch;
    this.#request = request;
    this.#started = engine.env.now();
  }

  /**
   * Runs attempts until one gives a result. A writer that loses takes the lock and keeps it until
   * it has won; others look for it before they begin and queue, so that a change that takes long is
   * not overtaken for ever by short ones. The lock only makes conflicts rare: who does not get it
   * goes on without.
   */
  async run<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
    const engine = this.#engine;
    const { folder } = this.#branch;
    if (engine.isLocked(folder))
      return engine.withLock(folder, () => this.#attempts(attempt), COURTESY);
    const found = await this.#attempts(attempt, PATIENCE);
    return found ?? engine.withLock(folder, () => this.#attempts(attempt));
  }

  /** Notes the milliseconds for which a version was built in vain. */
  lost(spent: number): void {
    this.#spent += spent;
  }

  async #attempts<Result>(attempt: () => Promise<Result | undefined>): Promise<Result>;
  async #attempts<Result>(
    attempt: () => Promise<Result | undefined>,
    most: number,
  ): Promise<Result | undefined>;
  async #attempts<Result>(
    attempt: () => Promise<Result | undefined>,
    most = Number.POSITIVE_INFINITY,
  ): Promise<Result | undefined> {
    const { env, limits } = this.#engine;
    const isPatient = (): boolean => most === Number.POSITIVE_INFINITY || this.#spent < DEAR;
    for (let tried = 0; tried < most && isPatient(); tried++) {
      if (this.#count > 0 && env.now() - this.#started > limits.commitTimeout)
        throw this.#tooBusy();
      if (tried > 0) {
        const longest = Math.min(LONGEST_WAIT, 2 ** Math.min(tried, 6));
        await env.sleep(env.random() * longest, this.#request.signal);
      }
      this.#count += 1;
      const result = await attempt();
      if (result !== undefined) return result;
    }
    return undefined;
  }

  /**
   * @throws ConcurrentModification when what landed since the first attempt rules this change out
   */
  async refuseClash(head: Head | undefined): Promise<void> {
    const newest = head?.snapshot.version ?? 0;
    const seen = this.#seen;
    this.#seen = newest;
    if (seen === undefined || this.#request.survivesOverwrite === true) return;
    for (let version = newest; version > seen; version--) {
      const landed =
        version === newest
          ? head?.snapshot
          : await visibleSnapshot(this.#engine, this.#branch, version);
      const kind = landed?.manifest.operation.kind;
      if (kind === 'compact' && this.#request.namesRowIds === true) throw rowsMoved(version);
      if (kind !== 'overwrite' && kind !== 'restore') continue;
      throw new DirspaceError(
        'ConcurrentModification',
        `Version ${version} replaced the table's content (${kind}) while this change was being made on version ${seen}. Nothing was changed; look at the new content and repeat the change if it still applies.`,
        { details: { version, base: seen } },
      );
    }
  }

  #tooBusy(): DirspaceError {
    return new DirspaceError(
      'ConcurrentModification',
      `Other writers were faster in each of ${this.#count} attempts over ${this.#engine.limits.commitTimeout} ms. Nothing was changed; try again with fewer writers on this table.`,
      { details: { attempts: this.#count } },
    );
  }
}
