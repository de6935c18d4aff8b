/**
 * `compact` rewrites runs of small fragments as larger ones, and fragments with many deleted rows
 * without these; compaction-plan.ts chooses the runs. Unless it is `tiered`, it also rewrites
 * fragments so that Lance can read them, so that they are compressed as asked, or (`plain`) so that
 * other programs can read them alone. A run that a concurrent change touches is left out of the
 * version and planned again, in up to three rounds with a version each. Rows keep their order and
 * values, but rewritten rows get new row ids. The report counts fragments and files; a dry run only
 * reports.
 */
import {
  optionalStructs,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  type Schema,
} from '../../arrow/index.ts';
import type { Compression } from '../../compression.ts';
import { isDirspaceError } from '../../errors.ts';
import { type FragmentEntry, fileIds, isCompressedEntry, liveRows } from '../../format/index.ts';
import { deletedRows, openFragment, readFields, unlikeFragments } from '../fragments/index.ts';
import { type JoinedFragments, joinedIndexes } from '../indexes/index.ts';
import { absentStructs, isOpenForLance, lanceFieldsOf } from '../lance/index.ts';
import { selectedCount } from '../read/index.ts';
import {
  announced,
  commit,
  compressionOf,
  type Draft,
  type Engine,
  editFragments,
  fragmentListOf,
  isBaseGone,
  resolveHead,
  type Snapshot,
  storedProperties,
  type TableBranch,
} from '../versions/index.ts';
import { Turn } from '../work/index.ts';
import { type CompactionGoals, type FragmentRun, planCompaction } from './compaction-plan.ts';
import { schemaOf } from './schema-version.ts';
import { type NewFragment, removeFragments, writeFragments, writesLance } from './write.ts';

export interface CompactOptions extends Omit<CompactionGoals, 'mustRewrite' | 'kindOf'> {
  /** Whether to rewrite each fragment that programs of others cannot read alone. */
  readonly plain?: boolean | undefined;
  /** How fragments are to be compressed; what the table says if absent. */
  readonly compression?: Compression | undefined;
  /** Whether that has just changed, so that fragments written otherwise are written anew. */
  readonly compressesAnew?: boolean;
  /** Says what would be rewritten and writes nothing. */
  readonly dryRun: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: CompactionProgress) => void) | undefined;
}

export interface CompactionProgress {
  readonly rowsDone: number;
  readonly rowsTotal: number;
}

export interface CompactionReport {
  readonly fragmentsRemoved: number;
  readonly fragmentsAdded: number;
  /** Fragments and deletion files that the newest version no longer refers to. */
  readonly filesRemoved: number;
  readonly filesAdded: number;
  /** Undefined when nothing was rewritten. */
  readonly version: number | undefined;
}

/** Runs that are rewritten side by side: one is encoded while another waits for the disk. */
const SIDE_BY_SIDE = 2;
/** Rounds after which runs that others keep changing are left as they are. */
const ROUNDS = 3;

const NOTHING: CompactionReport = {
  fragmentsRemoved: 0,
  fragmentsAdded: 0,
  filesRemoved: 0,
  filesAdded: 0,
  version: undefined,
};

/**
 * Concurrent appends always fit. A run of which a fragment was changed or removed meanwhile is left
 * out and planned again.
 */
export async function compact(
  engine: Engine,
  branch: TableBranch,
  options: CompactOptions,
): Promise<CompactionReport> {
  let report = NOTHING;
  for (let round = 0; round < ROUNDS; round++) {
    const base = (await resolveHead(engine, branch))?.snapshot;
    if (base === undefined) return report;
    const entries = await base.fragments();
    const mustRewrite = options.tiered
      ? undefined
      : await fragmentsToRewrite(engine, base, options);
    const leftOut = await columnsLeftOut(engine, base, options);
    const kindOf = leftOut && ((entry: FragmentEntry) => leftOut(entry).join());
    const runs = planCompaction(entries, { ...options, mustRewrite, kindOf });
    if (runs.length === 0) return report;
    if (options.dryRun) {
      const filesRemoved = filesFreed(entries, runs);
      return { ...runs.map(expected).reduce(sum, NOTHING), filesRemoved };
    }
    let outcome: Awaited<ReturnType<typeof compactRuns>>;
    try {
      outcome = await compactRuns(engine, base, runs, options);
    } catch (error) {
      if (round < ROUNDS - 1 && (await isBaseGone(engine, base, error))) continue;
      throw error;
    }
    report = sum(report, outcome.report);
    if (!outcome.again) return report;
  }
  return report;
}

