/**
 * `readFields` reads columns of a version, given by name, from one batch of a fragment, for all
 * rows or for selected ones. It finds them in the fragment by field id and adapts them if the
 * schema has changed since. A column that the fragment does not have is null. `plainPosition`
 * returns the position in the file of a single column that needs no adapting, and `columnKey` a
 * name for what is stored of it; both return undefined if there is none. `fieldBytes` sums up the
 * stored bytes of columns. Every name must be one of the version's.
 */
import { type Data, nullColumn } from '../../arrow/index.ts';
import type { FragmentEntry, FragmentFooter } from '../../format/index.ts';
import type { Awaitable } from '../../store/index.ts';
import { type Adapter, adapterOf, type IdentifiedField } from '../fields/index.ts';
import type { Snapshot } from '../versions/index.ts';
import { andThen, type LentColumns } from '../work/index.ts';
import type { FragmentReader } from './fragment-reader.ts';

/** A batch to read from. */
export interface ReadPlace {
  readonly reader: FragmentReader;
  readonly entry: FragmentEntry;
  /** The number of the batch in the fragment. */
  readonly index: number;
  readonly rows: number;
}

/**
 * Columns of the version, by name, for some rows of a batch, undefined standing for all of them.
 * Whole columns may lie in the memory of `lent`; selected rows never do.
 * @param names the same array for every batch, where there are many
 * @param forCaller whether whole columns go to the caller of a query
 */
export function readFields(
  { snapshot }: { readonly snapshot: Snapshot },
  place: ReadPlace,
  names: readonly string[],
  selection: Uint32Array | undefined,
  lent?: LentColumns,
  forCaller = false,
): Awaitable<Data[]> {
  const { reader, entry, index } = place;
  const projection = projectionOf(snapshot, names, entry, reader.footer);
  const { positions } = projection;
  if (positions.length === 0) return projection.columns([], selection?.length ?? place.rows);
  const read =
    selection !== undefined
      ? reader.rows(index, positions, selection, lent)
      : forCaller
        ? reader.ownColumns(index, positions)
        : reader.columns(index, positions, lent);
  if (projection.isPlain) return read;
  return andThen(read, (stored) =>
    projection.columns(stored, selection === undefined ? place.rows : selection.length),
  );
}

/**
 * The position in the file of the only column asked for; undefined where the fragment does not have
 * it as the version does.
 */
export function plainPosition(
  { snapshot }: { readonly snapshot: Snapshot },
  { reader, entry }: ReadPlace,
  names: readonly string[],
): number | undefined {
  const { positions, isPlain } = projectionOf(snapshot, names, entry, reader.footer);
  return isPlain ? positions[0] : undefined;
}

/** Bytes of these columns of a batch as they lie in its file, without dictionaries. */
export function fieldBytes(
  snapshot: Snapshot,
  { reader, entry, index }: ReadPlace,
  names: readonly string[],
): number {
  const chunks = reader.footer.batches[index]?.columns;
  let bytes = 0;
  for (const position of projectionOf(snapshot, names, entry, reader.footer).positions) {
    bytes += chunks?.at(position)?.bytes ?? 0;
  }
  return bytes;
}

/**
 * Names what is stored of the only column asked for in a batch; undefined where nothing of it is.
 */
export function columnKey(
  { snapshot }: { readonly snapshot: Snapshot },
  { reader, entry, index }: ReadPlace,
  names: readonly string[],
): string | undefined {
  const [position, ...more] = projectionOf(snapshot, names, entry, reader.footer).positions;
  if (position === undefined || more.length > 0) return undefined;
  return reader.columnKey(index, position);
}

/** By the names asked for: the one for the fragments read last. */
const projections = new WeakMap<readonly string[], Projection>();

function projectionOf(
  snapshot: Snapshot,
  names: readonly string[],
  entry: FragmentEntry,
  { stored }: FragmentFooter,
): Projection {
  const known = projections.get(names);
  if (known?.serves(snapshot.fields, entry.fields, stored) === true) return known;
  const projection = new Projection(snapshot.fields, names, entry.fields, stored);
  projections.set(names, projection);
  return projection;
}

interface Part {
  readonly field: IdentifiedField;
  /** The index among the columns read; -1 for a column that the fragment does not have. */
  readonly at: number;
  /** Null where the column is already as it is wanted. */
  readonly adapter: Adapter | null;
}

class Projection {
  /** The positions of the columns to read, ascending: neighbours are read in one piece. */
  readonly positions: readonly number[];
  /** Whether the columns read are the ones wanted, as they are. */
  readonly isPlain: boolean;
  readonly #fields: readonly IdentifiedField[];
  readonly #ids: readonly number[];
  readonly #stored: FragmentFooter['stored'];
  readonly #parts: readonly Part[];

  constructor(
    fields: readonly IdentifiedField[],
    names: readonly string[],
    ids: readonly number[],
    stored: FragmentFooter['stored'],
  ) {
    this.#fields = fields;
    this.#ids = ids;
    this.#stored = stored;
    const wanted = names.map(
      (name) => fields.find(({ field }) => field.name === name) as IdentifiedField,
    );
    const found = wanted.map(({ id }) => ids.indexOf(id));
    this.positions = found.filter((position) => position >= 0).sort((a, b) => a - b);
    this.#parts = wanted.map((field, at) => {
      const position = found[at] as number;
      return {
        field,
        at: this.positions.indexOf(position),
        adapter: position < 0 ? null : adapterOf(field, stored, position),
      };
    });
    this.isPlain = this.#parts.every((part, at) => part.at === at && part.adapter === null);
  }

  /** Whether it can be used for these fields of a version and a fragment with these field ids. */
  serves(
    fields: readonly IdentifiedField[],
    ids: readonly number[],
    stored: FragmentFooter['stored'],
  ): boolean {
    if (fields !== this.#fields || stored !== this.#stored) return false;
    const own = this.#ids;
    if (ids.length !== own.length) return false;
    for (let at = 0; at < own.length; at++) if (ids[at] !== own[at]) return false;
    return true;
  }

  /** Nulls where the fragment has no such column. */
  columns(read: readonly Data[], rows: number): Data[] {
    return this.#parts.map(({ field, at, adapter }) => {
      const data = read[at];
      if (data === undefined) return nullColumn(field.field.type, rows);
      return adapter === null ? data : adapter(data);
    });
  }
}
