/**
 * `permutationBuilder` returns a `PermutationBuilder`, whose `execute` creates a table for
 * training: the row ids of another table (`row_id`), in row order or shuffled, each with the number
 * of its split (`split_id`). Rows in no split are left out; without splits all have the number 0.
 * The new table is in memory unless `persist` names a place for it. All row ids are read into
 * memory at once. A seed gives the same order for the same rows, though not LanceDB's; without a
 * seed a default one is used. Wrong options, and splits that the rows cannot fill, throw
 * InvalidInput; a table that changes during each of five readings throws ConcurrentModification.
 */
import {
  dataOf,
  Field,
  type RecordBatch,
  recordBatch,
  recordBatchStream,
  Schema,
  Uint64,
} from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import { quotedName } from '../sql-quotes.ts';
import { connect } from './connect.ts';
import type { Connection } from './connection.ts';
import { defined, onlyOptions } from './handles/index.ts';
import { checkCount } from './query/index.ts';
import type { Table } from './table/index.ts';

/** How large the splits are: one of `ratios`, `counts` and `fixed`. */
export interface SplitSequentialOptions {
  /** Shares of all rows; what is left of 1 is in no split. */
  readonly ratios?: number[];
  /** Numbers of rows. */
  readonly counts?: number[];
  /** So many splits of equal size. */
  readonly fixed?: number;
  readonly splitNames?: string[];
}

/** Splits of rows drawn at random. */
export interface SplitRandomOptions extends SplitSequentialOptions {
  readonly seed?: number;
  /** Rows that stay together. */
  readonly clumpSize?: number;
}

/** Splits by the values of columns: equal ones are in one split. */
export interface SplitHashOptions {
  readonly columns: string[];
  readonly splitWeights: number[];
  /** The weight of rows that are in no split. */
  readonly discardWeight?: number;
  readonly splitNames?: string[];
}

/** Splits by an SQL expression that gives their numbers, from 0 on. */
export interface SplitCalculatedOptions {
  readonly calculation: string;
  readonly splitNames?: string[];
}

/** An order at random. */
export interface ShuffleOptions {
  readonly seed?: number;
  /** Rows that stay together. */
  readonly clumpSize?: number;
}

/** Row ids in their order, each with its split. */
interface Rows {
  readonly ids: BigUint64Array;
  readonly splits: BigUint64Array;
}

interface Split {
  readonly names: readonly string[] | undefined;
  /** Names or expressions that it reads beside the row ids. */
  readonly columns: Readonly<Record<string, string>>;
  divide(ids: BigUint64Array, values: readonly Record<string, unknown>[]): Rows;
}

const SIZES = ['ratios', 'counts', 'fixed', 'splitNames'] as const;

/** Methods change the builder and answer it; the last split that is asked for counts. */
export class PermutationBuilder {
  readonly #table: Table;
  #split: Split | undefined;
  #shuffle: ShuffleOptions | undefined;
  #filter: string | undefined;
  #kept: { readonly connection: Connection; readonly name: string } | undefined;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Keeps the permutation as a table; it is in memory otherwise. */
  persist(connection: Connection, tableName: string): this {
    this.#kept = { connection, name: tableName };
    return this;
  }

  splitRandom(options: SplitRandomOptions): this {
    onlyOptions(options, [...SIZES, 'seed', 'clumpSize'], 'splitRandom');
    const { seed, clumpSize } = options;
    const sequential = sequentialSplit(options);
    const divide: Split['divide'] = (ids, values) =>
      sequential.divide(shuffled(ids, defined({ seed, clumpSize })), values);
    this.#split = { ...sequential, divide };
    return this;
  }

  splitSequential(options: SplitSequentialOptions): this {
    onlyOptions(options, SIZES, 'splitSequential');
    this.#split = sequentialSplit(options);
    return this;
  }

