/**
 * `readColumns` builds the columns of another program's record batch or dictionary around its
 * buffers, and checks that the buffers fit the schema. Faults go to the caller's `refuse`. It works
 * in steps, and claims memory beyond the buffers from a budget (foreign-budget.ts), which throws
 * PayloadTooLarge. foreign-values.ts checks the values, and foreign-encodings.ts expands list views
 * and runs.
 */
import {
  bitmapBytes,
  byteWidth,
  countBits,
  type Data,
  type DataParts,
  type DataType,
  type Dictionary,
  dataOf,
  hasLargeOffsets,
  layoutOf,
  nullColumn,
  type Offsets,
  strideOf,
  Type,
  type TypedArray,
  type TypedArrayConstructor,
  type Union,
  UnionMode,
  Vector,
  valueArray,
} from '../../arrow/index.ts';
import type { Refuse } from '../codecs/index.ts';
import { MAX_ROWS, type MessageBudget } from './foreign-budget.ts';
import {
  type Claim,
  expandRuns,
  listsOfViews,
  lookAtViews,
  type RunEnds,
} from './foreign-encodings.ts';
import type { BatchHeader } from './foreign-messages.ts';
import {
  type Counted,
  checkCounted,
  checkUnionRows,
  countedInFixedLists,
  countedInLists,
  countedInStruct,
  countedInUnion,
} from './foreign-parents.ts';
import type { ForeignField, ForeignType } from './foreign-schema.ts';
import {
  checkIndices,
  checkOffsets,
  checkTextInSteps,
  checkViews,
  type Indices,
} from './foreign-values.ts';

type Dictionaries = ReadonlyMap<number, Vector>;

/**
 * The columns of a message, each of the rows that its header says.
 * @param dictionaries received so far, by the id of their type
 */
export function* readColumns(
  header: BatchHeader,
  buffers: readonly Uint8Array[],
  types: readonly ForeignField[],
  dictionaries: Dictionaries,
  budget: MessageBudget,
  refuse: Refuse,
): Generator<undefined, Data[]> {
  const { rows } = header;
  if (rows < 0 || rows > MAX_ROWS) refuse(`it says that it has ${rows} rows`);
  const reader = new ColumnReader(header, buffers, dictionaries, budget, refuse);
  if (types.length === 0) budget.claimUnbacked(rows);
  const columns: Data[] = [];
  for (const column of types) {
    columns.push(yield* reader.top(column, rows));
    yield;
  }
  reader.finish();
  return columns;
}

type Steps<Result> = Generator<undefined, Result>;

function* noSteps(): Steps<void> {}

/** Bits of a bitmap that are counted in one step. */
const STEP_BITS = 1 << 25;

class ColumnReader {
  readonly #header: BatchHeader;
  readonly #buffers: readonly Uint8Array[];
  readonly #dictionaries: Dictionaries;
  readonly #budget: MessageBudget;
  readonly #refuseBatch: Refuse;
  #refuse: Refuse;
  #name = '';
  #node = 0;
  #buffer = 0;
  #view = 0;

  constructor(
    header: BatchHeader,
    buffers: readonly Uint8Array[],
    dictionaries: Dictionaries,
    budget: MessageBudget,
    refuse: Refuse,
  ) {
    this.#header = header;
    this.#buffers = buffers;
    this.#dictionaries = dictionaries;
    this.#budget = budget;
    this.#refuseBatch = refuse;
    this.#refuse = refuse;
  }

  *top(column: ForeignField, rows: number): Steps<Data> {
    this.#name = column.name;
    this.#refuse = (problem) =>
      this.#refuseBatch(`column ${JSON.stringify(column.name)}: ${problem}`);
    const length = this.#header.nodes[this.#node] ?? rows;
    if (length !== rows) this.#refuse(`it has ${length} rows in a batch of ${rows}`);
    return yield* this.#column(column, rows);
  }