type Pick = ((fragment: FragmentEntry) => boolean) | undefined;

const either = (one: Pick, other: Pick): Pick =>
  one === undefined || other === undefined
    ? (one ?? other)
    : (fragment) => one(fragment) || other(fragment);

async function fragmentsToRewrite(
  engine: Engine,
  base: Snapshot,
  options: CompactOptions,
): Promise<Pick> {
  const unlike =
    options.plain === true ? await unlikeFragments(engine, base, options.signal) : undefined;
  return [
    fragmentsForLance(engine, base, await base.fragments()),
    await fragmentsToCompress(engine, base, options),
    unlike && (({ id }: FragmentEntry) => unlike.has(id)),
  ].reduce(either);
}

/**
 * Picks the fragments that are not compressed as the table says. Where it says nothing, all are
 * left.
 */
async function fragmentsToCompress(
  engine: Engine,
  base: Snapshot,
  { compression, compressesAnew = false }: CompactOptions,
): Promise<Pick> {
  const { compression: property } = await storedProperties(engine, base.branch, base.manifest);
  const wanted = compression ?? property;
  if (wanted === 'none') return isCompressedEntry;
  if (compressesAnew) return () => true;
  // Fragments on which it was tried say so.
  return wanted === 'zstd' ? ({ compressed }) => compressed === undefined : undefined;
}

/**
 * The columns that a fragment does not hold and that stay out of what is written in its place;
 * undefined where all are written. A program that reads fragments alone wants every column there,
 * and a table that Lance does not open for its values gains nothing by fragments that are not joined.
 */
async function columnsLeftOut(
  engine: Engine,
  base: Snapshot,
  { plain }: CompactOptions,
): Promise<((entry: FragmentEntry) => readonly number[]) | undefined> {
  if (plain === true || !writesLance(engine, base)) return undefined;
  const optional = optionalStructs(base.fields.map(({ field }) => field));
  if (optional.length === 0) return undefined;
  const structs = base.fields.filter(({ field }) => optional.includes(field));
  if (!isOpenForLance(base)) {
    const entries = await base.fragments();
    if (!entries.some(isUnwritten) && entries.some(staysClosed)) return undefined;
  }
  return (entry) => absentStructs(structs, entry);
}

/** Written before the table was written for Lance: compaction then tries to open it once. */
const isUnwritten = ({ lance }: FragmentEntry): boolean => lance === undefined;

const staysClosed = ({ lance, deletion }: FragmentEntry): boolean =>
  lance !== undefined && 'problem' in lance && lance.inValues === true && deletion === undefined;

/** Picks the fragments that Lance cannot read and could if they were written anew. */
function fragmentsForLance(
  engine: Engine,
  base: Snapshot,
  entries: readonly FragmentEntry[],
): Pick {
  if (!writesLance(engine, base) || lanceFieldsOf(base) === undefined) return undefined;
  const columns = new Set(base.fields.map(({ id }) => id));
  const isFirst = entries.some(isUnwritten);
  return ({ lance, deletion, fields }) => {
    if (lance === undefined) return true;
    if (!('problem' in lance)) return false;
    // What its values hold may be in deleted rows, or in a column that was dropped.
    return (
      isFirst ||
      lance.inValues !== true ||
      deletion !== undefined ||
      !fields.every((id) => columns.has(id))
    );
  };
}

function expected(run: FragmentRun): CompactionReport {
  const rows = run.reduce((total, fragment) => total + liveRows(fragment), 0);
  const added = rows > 0 ? 1 : 0;
  return { ...NOTHING, fragmentsRemoved: run.length, fragmentsAdded: added, filesAdded: added };
}

/** The files that fragments of the runs use, and none that stays. */
function filesFreed(entries: readonly FragmentEntry[], runs: readonly FragmentRun[]): number {
  const gone = new Set<number>();
  for (const run of runs) for (const { id } of run) gone.add(id);
  const freed = new Set<string>();
  for (const entry of entries) if (gone.has(entry.id)) addFiles(freed, entry);
  if (gone.size === entries.length) return freed.size;
  const used = new Set<string>();
  for (const entry of entries) if (!gone.has(entry.id)) addFiles(used, entry);
  let shared = 0;
  for (const file of freed) if (used.has(file)) shared += 1;
  return freed.size - shared;
}

function addFiles(files: Set<string>, entry: FragmentEntry): void {
  for (const file of fileIds(entry)) files.add(file);
  if (entry.deletion !== undefined) files.add(entry.deletion.file);
}

