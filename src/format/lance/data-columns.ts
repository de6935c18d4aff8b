/**
 * `FragmentColumns` reads rows of a Lance fragment as one Arrow column (`column`) or as a record
 * batch of all columns (`batch`). `batchRows` says how many rows to read at once so that they take
 * about 8 MiB, 8,192 at most. The columns may lie in several data files, at places that the caller
 * gives (`placesOfFile` for a file alone); a field that no file holds is read as nulls. The files
 * are untrusted: damage throws Corrupt, and unsupported content, or more memory than a `ReadBudget`
 * allows (`budget`), throws Unsupported.
 */
import {
  bitmapBytes,
  childFields,
  concatData,
  type Data,
  dataOf,
  hasLargeOffsets,
  layoutOf,
  nullColumn,
  type Offsets,
  type RecordBatch,
  recordBatch,
  setBits,
} from '../../arrow/index.ts';
import type { DataColumn, DataPage, LanceDataFile } from './data-file.ts';
import type { LanceColumn, LanceSchema } from './lance-schema.ts';
import { nullBytes, PageDecoder } from './page-decoder.ts';
import { type PageLists, PageReader, pageItems, ReadBudget } from './page-reader.ts';

/** Where the values of a field lie. */
export interface FieldPlace {
  readonly file: LanceDataFile;
  /** Of the file. */
  readonly column: number;
}

/** By the ids of fields. */
export type FieldPlaces = ReadonlyMap<number, FieldPlace>;

const MAX_BATCH_ROWS = 8192;
const BATCH_BYTES = 8 * 1024 * 1024;

interface Rows {
  readonly from: number;
  readonly count: number;
}

/** Where the fields of a file lie that stands alone: one column each, depth first. */
export function placesOfFile({ columns }: LanceSchema, file: LanceDataFile): FieldPlaces {
  const places = new Map<number, FieldPlace>();
  const place = (column: LanceColumn): void => {
    places.set(column.id, { file, column: places.size });
    if (!column.isPacked) for (const child of column.children) place(child);
  };
  for (const column of columns) place(column);
  return places;
}

/**
 * Rows of one fragment. `batchRows` checks that each top-level column has as many as the fragment is
 * said to have; reads check that it has those that are read.
 */
export class FragmentColumns {
  readonly rows: number;
  readonly #schema: LanceSchema;
  readonly #places: FieldPlaces;
  readonly #name: string;

  /**
   * @param rows of the fragment, deleted ones too
   * @param name how errors name it
   */
  constructor(schema: LanceSchema, places: FieldPlaces, rows: number, name: string) {
    this.#schema = schema;
    this.#places = places;
    this.rows = rows;
    this.#name = name;
  }

  /** How many rows to read at once, so that they take about 8 MiB. @throws Corrupt */
  async batchRows(): Promise<number> {
    let bytes = 1;
    const walk = async (column: LanceColumn, path: string): Promise<void> => {
      const place = this.#places.get(column.id);
      if (place === undefined) bytes += nullBytes(column.field.type);
      else {
        const found = await place.file.column(place.column, path);
        bytes += found.bytes / Math.max(this.rows, 1);
        if (found.bytes === 0) bytes += nullBytes(column.field.type);
      }
      for (const child of column.children) await walk(child, `${path}.${child.field.name}`);
    };
    for (const column of this.#schema.columns) {
      await walk(column, column.field.name);
      await this.#checkRows(column);
    }
    return Math.max(1, Math.min(MAX_BATCH_ROWS, Math.floor(BATCH_BYTES / bytes)));
  }