  /**
   * All that the message lists must belong to the schema; but for counts of no buffers, which
   * Polars 1.0 gives for dictionaries of views too.
   */
  finish(): void {
    const { nodes, views } = this.#header;
    if (
      this.#node !== nodes.length ||
      this.#buffer !== this.#buffers.length ||
      views.slice(this.#view).some((count) => count !== 0)
    ) {
      this.#refuseBatch('it has more nodes or buffers than its schema');
    }
  }

  /**
   * The next column in the message.
   * @param most rows that its parent refers to, at most; others need not be made
   * @param counted which rows have no null above them, undefined where all are so
   */
  *#column(column: ForeignType, most: number, counted?: Counted): Steps<Data> {
    const { type, encoding } = column;
    const refuse = this.#refuse;
    const length = this.#header.nodes[this.#node] ?? refuse('its node is missing');
    const nulls = this.#header.nodes[this.#node + 1] ?? refuse('its node is missing');
    this.#node += 2;
    const layout = layoutOf(type);
    // Of a part of a column of nulls apache-arrow does not count them.
    const isCounted = layout !== 'null' || nulls !== -1;
    if (length < 0 || length > MAX_ROWS || (isCounted && (nulls < 0 || nulls > length))) {
      refuse(`its node has ${length} values and ${nulls} nulls`);
    }
    if (encoding === 'run-ends') {
      if (nulls > 0) refuse(`its node has ${nulls} nulls, which its values should have`);
      return yield* this.#runs(column, Math.max(0, Math.min(length, most)));
    }
    if (layout === 'null') {
      this.#budget.claimUnbacked(length);
      return dataOf(type, length, {});
    }
    if (layout === 'union') return yield* this.#union(column, length, nulls, counted);
    const validity = yield* this.#validity(length, nulls);
    const common: DataParts = { nullCount: nulls, validity };
    switch (layout) {
      case 'bits':
        return dataOf(type, length, {
          ...common,
          values: this.#take(bitmapBytes(length), Uint8Array),
        });
      case 'fixed':
        if (byteWidth(type) === 0) this.#budget.claimUnbacked(length);
        return dataOf(type, length, { ...common, values: this.#fixed(type, length) });
      case 'dictionary':
        return yield* this.#dictionary(type as Dictionary, length, common, counted);
      case 'binary':
        return yield* this.#binary(type, length, common, counted);
      case 'view': {
        const values = this.#take(length * 16, Uint8Array) as Uint8Array;
        const views = this.#viewBuffers();
        const text = type.typeId === Type.Utf8View;
        const known = yield* checkCounted(common, length, counted, refuse, (valid, unfit) =>
          checkViews(values, length, views, valid, text, unfit),
        );
        return dataOf(type, length, { ...known, values, views });
      }
      case 'list': {
        if (encoding === 'list-view') return yield* this.#listViews(column, length, common);
        const offsets = this.#offsets(type, length);
        const items = this.#header.nodes[this.#node] ?? refuse('its node is missing');
        const [, end] = yield* checkOffsets(offsets, length, items, refuse);
        const inside = countedInLists(offsets, length, items, validity, counted);
        const children = yield* this.#children(column, end, inside);
        return dataOf(type, length, { ...common, offsets, children });
      }
      case 'fixed-list':
        if (strideOf(type) === 0) this.#budget.claimUnbacked(length);
        return dataOf(type, length, {
          ...common,
          children: yield* this.#rowsOfChildren(
            column,
            length * strideOf(type),
            countedInFixedLists(strideOf(type), validity, counted),
          ),
        });
      case 'struct':
        if (column.children.length === 0) this.#budget.claimUnbacked(length);
        return dataOf(type, length, {
          ...common,
          children: yield* this.#rowsOfChildren(column, length, countedInStruct(validity, counted)),
        });
    }
  }

  /** The bitmap of a column with nulls, which must have as many as its node says. */
  *#validity(length: number, nulls: number): Steps<Uint8Array | undefined> {
    const bitmap = this.#next();
    if (bitmap.length === 0 && nulls === 0) return undefined;
    const needed = bitmapBytes(length);
    if (bitmap.length < needed) {
      this.#refuse(`its validity bitmap has ${bitmap.length} bytes where ${needed} are needed`);
    }
    let found = length;
    for (let from = 0; from < length; from += STEP_BITS) {
      if (from > 0) yield;
      found -= countBits(bitmap, from, Math.min(STEP_BITS, length - from));
    }
    if (found !== nulls) this.#refuse(`it has ${found} nulls where its node says ${nulls}`);
    return nulls === 0 ? undefined : bitmap.subarray(0, needed);
  }

