/**
 * `loadColumn` converts Arrow data, nested types included, to the columns that expressions are
 * evaluated over. A dictionary column becomes plain values. `dictionaryParts` instead returns its
 * entries, with a null after them, and the entry of each row; `dictionaryRows` returns only the
 * entry of each row. Offsets beyond 2 GiB and types that expressions cannot read throw Unsupported.
 * load-buffers.ts reads the buffers of flat types.
 */
import { type Data, DataType, type Dictionary, sliceData, type Union } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import {
  type Column,
  constantColumn,
  FALSE,
  familyOf,
  maskNulls,
  reader,
  TRUE,
  type Validity,
  type Value,
} from '../typed/index.ts';
import { concatenate, gather } from './gather.ts';
import {
  loadBytes,
  loadDecimals,
  loadIntervals,
  loadNumbers,
  loadSpans,
  loadValidity,
} from './load-buffers.ts';

/** All rows of `data`. Throws Unsupported for offsets beyond 2 GiB. */
export function loadColumn(data: Data): Column {
  const { type, length } = data;
  if (DataType.isDictionary(type)) return loadDictionary(data);
  const valid = loadValidity(data);
  switch (familyOf(type)) {
    case 'null':
      return constantColumn(type, null, length);
    case 'bool': {
      const bits = data.values as Uint8Array;
      const values = new Uint8Array(length);
      for (let i = 0, bit = data.offset; i < length; i++, bit++) {
        values[i] = ((bits[bit >> 3] as number) >> (bit & 7)) & 1 ? TRUE : FALSE;
      }
      return { form: 'truth', type, length, values: maskNulls(values, valid) };
    }
    case 'int':
    case 'float':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'duration':
      return loadNumbers(data, valid);
    case 'decimal':
      return { form: 'wide', type, length, values: loadDecimals(data), valid };
    case 'text':
    case 'bytes':
      return loadBytes(data, valid);
    case 'interval':
      return { form: 'values', type, length, values: loadIntervals(data, valid) };
    case 'list':
      return loadList(data, valid);
    case 'struct':
      return {
        form: 'struct',
        type,
        length,
        names: type.children.map((field: { name: string }) => field.name),
        children: data.children.map((child) => loadColumn(child)),
        valid,
      };
    default:
      return { form: 'values', type, length, values: loadOther(data) };
  }
}

function loadList(data: Data, valid: Validity): Column {
  const { type, length } = data;
  const items = data.children[0] as Data;
  const { starts, ends } = loadSpans(
    data,
    DataType.isFixedSizeList(type) ? type.listSize : undefined,
  );
  // A slice of a column of lists has all of its items: functions would go through them for each slice.
  const from = length === 0 ? 0 : (starts[0] as number);
  const to = length === 0 ? 0 : (ends[length - 1] as number);
  const isWhole = from === 0 && to === items.length;
  const child = loadColumn(isWhole ? items : sliceData(items, from, to - from));
  const moved = (offsets: Int32Array): Int32Array =>
    from === 0 ? offsets : offsets.map((offset) => offset - from);
  return { form: 'list', type, length, starts: moved(starts), ends: moved(ends), child, valid };
}

/** The dictionary's value for every row. */
function loadDictionary(data: Data): Column {
  const [only, ...more] = (data.dictionary?.data ?? []).filter((chunk) => chunk.length > 0);
  const { values } = data;
  if (only !== undefined && more.length === 0 && values instanceof Int32Array) {
    if (loadValidity(data) === null && isBelow(values, only.length)) {
      return gather(
        loadColumn(only),
        new Uint32Array(values.buffer, values.byteOffset, data.length),
      );
    }
  }
  const parts = dictionaryParts(data);
  return gather(parts.values, parts.rows);
}

/** Whether all indices are those of entries. */
function isBelow(indices: Int32Array, count: number): boolean {
  for (let at = 0; at < indices.length; at++) {
    const index = indices[at] as number;
    if (index < 0 || index >= count) return false;
  }
  return true;
}

/** A dictionary column cut in two: its values with one null at the end, and each row's index. */
export function dictionaryParts(data: Data): { values: Column; rows: Uint32Array } {
  const chunks = data.dictionary?.data ?? [];
  const loaded = chunks.filter((chunk) => chunk.length > 0).map((chunk) => loadColumn(chunk));
  const type = (data.type as Dictionary).dictionary;
  const count = loaded.reduce((sum, column) => sum + column.length, 0);
  const none = constantColumn(type, null, 1);
  const values =
    loaded.length === 0
      ? none
      : withNull(loaded.length === 1 ? (loaded[0] as Column) : concatenate(loaded));
  return { values, rows: dictionaryRows(data, count) };
}

/** The entry of each row; `count`, which is how many there are, for null and for indices past the end. */
export function dictionaryRows(data: Data, count: number): Uint32Array {
  const indices = data.values as ArrayLike<number | bigint>;
  const valid = loadValidity(data);
  const rows = new Uint32Array(data.length);
  for (let i = 0; i < rows.length; i++) {
    const index = Number(indices[i]);
    rows[i] = (valid !== null && valid[i] === 0) || !(index >= 0 && index < count) ? count : index;
  }
  return rows;
}

/** `column` and one more row that is null. */
function withNull(column: Column): Column {
  const length = column.length;
  const rows = Uint32Array.from({ length: length + 1 }, (_, i) =>
    i < length ? i : Math.max(0, length - 1),
  );
  const longer = gather(column, rows);
  switch (longer.form) {
    case 'truth':
      longer.values[length] = 1;
      return longer;
    case 'values':
      return { ...longer, values: [...longer.values.slice(0, length), null] };
    case 'constant':
      return {
        form: 'values',
        type: column.type,
        length: length + 1,
        values: new Array(length).fill(longer.value).concat([null]),
      };
    default: {
      const valid = longer.valid ?? new Uint8Array(length + 1).fill(1);
      valid[length] = 0;
      return { ...longer, valid };
    }
  }
}

/** Maps and unions, row by row: an array of pairs, and the value of the chosen member. */
function loadOther(data: Data): Value[] {
  const values: Value[] = [];
  const { type } = data;
  if (DataType.isMap(type)) {
    const list = loadList(data, loadValidity(data));
    if (list.form !== 'list') return values;
    const { starts, ends, child, valid } = list;
    const entry = child.form === 'struct' ? child.children.map(reader) : [];
    for (let i = 0; i < data.length; i++) {
      const pairs: Value[] = [];
      for (let k = starts[i] ?? 0; k < (ends[i] ?? 0); k++)
        pairs.push(entry.map((read) => read(k)));
      values.push(valid !== null && valid[i] === 0 ? null : pairs);
    }
  } else if (DataType.isUnion(type)) {
    const readers = data.children.map((child) => reader(loadColumn(child)));
    const offsets = data.valueOffsets as unknown as Int32Array | undefined;
    const dense = (type as Union).mode === 1 && offsets !== undefined;
    for (let i = 0; i < data.length; i++) {
      const member = (type as Union).typeIdToChildIndex[data.typeIds[i] as number] ?? 0;
      values.push(readers[member]?.(dense ? (offsets[i] ?? 0) : i) ?? null);
    }
  } else {
    throw new DirspaceError(
      'Unsupported',
      `An expression cannot read a column of type ${String(type)}`,
    );
  }
  return values;
}
