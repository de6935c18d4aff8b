/**
 * `bitmapRows` computes the rows of a segment of a BITMAP or LABEL_LIST index: one for each
 * distinct value of the column, or of the items of its lists. A row has the value, the number of
 * table rows with it, and their positions. The values are in order, with nulls last. Null items of
 * lists are left out. Without any value there is one row, a null that no table row has. The column
 * is read once; its distinct values and the positions are held in memory, and only the positions
 * count for the request.
 */
import {
  Binary,
  bytesColumn,
  columnsOf,
  type Data,
  DataType,
  Field,
  nullColumn,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  recordBatchStream,
  sliceData,
  Uint32,
} from '../../arrow/index.ts';
import { CodedPositions, CodedValues, encodePositions } from '../../indexes/index.ts';
import { loadColumn } from '../../sql/index.ts';
import { quotedPath } from '../../sql-quotes.ts';
import { query } from '../query/index.ts';
import { requestMemory } from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { Turn } from '../work/index.ts';
import { withoutDictionary } from './btree-rows.ts';
import { numberColumn, segmentSchema } from './write-segment.ts';

/** Values of a column, or items of its lists, that are coded without a turn, about. */
const AT_ONCE = 16_384;
/** Items of a list up to which comparing each with those before it is faster than a set. */
const FEW_ITEMS = 32;
/** Values of one batch, at most, and the bytes of their positions. */
const MOST_VALUES = 4_096;
const MOST_BYTES = 1 << 22;

/**
 * The positions count as memory of the request, 8 bytes for each row or item; the values do not.
 * @param part fragments without deleted rows: positions are the places of rows in it
 * @param onRows is told how many rows were read
 */
export async function bitmapRows(
  engine: Engine,
  part: Snapshot,
  path: readonly string[],
  ofItems: boolean,
  signal: AbortSignal | undefined,
  onRows: ((rows: number) => void) | undefined,
): Promise<RecordBatchStream> {
  const memory = requestMemory(engine);
  const held = memory.hold('The values of a column that is being indexed');
  const stream = await query(engine, part, {
    columns: { value: quotedPath(path) },
    keep: false,
    fresh: true,
    memory,
    signal,
  });
  const own = stream.schema.fields[0]?.type as DataType;
  const inner = ofItems ? (own.children?.[0]?.type as DataType) : own;
  const type = DataType.isDictionary(inner) ? (inner.dictionary as DataType) : inner;
  const schema = segmentSchema([
    new Field('value', type, true),
    new Field('count', new Uint32(), false),
    new Field('positions', new Binary(), false),
  ]);
  const values = new CodedValues();
  const pairs = new CodedPositions();
  const turn = new Turn(engine.env);
  const batches = async function* (): AsyncGenerator<RecordBatch> {
    try {
      let position = 0;
      for await (const batch of stream) {
        const [column] = columnsOf(batch) as [Data];
        const rows = ofItems ? rowsAtOnce(column) : AT_ONCE;
        for (let from = 0; from < batch.numRows; from += rows) {
          const some = sliceData(column, from, Math.min(rows, batch.numRows - from));
          if (ofItems) addItems(some, values, pairs, position + from);
          else addValues(some, values, pairs, position + from);
          held.set(pairs.bytes);
          if (turn.isOver()) await turn.pass();
          signal?.throwIfAborted();
        }
        position += batch.numRows;
        onRows?.(position);
      }
      yield* groups(values, pairs, schema, turn);
    } finally {
      held.end();
    }
  };
  return recordBatchStream(schema, batches());
}

/** How many lists of a column have about as many items as are coded at once. */
function rowsAtOnce({ length, children }: Data): number {
  const items = children[0]?.length ?? 0;
  return Math.max(1, Math.floor((AT_ONCE * length) / Math.max(length, items, 1)));
}

function addValues(data: Data, values: CodedValues, pairs: CodedPositions, position: number): void {
  const codes = values.codesOf(withoutDictionary(data));
  for (let row = 0; row < codes.length; row++) pairs.add(codes[row] as number, position + row);
}

/** Each item of a list once; nulls are found by no index of items. */
function addItems(data: Data, values: CodedValues, pairs: CodedPositions, position: number): void {
  const lists = loadColumn(data);
  if (lists.form !== 'list') return;
  // Starts and ends count items from the first one of these rows.
  const { starts, ends, valid } = lists;
  const before = Number(data.valueOffsets?.[0] ?? 0);
  const child = sliceData(data.children[0] as Data, before, ends[data.length - 1] ?? 0);
  const codes = values.codesOf(withoutDictionary(child));
  for (let row = 0; row < data.length; row++) {
    if (valid !== null && valid[row] === 0) continue;
    const from = starts[row] as number;
    const to = ends[row] as number;
    const seen = to - from > FEW_ITEMS ? new Set<number>() : undefined;
    for (let item = from; item < to; item++) {
      const code = codes[item] as number;
      if (!child.getValid(item)) continue;
      if (seen === undefined ? isAmong(codes, from, item, code) : seen.has(code)) continue;
      seen?.add(code);
      pairs.add(code, position + row);
    }
  }
}

function isAmong(codes: Uint32Array, from: number, to: number, code: number): boolean {
  for (let at = from; at < to; at++) if (codes[at] === code) return true;
  return false;
}

async function* groups(
  coded: CodedValues,
  pairs: CodedPositions,
  schema: RecordBatchStream['schema'],
  turn: Turn,
): AsyncGenerator<RecordBatch> {
  const sorted = coded.inOrder();
  // A file has rows: of no value at all, there is a null that no row has.
  if (sorted === undefined) {
    const none = nullColumn(schema.fields[0]?.type as DataType, 1);
    yield recordBatch(
      schema,
      [none, numberColumn([0]), bytesColumn(new Binary(), [new Uint8Array(0)])],
      1,
    );
    return;
  }
  const { positions, starts } = pairs.byCode(coded.count);
  let from = 0;
  let bytes = 0;
  let found: Uint8Array[] = [];
  let sizes: number[] = [];
  const batch = (): RecordBatch => {
    const rows = found.length;
    const made = [
      sliceData(sorted.values, from, rows),
      numberColumn(sizes),
      bytesColumn(new Binary(), found),
    ];
    from += rows;
    [bytes, found, sizes] = [0, [], []];
    return recordBatch(schema, made, rows);
  };
  for (const code of sorted.codes) {
    const [start, end] = [starts[code] as number, starts[code + 1] as number];
    const encoded = encodePositions(positions.subarray(start, end));
    found.push(encoded);
    sizes.push(end - start);
    bytes += encoded.length;
    if (found.length === MOST_VALUES || bytes >= MOST_BYTES) yield batch();
    if (turn.isOver()) await turn.pass();
  }
  if (found.length > 0) yield batch();
}
