/**
 * `ComposedFragment` reads a fragment whose columns lie in several files as if it were one file.
 * That file has the columns of all files, in the order of the files, and its footer joins theirs.
 * So pruning by statistics and adapting of columns need no case of their own. Files whose batches
 * have other rows than those of the first throw Corrupt.
 */
import { type Data, Schema } from '../../arrow/index.ts';
import type { FragmentFooter } from '../../format/index.ts';
import { corrupt } from '../../json.ts';
import type { Awaitable } from '../../store/index.ts';
import { andThen, type LentColumns } from '../work/index.ts';
import type { FragmentReader, StoredValue } from './fragment-reader.ts';

export class ComposedFragment implements FragmentReader {
  readonly footer: FragmentFooter;
  readonly #files: readonly FragmentReader[];
  /** The file that has each column, and the position of the column there. */
  readonly #places: readonly (readonly [file: number, column: number])[];

  /** @param files oldest first @throws Corrupt */
  constructor(files: readonly FragmentReader[]) {
    this.#files = files;
    this.footer = composedFooter(files.map(({ footer }) => footer));
    this.#places = files.flatMap(({ footer }, file) =>
      footer.schema.fields.map((_, column) => [file, column] as const),
    );
  }

  columns(batch: number, columns: readonly number[], lent?: LentColumns): Awaitable<Data[]> {
    return this.#each(columns, (file, own, index) => file.columns(batch, own, lent?.ofFile(index)));
  }

  ownColumns(batch: number, columns: readonly number[]): Awaitable<Data[]> {
    return this.#each(columns, (file, own) => file.ownColumns(batch, own));
  }

  rows(
    batch: number,
    columns: readonly number[],
    rows: Uint32Array,
    lent?: LentColumns,
  ): Awaitable<Data[]> {
    return this.#each(columns, (file, own, index) =>
      file.rows(batch, own, rows, lent?.ofFile(index)),
    );
  }

  value(
    batch: number,
    column: number,
    path: readonly number[],
    row: number,
  ): Awaitable<StoredValue | null | undefined> {
    const [file, own] = this.#placeOf(column);
    return (this.#files[file] as FragmentReader).value(batch, own, path, row);
  }

  /**
   * Reads of each file the columns that it has. One file after another, so that none is read once
   * one failed.
   */
  #each(
    columns: readonly number[],
    read: (file: FragmentReader, own: readonly number[], index: number) => Awaitable<Data[]>,
  ): Awaitable<Data[]> {
    const found: Data[] = [];
    const from = (index: number): Awaitable<Data[]> => {
      const file = this.#files[index];
      if (file === undefined) return found;
      const wanted = [...columns.keys()].filter((at) => this.#placeOf(columns[at])[0] === index);
      if (wanted.length === 0) return from(index + 1);
      const own = wanted.map((at) => this.#placeOf(columns[at])[1]);
      return andThen(read(file, own, index), (data) => {
        for (const [at, place] of wanted.entries()) found[place] = data[at] as Data;
        return from(index + 1);
      });
    };
    return from(0);
  }

  #placeOf(column: number | undefined): readonly [file: number, column: number] {
    return this.#places[column as number] as readonly [number, number];
  }

  columnKey(batch: number, column: number): string | undefined {
    const [file, own] = this.#placeOf(column);
    return this.#files[file]?.columnKey(batch, own);
  }

  retain(): () => void {
    const closing = this.#files.map((file) => file.retain());
    return () => {
      for (const close of closing) close();
    };
  }

  close(): void {
    for (const file of this.#files) file.close();
  }
}

type StoredSchema = FragmentFooter['stored'];

/** By the footer of the first file: the files that it was last composed with, and the result. */
const footers = new WeakMap<
  FragmentFooter,
  { readonly of: readonly FragmentFooter[]; readonly composed: FragmentFooter }
>();

function composedFooter(of: readonly FragmentFooter[]): FragmentFooter {
  const [own, ...later] = of as [FragmentFooter, ...FragmentFooter[]];
  const known = footers.get(own);
  if (known?.of.length === of.length && known.of.every((each, at) => each === of[at]))
    return known.composed;
  for (const { name, batches } of later) {
    const isLike =
      batches.length === own.batches.length &&
      batches.every(({ rows }, at) => rows === own.batches[at]?.rows);
    if (!isLike) throw corrupt(name, 'its batches are others than those of its fragment');
  }
  const stored = later.reduce((before, { stored: next }) => joined(before, next), own.stored);
  let next = 0;
  const firsts = of.map(({ schema }) => {
    next += schema.fields.length;
    return next - schema.fields.length;
  });
  const composed = {
    ...own,
    schema: stored.schema,
    fieldIds: stored.fieldIds,
    stored,
    wide: of.flatMap(({ wide }, at) => wide.map((column) => column + (firsts[at] as number))),
    batches: own.batches.map((batch, at) => ({
      ...batch,
      columns: new ComposedChunks(of.map(({ batches }) => (batches[at] as typeof batch).columns)),
    })),
  };
  footers.set(own, { of, composed });
  return composed;
}

type ColumnChunks = FragmentFooter['batches'][number]['columns'];

/** The chunks of all files in a row; each file decodes a column when it is asked for. */
class ComposedChunks implements ColumnChunks {
  readonly length: number;
  readonly #files: readonly ColumnChunks[];

  constructor(files: readonly ColumnChunks[]) {
    this.#files = files;
    this.length = files.reduce((sum, { length }) => sum + length, 0);
  }

  at(column: number): ReturnType<ColumnChunks['at']> {
    let own = column;
    for (const file of this.#files) {
      if (own < file.length) return file.at(own);
      own -= file.length;
    }
    return undefined;
  }
}

/** One object for all fragments whose files have the same schemas. */
const schemas = new WeakMap<StoredSchema, WeakMap<StoredSchema, StoredSchema>>();

function joined(before: StoredSchema, next: StoredSchema): StoredSchema {
  let known = schemas.get(before);
  if (known === undefined) {
    known = new WeakMap();
    schemas.set(before, known);
  }
  let made = known.get(next);
  if (made === undefined) {
    made = {
      // Dictionaries of two files may have one id, which the class would refuse if it looked for
      // them.
      schema: new Schema(
        [...before.schema.fields, ...next.schema.fields],
        before.schema.metadata,
        new Map(),
      ),
      fieldIds: [...before.fieldIds, ...next.fieldIds],
      // Values are decoded by the schema of their own file.
      dictionaries: before.dictionaries,
    };
    known.set(next, made);
  }
  return made;
}