  splitHash(options: SplitHashOptions): this {
    const known = ['columns', 'splitWeights', 'discardWeight', 'splitNames'];
    onlyOptions(options, known, 'splitHash');
    const { columns, splitWeights, discardWeight = 0, splitNames } = options;
    if (!Array.isArray(columns) || !Array.isArray(splitWeights) || splitWeights.length === 0) {
      throw new DirspaceError(
        'InvalidInput',
        'splitHash takes names of columns and a weight for each split, such as {columns: ["k"], splitWeights: [3, 1]}.',
      );
    }
    for (const weight of splitWeights) checkCount('A weight of splitHash', weight, 1);
    checkNames(splitNames, splitWeights.length);
    const total = splitWeights.reduce(
      (sum, one) => sum + one,
      checkCount('discardWeight', discardWeight),
    );
    this.#split = {
      names: splitNames,
      // Not by their own names, of which one may be that of the row ids.
      columns: Object.fromEntries(columns.map((name, at) => [`key_${at}`, quotedName(name)])),
      divide: (ids, values) =>
        chosen(ids, (at) => {
          let place = hashOf(columns.map((_, key) => values[at]?.[`key_${key}`])) % total;
          for (const [split, weight] of splitWeights.entries()) {
            if (place < weight) return split;
            place -= weight;
          }
          return undefined;
        }),
    };
    return this;
  }

  splitCalculated(options: SplitCalculatedOptions): this {
    onlyOptions(options, ['calculation', 'splitNames'], 'splitCalculated');
    const { calculation, splitNames } = options;
    this.#split = {
      names: splitNames,
      columns: { split: calculation },
      divide: (ids, values) =>
        chosen(ids, (at) => {
          const split = Number(values[at]?.split);
          if (Number.isSafeInteger(split) && split >= 0 && values[at]?.split !== null) return split;
          throw new DirspaceError(
            'InvalidInput',
            `The calculation gives ${String(values[at]?.split)} for the row with the id ${ids[at]}; the number of a split is a whole number from 0 on.`,
          );
        }),
    };
    return this;
  }

  shuffle(options: ShuffleOptions = {}): this {
    onlyOptions(options, ['seed', 'clumpSize'], 'shuffle');
    this.#shuffle = options;
    return this;
  }

  /** Only rows that fit the SQL predicate. */
  filter(filter: string): this {
    this.#filter = filter;
    return this;
  }

  /**
   * Makes the table; its metadata have `base_version` and, where splits were named, `split_names`.
   * @throws ConcurrentModification if the table changes during each of MOST_READINGS readings
   */
  async execute(): Promise<Table> {
    const split = this.#split;
    const { version, values } = await this.#read();
    const ids = BigUint64Array.from(values, (row) => BigInt(row.row_id as bigint));
    const divided = split?.divide(ids, values) ?? chosen(ids, () => 0);
    const rows = this.#shuffle === undefined ? divided : regrouped(divided, this.#shuffle);
    const metadata = new Map([['base_version', String(version)]]);
    if (split?.names !== undefined) metadata.set('split_names', JSON.stringify(split.names));
    const { connection, name } = this.#kept ?? {
      connection: await connect('memory://'),
      name: 'permutation',
    };
    return connection.createTable(name, batchesOf(rows, metadata));
  }

  /** Row ids with the values that splits depend on, and the version that they are of. */
  async #read(): Promise<{ version: number; values: Record<string, unknown>[] }> {
    for (let reading = 0; reading < MOST_READINGS; reading++) {
      const version = await this.#table.version();
      const query = this.#table.query().select({ row_id: '_rowid', ...this.#split?.columns });
      if (this.#filter !== undefined) query.where(this.#filter);
      const values = (await query.toArray()) as Record<string, unknown>[];
      if ((await this.#table.version()) === version) return { version, values };
    }
    throw new DirspaceError(
      'ConcurrentModification',
      `${this.#table.display()} changed each time that its rows were read. Check out the version that the permutation is to be of.`,
    );
  }
}

/** Readings of a table to which others commit meanwhile. */
const MOST_READINGS = 5;

/** Names the rows of a table in an order, divided into splits. */
export const permutationBuilder = (table: Table): PermutationBuilder =>
  new PermutationBuilder(table);

function sequentialSplit(options: SplitSequentialOptions): Split {
  const { ratios, counts, fixed, splitNames } = options;
  if ([ratios, counts, fixed].filter((one) => one !== undefined).length !== 1) {
    throw new DirspaceError(
      'InvalidInput',
      "Exactly one of 'ratios', 'counts', or 'fixed' must be provided for the splits.",
    );
  }
  checkNames(
    splitNames,
    ratios?.length ?? counts?.length ?? checkCount('fixed', fixed as number, 1),
  );
  const sum = (ratios ?? []).reduce((all, ratio) => all + ratio, 0);
  if (ratios?.some((ratio) => !(ratio > 0)) || sum > 1 + 1e-9) {
    throw new DirspaceError(
      'InvalidInput',
      `ratios are above 0 and at most 1 together, not ${ratios?.join(', ')}.`,
    );
  }
  for (const count of counts ?? []) checkCount('A count of a split', count);
  const endsOf = (rows: number): number[] => {
    let end = 0;
    if (ratios !== undefined) {
      return ratios.map((ratio) => {
        end += ratio;
        return Math.min(rows, Math.round(end * rows));
      });
    }
    const sizes =
      counts ?? new Array<number>(fixed as number).fill(Math.floor(rows / (fixed as number)));
    return sizes.map((size) => {
      end += size;
      return end;
    });
  };
  return {
    names: splitNames,
    columns: {},
    divide: (ids) => {
      const ends = endsOf(ids.length);
      const last = ends.at(-1) ?? 0;
      if (last > ids.length) {
        throw new DirspaceError(
          'InvalidInput',
          `The splits have ${last} rows, and there are ${ids.length}.`,
        );
      }
      let split = 0;
      return chosen(ids.subarray(0, last), (at) => {
        while (at >= (ends[split] as number)) split++;
        return split;
      });
    },
  };
}

function checkNames(names: readonly string[] | undefined, splits: number): void {
  if (names === undefined || names.length === splits) return;
  throw new DirspaceError(
    'InvalidInput',
    `There are ${splits} splits and ${names.length} splitNames.`,
  );
}

/** The rows that are in a split. */
function chosen(ids: BigUint64Array, splitOf: (at: number) => number | undefined): Rows {
  const [kept, splits] = [new BigUint64Array(ids.length), new BigUint64Array(ids.length)];
  let count = 0;
  for (let at = 0; at < ids.length; at++) {
    const split = splitOf(at);
    if (split === undefined) continue;
    kept[count] = ids[at] as bigint;
    splits[count++] = BigInt(split);
  }
  return { ids: kept.subarray(0, count), splits: splits.subarray(0, count) };
}

/** In a new order, split by split. */
function regrouped({ ids, splits }: Rows, options: ShuffleOptions): Rows {
  const places = shuffled(
    BigUint64Array.from(ids, (_, at) => BigInt(at)),
    options,
  );
  const order = Array.from(places, Number).sort((a, b) =>
    Number((splits[a] as bigint) - (splits[b] as bigint)),
  );
  return {
    ids: BigUint64Array.from(order, (at) => ids[at] as bigint),
    splits: BigUint64Array.from(order, (at) => splits[at] as bigint),
  };
}

function shuffled(ids: BigUint64Array, { seed, clumpSize = 1 }: ShuffleOptions): BigUint64Array {
  checkCount('clumpSize', clumpSize, 1);
  const random = generator(seed === undefined ? 0x9e3779b9 : checkCount('seed', seed));
  const clumps = Array.from({ length: Math.ceil(ids.length / clumpSize) }, (_, at) => at);
  for (let at = clumps.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [clumps[at], clumps[other]] = [clumps[other] as number, clumps[at] as number];
  }
  const out = new BigUint64Array(ids.length);
  let end = 0;
  for (const clump of clumps) {
    const part = ids.subarray(clump * clumpSize, (clump + 1) * clumpSize);
    out.set(part, end);
    end += part.length;
  }
  return out;
}

/** Numbers from 0 to below 1, the same for the same seed: a Weyl sequence through a mixer of bits. */
function generator(seed: number): () => number {
  let state = (seed ^ Math.floor(seed / 2 ** 32)) >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}

/** FNV-1a over the values as texts, each with its kind. */
function hashOf(values: readonly unknown[]): number {
  let hash = 0x811c9dc5;
  for (const value of values) {
    const text = `${typeof value}:${value instanceof Date ? value.getTime() : String(value)};`;
    for (let at = 0; at < text.length; at++) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
    }
  }
  return hash;
}

const BATCH = 65_536;

function batchesOf({ ids, splits }: Rows, metadata: Map<string, string>) {
  const fields = [
    new Field('row_id', new Uint64(), true),
    new Field('split_id', new Uint64(), false),
  ];
  const schema = new Schema(fields, metadata);
  const batches: RecordBatch[] = [];
  for (let at = 0; at < ids.length; at += BATCH) {
    const columns = [ids, splits].map((values) => {
      const part = values.slice(at, at + BATCH);
      return dataOf(new Uint64(), part.length, { values: part, nullCount: 0 });
    });
    batches.push(recordBatch(schema, columns, Math.min(BATCH, ids.length - at)));
  }
  return recordBatchStream(schema, batches);
}