const sum = (left: CompactionReport, right: CompactionReport): CompactionReport => ({
  fragmentsRemoved: left.fragmentsRemoved + right.fragmentsRemoved,
  fragmentsAdded: left.fragmentsAdded + right.fragmentsAdded,
  filesRemoved: left.filesRemoved + right.filesRemoved,
  filesAdded: left.filesAdded + right.filesAdded,
  version: right.version ?? left.version,
});

/** A run and what takes its place. */
interface Rewritten {
  readonly run: FragmentRun;
  readonly fragments: readonly NewFragment[];
}

function compactRuns(
  engine: Engine,
  base: Snapshot,
  runs: readonly FragmentRun[],
  options: CompactOptions,
): Promise<{ readonly report: CompactionReport; readonly again: boolean }> {
  return announced(engine, base.branch.tableFolder, (writing) =>
    replaceRuns(writing, base, runs, options),
  );
}

async function replaceRuns(
  engine: Engine,
  base: Snapshot,
  runs: readonly FragmentRun[],
  options: CompactOptions,
): Promise<{ readonly report: CompactionReport; readonly again: boolean }> {
  const { rewritten, durable } = await rewriteRuns(engine, base, runs, options);
  let used: readonly Rewritten[] = [];
  let version: number | undefined;
  try {
    const committed = await commit(engine, base.branch, {
      signal: options.signal,
      // What was replaced as a whole is noticed run by run, like any other change.
      survivesOverwrite: true,
      after: durable,
      build: async (newest) => {
        used = newest === undefined ? [] : await stillFitting(base, newest, rewritten);
        return newest === undefined || used.length === 0
          ? undefined
          : compacted(engine, newest, used);
      },
    });
    if (committed.transaction !== undefined) version = committed.snapshot.version;
  } catch (error) {
    if (!isDirspaceError(error, 'CommitStateUnknown')) await discard(engine, base, rewritten);
    throw error;
  }
  const left = rewritten.filter((one) => !used.includes(one));
  await discard(engine, base, left);
  const report = used
    .map(({ run, fragments }) => ({
      ...NOTHING,
      fragmentsRemoved: run.length,
      fragmentsAdded: fragments.length,
      filesAdded: fragments.length,
      version,
    }))
    .reduce(sum, NOTHING);
  const runsUsed = used.map(({ run }) => run);
  const filesRemoved = filesFreed(await base.fragments(), runsUsed);
  return { report: { ...report, filesRemoved }, again: left.length > 0 };
}

/** Reads and writes a few runs at a time; on any error nothing that was written stays. */
async function rewriteRuns(
  engine: Engine,
  base: Snapshot,
  runs: readonly FragmentRun[],
  options: CompactOptions,
): Promise<{ readonly rewritten: readonly Rewritten[]; readonly durable: Promise<unknown> }> {
  const rewritten: (Rewritten & { readonly durable: Promise<unknown> })[] = [];
  const limits = {
    ...engine.limits,
    fragmentRows: options.targetRows,
    fragmentBytes: options.targetBytes,
  };
  const compression =
    options.compression ?? (await compressionOf(engine, base.branch, base.manifest));
  const rowsTotal = runs.flat().reduce((rows, fragment) => rows + liveRows(fragment), 0);
  const leftOut = await columnsLeftOut(engine, base, options);
  let rowsDone = 0;
  let next = 0;
  /** Ends what the others are writing once one of them has failed. */
  const failing = new AbortController();
  const signal =
    options.signal === undefined
      ? failing.signal
      : AbortSignal.any([options.signal, failing.signal]);
  const rewrite = async (): Promise<void> => {
    for (let at = next++; at < runs.length; at = next++) {
      signal.throwIfAborted();
      const run = runs[at] as FragmentRun;
      // All fragments of a run are of one kind.
      const absent = leftOut?.(run[0] as FragmentEntry) ?? [];
      const fields =
        absent.length === 0 ? base.fields : base.fields.filter(({ id }) => !absent.includes(id));
      const schema = fields === base.fields ? base.schema : schemaOf(base, fields);
      const stream: RecordBatchStream = {
        schema,
        [Symbol.asyncIterator]: () => liveBatches(engine, base, schema, run),
      };
      const { fragments, durable, rows } = await writeFragments(
        { ...engine, limits },
        base.branch.tableFolder,
        stream,
        fields,
        {
          lance: writesLance(engine, base),
          // Fragments from before the table was open for Lance may hold rows of several kinds.
          structs: leftOut && 'kept',
          compression,
          notesCompression: compression !== 'none',
          required: 'unchecked',
          ahead: true,
          signal,
        },
      );
      rewritten.push({ run, fragments, durable });
      rowsDone += rows;
      options.onProgress?.({ rowsDone, rowsTotal });
    }
  };
  let failure: { readonly error: unknown } | undefined;
  const work = (): Promise<void> =>
    rewrite().catch((error: unknown) => {
      failure ??= { error };
      failing.abort(error);
    });
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
  if (failure !== undefined) {
    await discard(engine, base, rewritten);
    throw (failure as { readonly error: unknown }).error;
  }
  const durable = Promise.all(rewritten.map((one) => one.durable));
  // Awaited by the commit; until then it must not count as unhandled.
  durable.catch(() => {});
  return { rewritten, durable };
}

