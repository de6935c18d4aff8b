/**
 * `countWhere` counts the rows of a snapshot that match a predicate; `countMatches` counts those of
 * a plan, without its limit and offset. Fragments and batches are not read if statistics show that
 * all or none of their rows match, and neither are fragments that an index has counted. Faulty SQL
 * throws InvalidInput, and an unknown column TableColumnNotFound.
 */
import type { FragmentEntry } from '../../format/index.ts';
import { type CountKernels, countKernels } from '../../sql/index.ts';
import type { Awaitable } from '../../store/index.ts';
import { type CountedRows, countIndexed } from '../indexes/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { andThen, LentColumns, type MemorySource, type Scratch } from '../work/index.ts';
import {
  type BatchPlace,
  matchingRows,
  overColumns,
  rowsOf,
  selectedCount,
  verdictOf,
} from './batch-rows.ts';
import { pipelined } from './scan.ts';
import { planScan, type ScanPlan } from './scan-plan.ts';
import { countRows } from './slices.ts';

/** How many rows of a snapshot a predicate selects. @throws InvalidInput, TableColumnNotFound */
export async function countWhere(
  engine: Engine,
  snapshot: Snapshot,
  filter: string,
  signal?: AbortSignal,
): Promise<number> {
  return countMatches(await planScan(engine, snapshot, { columns: [], filter, signal }));
}

export async function countMatches(given: ScanPlan): Promise<number> {
  const known = await countByIndex(given);
  let count = known?.count ?? 0;
  if (known?.isAll === true) return count;
  const plan =
    known === undefined
      ? given
      : { ...given, isNeedless: ({ id }: FragmentEntry) => known.fragments.has(id) };
  const add = (rows: number): void => {
    count += rows;
  };
  const counts = pipelined(plan, (place) => matchingCount(plan, place), undefined, add);
  for await (const found of counts) count += found;
  return count;
}

/** Counts with indexes alone, without reading a row; undefined if they cannot tell. */
async function countByIndex(plan: ScanPlan): Promise<CountedRows | undefined> {
  const { engine, snapshot, predicate } = plan;
  if (predicate === undefined || plan.indexNote === undefined) return undefined;
  const found = countIndexed(engine, snapshot, predicate);
  return found instanceof Promise ? await found : found;
}

function matchingCount(plan: ScanPlan, place: BatchPlace): Awaitable<number> {
  const { predicate } = plan;
  const isNamed = plan.indexed?.covered.has(place.entry.id) === true;
  if (
    predicate === undefined ||
    isNamed ||
    place.deleted !== undefined ||
    predicate.usesRowOffset
  ) {
    return andThen(matchingRows(plan, place), (rows) => selectedCount(rows, place.rows));
  }
  const verdict = verdictOf(plan, place, predicate);
  if (verdict === 'none') return 0;
  if (verdict === 'all') return place.rows;
  const { scratch } = plan.engine;
  const lent = new LentColumns(predicate.columns.length === 1 ? nearKernels(scratch) : scratch);
  return overColumns(plan, place, predicate.columns, lent, (columns) => {
    const [only] = columns;
    const direct = only && columns.length === 1 ? predicate.countColumn(only) : null;
    return direct ?? countRows(plan, predicate, rowsOf(plan, predicate, columns, place));
  });
}

/**
 * Memory of the kernels as far as it goes, so that values read into it are counted where they lie.
 */
function nearKernels(scratch: Scratch): MemorySource {
  const kernels = countKernels();
  return kernels === null ? scratch : new KernelMemory(kernels, scratch);
}

class KernelMemory implements MemorySource {
  readonly #kernels: CountKernels;
  readonly #scratch: Scratch;

  constructor(kernels: CountKernels, scratch: Scratch) {
    this.#kernels = kernels;
    this.#scratch = scratch;
  }

  take(bytes: number): Uint8Array {
    return this.#kernels.take(bytes) ?? this.#scratch.take(bytes);
  }

  give(memory: Uint8Array): void {
    if (!this.#kernels.give(memory)) this.#scratch.give(memory);
  }
}
