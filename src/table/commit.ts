/**
 * The only writer of versions. A commit is: look at the newest version, build the next one from it,
 * publish it under the next number, and start over from the new newest if somebody was faster.
 */
import { DirspaceError } from '../errors.ts';
import {
  decodeVersion,
  encodeManifest,
  type Manifest,
  type OperationKind,
} from '../format/manifest.ts';
import { parseDeletedRun, versionFile } from '../format/paths.ts';
import { batchDecision, decideBatch } from './batch.ts';
import type { Engine } from './engine.ts';
import type { FragmentList } from './fragment-list.ts';
import {
  type Head,
  highestListed,
  isStillThere,
  readManifest,
  rememberHead,
  resolveHead,
  type TableBranch,
  visibleSnapshot,
  writeHint,
} from './head.ts';
import { Snapshot } from './snapshot.ts';

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
  /** Resolves once what was written for this draft alone is durable. */
  readonly after?: Promise<unknown>;
}

export interface CommitRequest {
  /**
   * Builds the next version on `base` (undefined for a table without versions); called again on
   * the newer base after a conflict. Undefined means there is nothing to change.
   */
  readonly build: (base: Snapshot | undefined) => Promise<Draft | undefined>;
  /** True when the change does not depend on what overwrite or restore replace. */
  readonly survivesOverwrite?: boolean;
  /** True when the change names rows by ids that compaction gives anew. */
  readonly namesRowIds?: boolean;
  readonly transaction?: string | undefined;
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
/** Attempts after which a writer asks for the lock, so that it is not overtaken for ever. */
const PATIENCE = 6;
/** How long a batch in the way may stay undecided before a writer aborts it, in milliseconds. */
const BATCH_GRACE = 2_000;

/**
 * @throws ConcurrentModification when another change cannot be joined with this one
 * @throws CommitStateUnknown when it may or may not have been published
 */
export async function commit(
  engine: Engine,
  branch: TableBranch,
  request: CommitRequest,
): Promise<Committed> {
  const transaction = request.transaction ?? newTransaction(engine, branch);
  const attempts = new Attempts(engine, branch, request);
  for (;;) {
    const committed = await attempts.next(() =>
      engine.queue.run(branch.folder, () =>
        attempt(engine, branch, request, transaction, attempts),
      ),
    );
    if (committed !== undefined) return committed;
  }
}

/** Ids say which table they belong to, so that one can be found again without an index. */
export const newTransaction = (engine: Engine, branch: TableBranch): string =>
  `${branch.incarnation}.${engine.env.uuid()}`;

export const incarnationOfTransaction = (transaction: string): string =>
  (transaction.split('.', 1) as [string])[0];

async function attempt(
  engine: Engine,
  branch: TableBranch,
  request: CommitRequest,
  transaction: string,
  attempts: Attempts,
): Promise<Committed | undefined> {
  request.signal?.throwIfAborted();
  const head = await resolveHead(engine, branch);
  const base = head?.snapshot;
  const slot = head?.slot ?? (await highestListed(engine, branch)) ?? 0;
  if (await settleBatches(engine, branch, base?.version ?? 0, slot)) return undefined;
  await attempts.refuseClash(head);
  const draft = await request.build(base);
  if (draft === undefined) {
    if (base === undefined)
      throw new DirspaceError('InvalidTableState', 'The table has no version to keep.');
    return { snapshot: base, transaction: undefined };
  }
  const manifest = nextManifest(engine, branch, draft, { slot, snapshot: base }, transaction);
  const encoded = encodeManifest(manifest);
  const after = draft.after ?? request.after;
  if (!(await publish(engine, branch, manifest, base, encoded.bytes, after))) return undefined;
  const snapshot = new Snapshot(engine, branch, manifest, encoded.checksum, encoded.bytes.length);
  rememberHead(engine, branch, { slot: manifest.version, snapshot });
  await writeHint(engine, branch, manifest.version);
  engine.committed?.(snapshot);
  return { snapshot, transaction };
}

/** Where a new version goes: after `slot`, built on `snapshot`. */
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
  batch?: string,
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
    timestamp: Math.max(engine.env.now(), base?.manifest.timestamp ?? 0),
    transaction,
    batch,
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
    annotations: undefined,
    totals: draft.fragments.totals,
    chunks: draft.fragments.chunks,
    fragments: draft.fragments.tail,
  };
}

/** False when somebody else has the number, or nobody may have it. */
async function publish(
  engine: Engine,
  branch: TableBranch,
  manifest: Manifest,
  base: Snapshot | undefined,
  bytes: Uint8Array,
  after: Promise<unknown> | undefined,
): Promise<boolean> {
  const file = versionFile(branch.folder, manifest.version);
  let published: boolean;
  try {
    published = await engine.publish(branch, manifest.version, bytes, manifest.transaction, after);
  } catch (error) {
    published = await resolveUnknown(engine, branch, manifest, error);
  }
  if (!published) {
    const winner = await readManifest(engine, branch, manifest.version);
    // A store may report our own success as a conflict, after a lost reply for instance.
    if (winner?.transaction !== manifest.transaction) {
      if (winner?.batch !== undefined) await clearAbandonedBatch(engine, winner.batch);
      return false;
    }
  }
  return stands(engine, file, manifest, base);
}