/** The live rows of some fragments in their order, with these columns as the version has them. */
async function* liveBatches(
  engine: Engine,
  snapshot: Snapshot,
  schema: Schema,
  fragments: readonly FragmentEntry[],
): AsyncGenerator<RecordBatch> {
  const names = schema.fields.map((field) => field.name);
  const turn = new Turn(engine.env);
  for (const entry of fragments) {
    if (turn.isOver()) await turn.pass();
    const deleted = await deletedRows(engine, snapshot, entry);
    const reader = await openFragment(engine, snapshot, entry, { fresh: true, turn });
    try {
      let first = 0;
      for (const [index, { rows }] of reader.footer.batches.entries()) {
        const kept = deleted?.keptBetween(first, rows);
        const count = selectedCount(kept, rows);
        first += rows;
        if (count === 0) continue;
        const place = { reader, entry, index, rows };
        yield recordBatch(schema, await readFields({ snapshot }, place, names, kept), count);
      }
    } finally {
      reader.close();
    }
  }
}

/** The runs whose fragments stand side by side in the newest version just as they were read. */
async function stillFitting(
  base: Snapshot,
  newest: Snapshot,
  rewritten: readonly Rewritten[],
): Promise<readonly Rewritten[]> {
  if (newest === base || newest.checksum === base.checksum) return rewritten;
  // Another schema: the new fragments were written under the old one, their statistics too.
  if (!hasSameSchema(base, newest)) return [];
  const fragments = await newest.fragments();
  const positions = new Map(fragments.map((fragment, at) => [fragment.id, at]));
  return rewritten.filter(({ run }) => {
    const start = positions.get(run[0]?.id ?? -1);
    if (start === undefined) return false;
    return run.every((entry, at) => isSame(entry, fragments[start + at]));
  });
}

const hasSameSchema = (base: Snapshot, newest: Snapshot): boolean =>
  base.manifest.schema === newest.manifest.schema ||
  (base.manifest.fieldIds.join() === newest.manifest.fieldIds.join() &&
    JSON.stringify(base.manifest.schema) === JSON.stringify(newest.manifest.schema));

const isSame = (before: FragmentEntry, now: FragmentEntry | undefined): boolean =>
  before === now ||
  (before.id === now?.id &&
    fileIds(before).join() === fileIds(now).join() &&
    before.deletion?.file === now.deletion?.file);

async function compacted(
  engine: Engine,
  newest: Snapshot,
  used: readonly Rewritten[],
): Promise<Draft> {
  const { manifest } = newest;
  const spliced = new Map<number, readonly FragmentEntry[]>();
  const removed = new Set<number>();
  let nextFragmentId = manifest.nextFragmentId;
  let added = 0;
  const joined: JoinedFragments[] = [];
  for (const { run, fragments } of used) {
    const [first, ...rest] = run;
    if (first === undefined) continue;
    const entries = fragments.map((fragment) => ({ ...fragment, id: nextFragmentId++ }));
    spliced.set(first.id, entries);
    joined.push({ before: run, after: entries });
    for (const { id } of rest) removed.add(id);
    added += fragments.length;
  }
  return {
    kind: 'compact',
    summary: { removed_fragments: removed.size + spliced.size, added_fragments: added },
    schema: manifest.schema,
    fieldIds: manifest.fieldIds,
    nextFieldId: manifest.nextFieldId,
    nextFragmentId,
    metadata: manifest.metadata,
    fragments: await editFragments(engine, newest.branch.tableFolder, fragmentListOf(manifest), {
      spliced,
      removed,
    }),
    indexes: joinedIndexes(newest, joined),
  };
}

/** Takes away fragments that no version will refer to. */
const discard = (
  engine: Engine,
  base: Snapshot,
  rewritten: readonly { readonly fragments: readonly NewFragment[] }[],
): Promise<void> => {
  const fragments = rewritten.flatMap((run) => run.fragments);
  return removeFragments(engine, base.branch.tableFolder, fragments);
};