  #next(): Uint8Array {
    const bytes = this.#buffers[this.#buffer] ?? this.#refuse('its buffer is missing');
    this.#buffer += 1;
    return bytes;
  }

  /** The next buffer, cut to `needed` bytes. */
  #take(needed: number, array: TypedArrayConstructor): TypedArray {
    const bytes = this.#next();
    if (bytes.length < needed) {
      this.#refuse(`its buffer has ${bytes.length} bytes where ${needed} are needed`);
    }
    if (array === Uint8Array) return bytes.subarray(0, needed);
    return new array(bytes.buffer, bytes.byteOffset, needed / array.BYTES_PER_ELEMENT);
  }

  #fixed(type: DataType, length: number): TypedArray {
    return this.#take(length * byteWidth(type), valueArray(type));
  }

  #offsets(type: DataType, length: number): Offsets {
    const array = hasLargeOffsets(type) ? BigInt64Array : Int32Array;
    // Columns without rows may come without their one offset.
    if (length === 0 && this.#buffers[this.#buffer]?.length === 0) {
      this.#buffer += 1;
      return new array(1);
    }
    return this.#take((length + 1) * array.BYTES_PER_ELEMENT, array) as Offsets;
  }

  *#binary(type: DataType, length: number, common: DataParts, counted?: Counted): Steps<Data> {
    const offsets = this.#offsets(type, length);
    const held = this.#next();
    const [, end] = yield* checkOffsets(offsets, length, held.length, this.#refuse);
    const values = held.subarray(0, end);
    const isText = type.typeId === Type.Utf8 || type.typeId === Type.LargeUtf8;
    const known = yield* checkCounted(common, length, counted, this.#refuse, (valid, refuse) =>
      isText ? checkTextInSteps(offsets, length, values, valid, refuse) : noSteps(),
    );
    return dataOf(type, length, { ...known, offsets, values });
  }

  #viewBuffers(): Uint8Array[] {
    const count = this.#header.views[this.#view] ?? this.#refuse('its number of views is missing');
    this.#view += 1;
    if (count < 0 || count > this.#buffers.length - this.#buffer) {
      this.#refuse(`it has ${count} data buffers, more than the message`);
    }
    return Array.from({ length: count }, () => this.#next());
  }

  *#dictionary(
    type: Dictionary,
    length: number,
    common: DataParts,
    counted?: Counted,
  ): Steps<Data> {
    const values = this.#fixed(type, length);
    const dictionary =
      this.#dictionaries.get(type.id) ?? new Vector([nullColumn(type.dictionary, 0)]);
    const known = yield* checkCounted(common, length, counted, this.#refuse, (valid, refuse) =>
      checkIndices(values as Indices, length, dictionary.length, valid, refuse),
    );
    return dataOf(type, length, { ...known, values, dictionary });
  }

  *#children(column: ForeignType, most: number, counted?: Counted): Steps<Data[]> {
    const children: Data[] = [];
    for (const child of column.children) children.push(yield* this.#column(child, most, counted));
    return children;
  }

  /** Children may be longer than their parent needs, where a writer did not cut them. */
  *#rowsOfChildren(column: ForeignType, rows: number, counted?: Counted): Steps<Data[]> {
    const children: Data[] = [];
    for (const field of column.children) {
      children.push(yield* this.#rowsOfChild(field, rows, counted));
    }
    return children;
  }

  *#rowsOfChild(field: ForeignField, rows: number, counted?: Counted): Steps<Data> {
    const child = yield* this.#column(field, rows, counted);
    if (child.length < rows) {
      this.#refuse(`its child ${JSON.stringify(field.name)} has ${child.length} of ${rows} rows`);
    }
    return child.length === rows ? child : child.slice(0, rows);
  }

  *#listViews(column: ForeignType, length: number, common: DataParts): Steps<Data> {
    const { type } = column;
    const array = hasLargeOffsets(type) ? BigInt64Array : Int32Array;
    const [offsets, sizes] = [0, 1].map(
      () => this.#take(length * array.BYTES_PER_ELEMENT, array) as Offsets,
    ) as [Offsets, Offsets];
    const views = lookAtViews(offsets, sizes, length, common.validity, this.#refuse);
    const [values] = (yield* this.#children(column, views.end)) as [Data];
    const lists = listsOfViews(views, values, this.#claim, this.#refuse);
    return dataOf(type, length, { ...common, offsets: lists.offsets, children: [lists.values] });
  }

  *#runs({ children }: ForeignType, rows: number): Steps<Data> {
    const [endsType, valuesType] = children as unknown as readonly [ForeignType, ForeignType];
    const ends = yield* this.#column(endsType, MAX_ROWS);
    const values = yield* this.#column(valuesType, ends.length);
    if (ends.nullCount > 0) this.#refuse('its run ends have nulls');
    if (values.length < ends.length) {
      this.#refuse(`it has ${values.length} values for ${ends.length} runs`);
    }
    return expandRuns(ends.values as RunEnds, values, rows, this.#claim, this.#refuse);
  }

  readonly #claim: Claim = (bytes, values) =>
    this.#budget.claimExpanded(bytes, values, `column ${JSON.stringify(this.#name)}`);

  *#union(column: ForeignType, length: number, nulls: number, counted?: Counted): Steps<Data> {
    const type = column.type as Union;
    // Older metadata gave unions a validity bitmap; it was of use only for nulls of their own.
    if (this.#header.unionValidity) {
      if (nulls > 0) this.#refuse('unions with nulls of their own are not supported');
      this.#next();
    }
    const typeIds = this.#take(length, Int8Array) as Int8Array;
    const dense = type.mode === UnionMode.Dense;
    const offsets = dense ? (this.#take(length * 4, Int32Array) as Int32Array) : undefined;
    const children: Data[] = [];
    for (const [at, child] of column.children.entries()) {
      const inside = countedInUnion(type.typeIds[at] as number, typeIds, offsets, counted);
      children.push(
        dense
          ? yield* this.#column(child, MAX_ROWS, inside)
          : yield* this.#rowsOfChild(child, length, inside),
      );
    }
    const lengths = children.map((child) => child.length);
    const given = { typeIds, offsets };
    const rows = yield* checkUnionRows(given, type.typeIds, lengths, counted, this.#refuse);
    return dataOf(type, length, { ...rows, children });
  }
}