/**
 * Takes a version just published back if its number was freed: others went on past it and cleanup
 * deleted the run that it lies in, base and all, where nobody would ever look for it.
 * @throws CommitStateUnknown
 */
export async function stands(
  engine: Engine,
  file: string,
  manifest: Manifest,
  base: Snapshot | undefined,
): Promise<boolean> {
  try {
    if (base === undefined || (await isStillThere(engine, base))) return true;
    if (!(await wasFreed(engine, base.branch, file, manifest.version))) return true;
    // Not there to be deleted: the table was moved or dropped after the commit, with it inside.
    return !(await engine.store.delete(file));
  } catch (error) {
    throw new DirspaceError(
      'CommitStateUnknown',
      `Version ${manifest.version} was published, but what it builds on could not be looked at. Open the table again and look for transaction ${manifest.transaction} before repeating the change.`,
      { cause: error, details: { version: manifest.version, transaction: manifest.transaction } },
    );
  }
}

/** Whether a version whose base was deleted took a number that had been deleted too. */
async function wasFreed(
  engine: Engine,
  branch: TableBranch,
  file: string,
  version: number,
): Promise<boolean> {
  const entries = (await engine.store.list(branch.folder)) ?? [];
  const runs = entries.flatMap(({ name }) => parseDeletedRun(name) ?? []);
  // Cleanup may have removed the base because this very version is the newest now.
  if (!runs.some(({ first, last }) => first <= version && version <= last)) return false;
  // Or both, because others have built on it since: it was the real one while it was there.
  const bytes = await engine.store.get(file);
  const own = bytes === undefined ? undefined : decodeVersion(bytes, file);
  if (own === undefined || !('manifest' in own)) return false;
  const next = await readManifest(engine, branch, version + 1);
  return next?.parent?.checksum !== own.checksum;
}

/** After any error the version's file tells whether the commit took place. */
async function resolveUnknown(
  engine: Engine,
  branch: TableBranch,
  manifest: Manifest,
  error: unknown,
): Promise<boolean> {
  let found: Snapshot | undefined;
  try {
    found = await visibleSnapshot(engine, branch, manifest.version);
    if (found?.manifest.transaction === manifest.transaction) {
      await engine.store.syncFolders([branch.folder]);
      return true;
    }
  } catch (readError) {
    throw new DirspaceError(
      'CommitStateUnknown',
      `It is not known whether version ${manifest.version} was committed: publishing it failed and so did reading it back. Open the table again and look for transaction ${manifest.transaction} before repeating the change.`,
      {
        cause: readError,
        details: { version: manifest.version, transaction: manifest.transaction },
      },
    );
  }
  if (found !== undefined) return false;
  throw error;
}

/**
 * Versions of undecided batches stand above the newest visible one: what is built past them would
 * lose them if they are committed later. True when one was in the way, or came meanwhile and is to
 * be seen, and the branch looks anew.
 */
export async function settleBatches(
  engine: Engine,
  branch: TableBranch,
  newest: number,
  slot: number,
): Promise<boolean> {
  let waited = false;
  for (let version = newest + 1; version <= slot; version++) {
    const found = await readManifest(engine, branch, version);
    if (found === undefined) continue;
    if (found.batch !== undefined) {
      if ((await batchDecision(engine, found.batch)) === 'aborted') continue;
      await clearAbandonedBatch(engine, found.batch);
    }
    waited = true;
  }
  return waited;
}

/** A version of a batch that nobody finished must not block the branch for ever. */
async function clearAbandonedBatch(engine: Engine, batch: string): Promise<void> {
  const deadline = engine.env.now() + BATCH_GRACE;
  while ((await batchDecision(engine, batch)) === undefined) {
    if (engine.env.now() >= deadline) {
      await decideBatch(engine, batch, 'aborted');
      return;
    }
    await engine.env.sleep(5 + engine.env.random() * 20);
  }
}

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
  #seen: number | undefined;

  constructor(engine: Engine, branch: TableBranch, request: CommitRequest) {
    this.#engine = engine;
    this.#branch = branch;
    this.#request = request;
    this.#started = engine.env.now();
  }

  async next<Result>(work: () => Promise<Result>): Promise<Result> {
    const { env, limits } = this.#engine;
    if (this.#count > 0) {
      if (env.now() - this.#started > limits.commitTimeout) throw this.#tooBusy();
      const longest = Math.min(LONGEST_WAIT, 2 ** Math.min(this.#count, 6));
      await env.sleep(env.random() * longest, this.#request.signal);
    }
    this.#count += 1;
    return this.#count > PATIENCE ? this.#engine.withLock(this.#branch.folder, work) : work();
  }

  /** @throws ConcurrentModification when what landed since the first attempt rules this change out */
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
