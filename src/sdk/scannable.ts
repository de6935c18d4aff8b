/**
 * `Scannable` is a source of record batches whose schema is known beforehand, as in LanceDB's SDK.
 * It is made of a factory, a table, an iterable or a reader, and can be passed to any method that
 * takes data. No record batch is read before a scan begins. A second scan throws InvalidInput
 * unless the source is rescannable: tables always are, factories by default, and iterables if
 * declared so. To declare an iterator or a reader rescannable throws InvalidInput too, and so does
 * another number of rows for a table. Otherwise `numRows` is not compared with the rows, and is
 * null if not given.
 */
import type { RecordBatch } from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import { type SchemaLike, toSchema } from './convert/index.ts';
import { checkCount } from './query/index.ts';

/** What is known of a source. */
export interface ScannableOptions {
  /** How many rows it has; not compared with what comes. */
  readonly numRows?: number;
  /** Whether it can be scanned more than once. */
  readonly rescannable?: boolean;
}

/** A record batch of any copy of apache-arrow. */
interface Batch {
  readonly schema: SchemaLike;
  readonly data: { readonly length: number };
}

type Batches = Iterable<Batch> | AsyncIterable<Batch>;
type Iterators = Iterator<Batch> | AsyncIterator<Batch>;

/** A schema and the batches of it, which are made when they are asked for. */
export class Scannable implements AsyncIterable<RecordBatch> {
  readonly schema: ReturnType<typeof toSchema>;
  readonly numRows: number | null;
  readonly rescannable: boolean;
  readonly #open: () => Batches | Iterators;
  #scans = 0;

  private constructor(
    schema: SchemaLike,
    open: () => Batches | Iterators,
    numRows: number | undefined,
    rescannable: boolean,
  ) {
    this.schema = toSchema(schema);
    this.numRows = numRows === undefined ? null : checkCount('numRows', numRows);
    this.rescannable = rescannable;
    this.#open = open;
  }

  /** Of a function that gives the batches anew for each scan. */
  static async fromFactory(
    schema: SchemaLike,
    factory: () => Batches | Iterators,
    opts: ScannableOptions = {},
  ): Promise<Scannable> {
    return new Scannable(schema, factory, opts.numRows, opts.rescannable ?? true);
  }

  /** Of a table, which can always be scanned again. @throws InvalidInput for options that contradict it */
  static async fromTable(
    table: { readonly schema: SchemaLike; readonly batches: readonly Batch[] },
    opts: ScannableOptions = {},
  ): Promise<Scannable> {
    const rows = table.batches.reduce((sum, { data }) => sum + data.length, 0);
    if (opts.rescannable === false || (opts.numRows !== undefined && opts.numRows !== rows)) {
      throw new DirspaceError(
        'InvalidInput',
        `The table has ${rows} rows and can be scanned again; leave numRows and rescannable out.`,
      );
    }
    return new Scannable(table.schema, () => table.batches, rows, true);
  }

  /** Of batches that come one by one. @throws InvalidInput for an iterator that is said to be rescannable */
  static async fromIterable(
    schema: SchemaLike,
    iter: Batches,
    opts: ScannableOptions = {},
  ): Promise<Scannable> {
    if (opts.rescannable === true && isIterator(iter)) {
      throw new DirspaceError(
        'InvalidInput',
        'The batches come from a one-shot iterator, and rescannable is true; leave it out, or use Scannable.fromFactory.',
      );
    }
    return new Scannable(schema, () => iter, opts.numRows, opts.rescannable ?? false);
  }

  /** Of a reader of Arrow IPC, whose schema it opens. */
  static async fromRecordBatchReader(
    reader: Batches & { readonly schema: SchemaLike; open?(): unknown },
    opts: ScannableOptions = {},
  ): Promise<Scannable> {
    if (opts.rescannable === true) {
      throw new DirspaceError(
        'InvalidInput',
        'A reader is scanned once and does not accept rescannable; leave it out, or use Scannable.fromFactory.',
      );
    }
    await reader.open?.();
    return Scannable.fromIterable(reader.schema, reader, opts);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RecordBatch, void, undefined> {
    if (this.#scans++ > 0 && !this.rescannable) {
      throw new DirspaceError(
        'InvalidInput',
        'The Scannable was scanned already and is not rescannable; make another, or one of a table or a factory.',
      );
    }
    const source = this.#open();
    const isIterator =
      'next' in source && !(Symbol.iterator in source) && !(Symbol.asyncIterator in source);
    // Batches of another copy of apache-arrow are rebuilt where they are taken.
    yield* (isIterator ? items(source as Iterators) : source) as AsyncIterable<RecordBatch>;
  }
}

/** Whether it can be iterated only once, as a generator or a bare iterator can; reads no batch. */
function isIterator(iter: Batches | Iterators): boolean {
  const given = (iter ?? {}) as Partial<Iterable<Batch> & AsyncIterable<Batch>>;
  const begun = given[Symbol.asyncIterator]?.() ?? given[Symbol.iterator]?.();
  return begun === undefined ? 'next' in given : Object.is(begun, iter);
}

async function* items(iterator: Iterators): AsyncGenerator<Batch> {
  let isDone = false;
  try {
    for (;;) {
      const step = await iterator.next();
      if (step.done) {
        isDone = true;
        return;
      }
      yield step.value;
    }
  } finally {
    if (!isDone) await iterator.return?.();
  }
}