  /** What columns that are read together may take. */
  budget(): ReadBudget {
    const files = new Set([...this.#places.values()].map(({ file }) => file));
    return new ReadBudget(
      this.#name,
      [...files].reduce((sum, { size }) => sum + size, 0),
    );
  }

  /** A batch of all columns. @throws Corrupt, Unsupported */
  async batch(from: number, count: number): Promise<RecordBatch> {
    const budget = this.budget();
    const columns: Data[] = [];
    for (const column of this.#schema.columns) {
      columns.push(await this.#read(column, { from, count }, column.field.name, budget));
    }
    return recordBatch(this.#schema.schema, columns, count);
  }

  /** Rows of one column. @throws Corrupt, Unsupported */
  column(column: LanceColumn, from: number, count: number, budget: ReadBudget): Promise<Data> {
    return this.#read(column, { from, count }, column.field.name, budget);
  }

  async #checkRows(column: LanceColumn): Promise<void> {
    const place = this.#places.get(column.id);
    if (place === undefined) return;
    const { rows } = await place.file.column(place.column, column.field.name);
    if (rows === this.rows) return;
    const name = JSON.stringify(column.field.name);
    throw place.file.damaged(`column ${name} has ${rows} rows of ${this.rows}`);
  }

  async #read(column: LanceColumn, rows: Rows, path: string, budget: ReadBudget): Promise<Data> {
    const { type } = column.field;
    const place = this.#places.get(column.id);
    const layout = layoutOf(type);
    if (layout === 'struct') return this.#struct(column, rows, path, budget);
    if (place === undefined) {
      budget.claim(rows.count * nullBytes(type));
      return nullColumn(type, rows.count);
    }
    const found = await place.file.column(place.column, path);
    if (layout === 'list') return this.#lists(column, place, rows, path, budget);
    const pieces = await eachPage(place.file, found, rows, path, (page, within) =>
      new PageDecoder(place.file, page, path, budget).values(type, within),
    );
    return pieces.length === 0 ? nullColumn(type, 0) : concatData(pieces);
  }

  async #struct(column: LanceColumn, rows: Rows, path: string, budget: ReadBudget): Promise<Data> {
    const { type } = column.field;
    const place = this.#places.get(column.id);
    const has = (one: LanceColumn): boolean => this.#places.has(one.id) || one.children.some(has);
    if (place !== undefined && column.isPacked && !column.children.some(has)) {
      const found = await place.file.column(place.column, path);
      const fields = childFields(type);
      const pieces = await eachPage(place.file, found, rows, path, async (page, within) => {
        const decoder = new PageDecoder(place.file, page, path, budget);
        const children = await decoder.packed(fields, within);
        return dataOf(type, within.count, { children });
      });
      return pieces.length === 0 ? nullColumn(type, 0) : concatData(pieces);
    }
    if (!has(column)) {
      budget.claim(rows.count * nullBytes(type));
      return nullColumn(type, rows.count);
    }
    if (place !== undefined) {
      const found = await place.file.column(place.column, path);
      await eachPage(place.file, found, rows, path, async (page) => {
        const { kind } = new PageReader(place.file, page, path, budget).root();
        if (kind !== 'struct') {
          throw place.file.damaged(`column ${JSON.stringify(path)} is a struct, stored as ${kind}`);
        }
      });
    }
    const children: Data[] = [];
    for (const child of column.children) {
      children.push(await this.#read(child, rows, `${path}.${child.field.name}`, budget));
    }
    return dataOf(type, rows.count, { children });
  }

  async #lists(
    column: LanceColumn,
    { file, column: index }: FieldPlace,
    { from, count }: Rows,
    path: string,
    budget: ReadBudget,
  ): Promise<Data> {
    const { type } = column.field;
    const found = await file.column(index, path);
    const starts = itemStarts(found, file);
    const large = hasLargeOffsets(type);
    budget.claim((count + 1) * 9);
    const ends = new Float64Array(count + 1);
    const validity = new Uint8Array(bitmapBytes(count));
    setBits(validity, 0, count);
    let nulls = 0;
    let row = 0;
    let first = -1;
    await eachPage(file, found, { from, count }, path, async (page, within) => {
      const decoder = new PageDecoder(file, page, path, budget);
      const lists: PageLists = await decoder.lists(within);
      const start = starts.get(page) as number;
      if (first < 0) first = start + (lists.ends[0] as number);
      for (let at = 0; at < within.count; at++) {
        ends[row + at + 1] = start + (lists.ends[at + 1] as number) - first;
        const { validity: valid } = lists;
        if (valid !== undefined && ((valid[at >> 3] as number) & (1 << (at & 7))) === 0) {
          const byte = (row + at) >> 3;
          validity[byte] = (validity[byte] as number) & ~(1 << ((row + at) & 7));
        }
      }
      nulls += lists.nulls;
      row += within.count;
    });
    const items = ends[count] as number;
    if (!large && items > 2 ** 31 - 1) {
      throw file.damaged(`column ${JSON.stringify(path)} has ${items} items in ${count} rows`);
    }
    const [child] = column.children as readonly [LanceColumn];
    const within = { from: Math.max(first, 0), count: items };
    const values = await this.#read(child, within, `${path}.${child.field.name}`, budget);
    const offsets: Offsets = large ? new BigInt64Array(count + 1) : new Int32Array(count + 1);
    for (let at = 0; at <= count; at++) {
      if (large) (offsets as BigInt64Array)[at] = BigInt(ends[at] as number);
      else (offsets as Int32Array)[at] = ends[at] as number;
    }
    return dataOf(type, count, {
      nullCount: nulls,
      validity: nulls > 0 ? validity : undefined,
      offsets,
      children: [values],
    });
  }
}

const starts = new WeakMap<DataColumn, ReadonlyMap<DataPage, number>>();

/** The number of the first item of each page among the items of a list column. */
function itemStarts(column: DataColumn, file: LanceDataFile): ReadonlyMap<DataPage, number> {
  let known = starts.get(column);
  if (known === undefined) {
    let items = 0;
    known = new Map(
      column.pages.map((page) => {
        const start = items;
        items += pageItems(page, file);
        return [page, start];
      }),
    );
    starts.set(column, known);
  }
  return known;
}

/** Calls for each page that has some of the rows, in order; `within` counts in the page. */
async function eachPage<Result>(
  file: LanceDataFile,
  { pages, rows }: DataColumn,
  { from, count }: Rows,
  path: string,
  use: (page: DataPage, within: Rows) => Promise<Result>,
): Promise<Result[]> {
  if (from + count > rows) {
    throw file.damaged(
      `column ${JSON.stringify(path)} has ${rows} rows, where ${from + count} are due`,
    );
  }
  const results: Result[] = [];
  if (count === 0) return results;
  for (let at = firstPage(pages, from); at < pages.length; at++) {
    const page = pages[at] as DataPage;
    if (page.first >= from + count) break;
    const begin = Math.max(from - page.first, 0);
    const end = Math.min(from + count - page.first, page.rows);
    if (end > begin) results.push(await use(page, { from: begin, count: end - begin }));
  }
  return results;
}

/** The last page that begins at the row or before it. */
function firstPage(pages: readonly DataPage[], row: number): number {
  let low = 0;
  let high = pages.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((pages[middle] as DataPage).first <= row) low = middle + 1;
    else high = middle;
  }
  return Math.max(low - 1, 0);
}
