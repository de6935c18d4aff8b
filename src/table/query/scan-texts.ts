/**
 * `TextScan` does the part of a full-text search that reads texts: those of the fragments that no
 * index covers, in row order and in short steps. `findTerms` collects the terms that fuzzy words
 * and prefixes stand for. `collect` counts the words of the query in all live rows, for the
 * statistics. With a prefilter, it collects as results only the rows that match the predicate too.
 */
import type { Data } from '../../arrow/index.ts';
import type { FragmentEntry } from '../../format/index.ts';
import type { HeldMemory } from '../../request-memory.ts';
import type { SearchPlan, TermFinder, TextCollector } from '../../search/index.ts';
import type { Awaitable } from '../../store/index.ts';
import { readFields } from '../fragments/index.ts';
import {
  type BatchPlace,
  matchingRows,
  pipelined,
  planScan,
  readSelected,
  type ScanPlan,
  type ScanRequest,
  type Selection,
  type TableRows,
} from '../read/index.ts';
import { andThen, inTurns, LentColumns } from '../work/index.ts';
import { TextReader, textColumn } from './text-column.ts';

/** The texts of one batch of rows. */
interface TextBatch {
  readonly place: BatchPlace;
  readonly columns: readonly Data[];
  readonly lent: LentColumns;
  /** Rows that are not deleted. */
  readonly live: Selection;
  /** The live rows that match the predicate. */
  readonly wanted: Selection;
}

/** Bytes of texts that are read between two steps. */
const STEP_BYTES = 1 << 16;

export class TextScan {
  readonly #plan: ScanPlan;
  readonly #filter: ScanPlan | undefined;
  readonly #rows: TableRows;
  /** The columns as they are stored; undefined where some are fields of structs. */
  readonly #names: readonly string[] | undefined;
  readonly #needsPositions: boolean;

  private constructor(
    plan: ScanPlan,
    filter: ScanPlan | undefined,
    rows: TableRows,
    names: readonly string[] | undefined,
    needsPositions: boolean,
  ) {
    this.#needsPositions = needsPositions;
    this.#plan = plan;
    this.#rows = rows;
    this.#filter = filter;
    this.#names = names;
  }

  static async of(
    { engine, snapshot, memory }: ScanPlan,
    request: ScanRequest & { readonly prefilter: boolean },
    { columns, needsPositions }: SearchPlan,
    rows: TableRows,
    covered: ReadonlySet<number>,
  ): Promise<TextScan> {
    const { counters, signal, filter } = request;
    const texts = columns.map(({ column }) => textColumn(snapshot, column));
    const names = texts.every(({ isWhole }) => isWhole) ? texts.map(({ name }) => name) : undefined;
    const sql = Object.fromEntries(texts.map((text, at) => [`text ${at}`, text.sql]));
    const shared = { counters, signal, memory };
    const isNeedless = (entry: FragmentEntry): boolean => covered.has(entry.id);
    const all = await planScan(engine, snapshot, { columns: names ?? sql, ...shared });
    const plan = covered.size === 0 ? all : { ...all, isNeedless };
    const filtering =
      request.prefilter && filter !== undefined
        ? await planScan(engine, snapshot, { columns: [], filter, ...shared })
        : undefined;
    return new TextScan(plan, filtering, rows, names, needsPositions);
  }

  async findTerms(finder: TermFinder): Promise<void> {
    for await (const batch of this.#batches(undefined)) {
      await this.#inTurns(batch, foundTerms(batch, finder));
    }
  }

  async collect(collector: TextCollector, held: HeldMemory): Promise<void> {
    for await (const batch of this.#batches(this.#filter)) {
      const { entry, first } = batch.place;
      const start = this.#rows.startOf(entry.id) + first;
      await this.#inTurns(batch, collected(batch, collector, start, this.#needsPositions));
      held.set(2 * collector.heldBytes);
    }
  }

  async #inTurns(batch: TextBatch, steps: Generator<void, void>): Promise<void> {
    await inTurns(this.#plan.turn, steps, this.#plan.signal);
    batch.lent.giveBack();
  }

  #batches(filter: ScanPlan | undefined): AsyncGenerator<TextBatch> {
    const plan = this.#plan;
    return pipelined(plan, (place) =>
      andThen(matchingRows(plan, place), (live) => {
        if (live?.length === 0) return undefined;
        const found = filter === undefined ? live : matchingRows(filter, place);
        const lent = new LentColumns(plan.engine.scratch);
        return andThen(found, (wanted) =>
          andThen(this.#read(place, lent), (columns) => ({ place, columns, lent, live, wanted })),
        );
      }),
    );
  }

  #read(place: BatchPlace, lent: LentColumns): Awaitable<Data[]> {
    return this.#names === undefined
      ? readSelected(this.#plan, place, undefined)
      : readFields(this.#plan, place, this.#names, undefined, lent);
  }
}

function* foundTerms({ columns, live, place }: TextBatch, finder: TermFinder): Generator<void> {
  for (const [column, data] of columns.entries()) {
    const reader = new TextReader(data);
    let bytes = 0;
    for (let at = 0; at < (live?.length ?? place.rows); at++) {
      const count = reader.textsOf(live === undefined ? at : (live[at] as number));
      yield* finder.add(column, { bytes: reader.bytes, ranges: reader.ranges, count });
      bytes += 64 + bytesIn(reader.ranges);
      if (bytes < STEP_BYTES) continue;
      bytes = 0;
      yield;
    }
  }
}

function bytesIn(ranges: readonly number[]): number {
  let bytes = 0;
  for (let at = 1; at < ranges.length; at += 2) {
    bytes += (ranges[at] as number) - (ranges[at - 1] as number);
  }
  return bytes;
}

/** @param position of the first row of the batch among all of the table */
function* collected(
  { columns, live, wanted, place }: TextBatch,
  collector: TextCollector,
  position: number,
  needsPositions: boolean,
): Generator<void> {
  const readers = columns.map((data) => new TextReader(data));
  let bytes = 0;
  let next = 0;
  const rows = live?.length ?? place.rows;
  for (let at = 0; at < rows; at++) {
    const row = live === undefined ? at : (live[at] as number);
    for (let column = 0; column < readers.length; column++) {
      const reader = readers[column] as TextReader;
      if (reader.isPlain) {
        if (reader.isNull(row)) continue;
        const from = reader.from(row);
        const to = reader.to(row);
        bytes += to - from;
        if (collector.isShort(column, to - from)) {
          collector.addShort(column, reader.bytes, from, to);
          continue;
        }
      }
      const count = reader.textsOf(row);
      yield* collector.add(column, { bytes: reader.bytes, ranges: reader.ranges, count });
      bytes += bytesIn(reader.ranges);
    }
    const isWanted = wanted === undefined || wanted[next] === row;
    if (isWanted) next += 1;
    if (needsPositions) yield* collector.findPhrases();
    bytes += 64 + 4 * collector.end(isWanted ? position + row : undefined);
    if (bytes < STEP_BYTES) continue;
    bytes = 0;
    yield;
  }
}
