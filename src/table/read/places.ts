/**
 * `Places` iterates over the batches of a scan in row order. It skips fragments that cannot match
 * the predicate or that the plan rules out, and without a predicate those within the offset;
 * batch-rows.ts skips single batches. For counts, it passes over fragments whose rows all match by
 * statistics, and tells how many they are. `next` returns a promise only if it has to wait, and
 * undefined past the last batch. The reader of a batch is open until the next call, the last one
 * until `close`. `fragmentPlaces` iterates over the batches of one fragment, and reserves the
 * server's memory for each.
 */
import { type FragmentEntry, type FragmentExtent, liveRows } from '../../format/index.ts';
import type { Awaitable } from '../../store/index.ts';
import {
  type DeletedRows,
  deletedRows,
  FragmentCursor,
  type FragmentReader,
  openFragment,
  type ReadPurpose,
} from '../fragments/index.ts';
import { andThen, Turn } from '../work/index.ts';
import type { BatchPlace } from './batch-rows.ts';
import { namesRowsBetween, namesRowsOf } from './named-rows.ts';
import { batchInLine, batchNow, placeBytes } from './passing-batch.ts';
import { pruneFragment } from './pruning.ts';
import type { ScanPlan } from './scan-plan.ts';

export class Places {
  readonly #plan: ScanPlan;
  readonly #cursor: FragmentCursor;
  readonly #window: { skip: number };
  readonly #allMatch: ((rows: number) => void) | undefined;
  readonly #purpose: ReadPurpose & { readonly turn: Turn };
  #batches: FragmentBatches | undefined;

