/**
 * `Places`: iterates over the batches of a scan in row order, and skips fragments that cannot match
 * the predicate or are needless (batch-rows.ts skips single batches). `next` returns a promise only where it has to
 * wait. `fragmentPlaces` iterates over one fragment and reserves the server's memory for each
 * batch.
 */
import { type FragmentEntry, liveRows } from '../../format/index.ts';
import type { Awaitable } from '../../store/index.ts';
import {
  type DeletedRows,
  deletedRows,
  type FragmentReader,
  openFragment,
  type ReadPurpose,
} from '../fragments/index.ts';
import { andThen, Turn } from '../work/index.ts';
import type { BatchPlace } from './batch-rows.ts';
import { namesRowsOf } from './named-rows.ts';
import { batchInLine, batchNow, placeBytes } from './passing-batch.ts';
import { pruneFragment } from './pruning.ts';
import type { ScanPlan } from './scan-plan.ts';

export class Places {
  readonly #plan: ScanPlan;
  readonly #entries: readonly FragmentEntry[];
  readonly #window: { skip: number };
  readonly #purpose: ReadPurpose & { readonly turn: Turn };
  #next = 0;
  #position = 0;
  #batches: FragmentBatches | undefined;

  /**
   * Without a predicate whole fragments of rows to be skipped are passed over, and taken off
   * `window.skip`.
   */
  constructor(
    plan: ScanPlan,
    entries: readonly FragmentEntry[],
    window: { skip: number } = { skip: 0 },
  ) {
    this.#plan = plan;
    this.#entries = entries;
    this.#window = window;
    const { keep, fresh, counters } = plan;
    this.#purpose = { keep, fresh, counters, turn: new Turn(plan.engine.env) };
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
    const first = this.#position - liveRows(entry);
    return andThen(openBatches(this.#plan, entry, first, this.#purpose), (batches) => {
      this.#batches = batches;
    });
  }

  #nextEntry(): FragmentEntry | undefined {
    const { snapshot, predicate, isNeedless, counters, signal } = this.#plan;
    while (this.#next < this.#entries.length) {
      signal?.throwIfAborted();
      const entry = this.#entries[this.#next++] as FragmentEntry;
      const live = liveRows(entry);
      const first = this.#position;
      this.#position += live;
      counters.fragments += 1;
      if (isNeedless?.(entry) === true) {
        counters.fragmentsPruned += 1;
        continue;
      }
      if (predicate === undefined) {
        if (this.#window.skip < live) return entry;
        this.#window.skip -= live;
      } else {
        const named = namesRowsOf(this.#plan, entry, first);
        if (named && pruneFragment(predicate, snapshot, entry) !== 'none') return entry;
        counters.fragmentsPruned += 1;
      }
    }
    return undefined;
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