  /**
   * Without a predicate whole fragments of rows to be skipped are passed over, and taken off
   * `window.skip`.
   * @param allMatch is told of the rows of fragments that all match by their statistics, which are
   * passed over then
   */
  constructor(
    plan: ScanPlan,
    window: { skip: number } = { skip: 0 },
    allMatch?: (rows: number) => void,
  ) {
    this.#plan = plan;
    this.#window = window;
    this.#allMatch = allMatch;
    const { engine, snapshot, keep, fresh, counters } = plan;
    this.#purpose = { keep, fresh, counters, turn: new Turn(engine.env) };
    this.#cursor = new FragmentCursor(
      engine,
      snapshot,
      (run, position) => this.#isWanted(run, position),
      (run) => this.#pass(run),
    );
  }

  /** Undefined past the last one. The reader of a place is open until the next step. */
  next(): Awaitable<BatchPlace | undefined> {
    const { turn } = this.#purpose;
    return turn.isOver() ? turn.pass().then(() => this.#step()) : this.#step();
  }

  #step(): Awaitable<BatchPlace | undefined> {
    for (;;) {
      const place = this.#batches?.next();
      if (place !== undefined) return place;
      this.close();
      const entry = this.#nextEntry();
      if (entry instanceof Promise) {
        return entry.then((found) => {
          if (found === undefined) return undefined;
          return andThen(this.#open(found), () => this.next());
        });
      }
      if (entry === undefined) return undefined;
      const opened = this.#open(entry);
      if (opened instanceof Promise) return opened.then(() => this.next());
    }
  }

  /** Closes the reader of the last place. */
  close(): void {
    this.#batches?.close();
    this.#batches = undefined;
  }

  #open(entry: FragmentEntry): Awaitable<void> {
    const { first } = this.#cursor;
    return andThen(openBatches(this.#plan, entry, first, this.#purpose), (batches) => {
      this.#batches = batches;
    });
  }

  /** The next fragment that has to be read. */
  #nextEntry(): Awaitable<FragmentEntry | undefined> {
    const { turn } = this.#purpose;
    for (;;) {
      const next = this.#cursor.next();
      if (next instanceof Promise) {
        return next.then((entry) =>
          entry === undefined || this.#isRead(entry) ? entry : this.#nextEntry(),
        );
      }
      if (next === undefined || this.#isRead(next)) return next;
      if (turn.isOver()) return turn.pass().then(() => this.#nextEntry());
    }
  }

  #isRead(entry: FragmentEntry): boolean {
    const { snapshot, predicate, isNeedless, counters, signal } = this.#plan;
    signal?.throwIfAborted();
    counters.fragments += 1;
    if (isNeedless?.(entry) === true) {
      counters.fragmentsPruned += 1;
      return false;
    }
    if (this.#plan.indexed?.isChoice === true && this.#plan.indexed.covered.has(entry.id))
      return this.#plan.indexed.rows.has(entry.id);
    if (predicate === undefined) {
      const live = liveRows(entry);
      if (!namesRowsOf(this.#plan, entry, this.#cursor.first)) {
        counters.fragmentsPruned += 1;
        return false;
      }
      if (this.#window.skip < live) return true;
      this.#window.skip -= live;
      return false;
    }
    if (namesRowsOf(this.#plan, entry, this.#cursor.first)) {
      const matching = pruneFragment(predicate, snapshot, entry);
      if (matching === 'some' || (matching === 'all' && this.#allMatch === undefined)) return true;
      if (matching === 'all') this.#allMatch?.(liveRows(entry));
    }
    counters.fragmentsPruned += 1;
    return false;
  }

  /** Whether any fragment of a run may have to be read, as far as its counts and ids tell. */
  #isWanted(run: FragmentExtent, position: number): boolean {
    this.#plan.signal?.throwIfAborted();
    const live = run.rows - run.deletedRows;
    if (this.#plan.predicate === undefined) return this.#window.skip < live;
    return namesRowsBetween(this.#plan, run, position);
  }

  #pass(run: FragmentExtent): void {
    const { predicate, counters } = this.#plan;
    counters.fragments += run.fragments;
    if (predicate === undefined) this.#window.skip -= run.rows - run.deletedRows;
    else counters.fragmentsPruned += run.fragments;
  }
}

/** The batches of one fragment, whose first live row has this position in the version. */
export async function* fragmentPlaces(
  plan: ScanPlan,
  entry: FragmentEntry,
  position: number,
  turn: Turn = new Turn(plan.engine.env),
): AsyncGenerator<BatchPlace> {
  const batches = await openBatches(plan, entry, position, plan);
  try {
    for (let place = batches.next(); place !== undefined; place = batches.next()) {
      const bytes = placeBytes(plan, place);
      const passing = batchNow(plan, bytes) ?? (await batchInLine(plan, bytes));
      try {
        yield place;
      } finally {
        passing.end();
      }
      if (turn.isOver()) await turn.pass();
    }
  } finally {
    batches.close();
  }
}

const openBatches = (
  plan: ScanPlan,
  entry: FragmentEntry,
  position: number,
  purpose: ReadPurpose,
): Awaitable<FragmentBatches> =>
  andThen(deletedRows(plan.engine, plan.snapshot, entry), (deleted) =>
    andThen(
      openFragment(plan.engine, plan.snapshot, entry, purpose),
      (reader) => new FragmentBatches(plan, entry, reader, deleted, position),
    ),
  );

class FragmentBatches {
  readonly #signal: AbortSignal | undefined;
  readonly #entry: FragmentEntry;
  readonly #reader: FragmentReader;
  readonly #deleted: DeletedRows | undefined;
  #index = 0;
  #first = 0;
  #position: number;

  constructor(
    { signal }: ScanPlan,
    entry: FragmentEntry,
    reader: FragmentReader,
    deleted: DeletedRows | undefined,
    position: number,
  ) {
    this.#signal = signal;
    this.#entry = entry;
    this.#reader = reader;
    this.#deleted = deleted;
    this.#position = position;
  }

  next(): BatchPlace | undefined {
    const batch = this.#reader.footer.batches[this.#index];
    if (batch === undefined) return undefined;
    this.#signal?.throwIfAborted();
    const { rows } = batch;
    const first = this.#first;
    const place = {
      reader: this.#reader,
      entry: this.#entry,
      deleted: this.#deleted,
      index: this.#index,
      first,
      rows,
      position: this.#position,
    };
    this.#index += 1;
    this.#position += rows - (this.#deleted?.countBetween(first, rows) ?? 0);
    this.#first += rows;
    return place;
  }

  close(): void {
    this.#reader.close();
  }
}
