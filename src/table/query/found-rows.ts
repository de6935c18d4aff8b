/**
 * `foundStream` reads the rows that a search found, in the order given, and adds the distance or
 * score of each as a column (`DISTANCE`, `SCORE`). If there are several query vectors, another
 * column has the number of the vector. `SCORES` and `distancesOf` are the fields of these columns.
 * `postfiltered` drops found rows that do not match a predicate, which may read these columns.
 */
import {
  columnsOf,
  type Data,
  dataOf,
  Field,
  Float32,
  Int32,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  recordBatchStream,
  Schema,
  Vector,
} from '../../arrow/index.ts';
import type { ColumnSource } from '../../sql/index.ts';
import { stepped } from '../../stepped.ts';
import {
  planScan,
  ROW_ID,
  ROW_OFFSET,
  type ScanRequest,
  type TakenPart,
  takenInParts,
} from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { inTurns } from '../work/index.ts';
import { answeredColumns, type FoundPlan, foundFilter } from './found-columns.ts';

/** The distance of a row from the query vector. */
export const DISTANCE = '_distance';
/** How well a row matches a full-text query. */
export const SCORE = '_score';
/** Which of several query vectors a row is near to. */
const QUERY_INDEX = 'query_index';

/** The columns that a search for texts adds. */
export const SCORES: readonly Field[] = [new Field(SCORE, new Float32(), true)];
const DISTANCES: readonly Field[] = [new Field(DISTANCE, new Float32(), true)];
const OF_SEVERAL: readonly Field[] = [...DISTANCES, new Field(QUERY_INDEX, new Int32(), true)];

/** The columns that a search for this many vectors adds. */
export const distancesOf = (vectors: number): readonly Field[] =>
  vectors > 1 ? OF_SEVERAL : DISTANCES;

/** Rows found, best first, one entry for each in all arrays. */
export interface Found {
  readonly rowIds: BigUint64Array;
  /** Distances, or scores. */
  readonly values: Float32Array;
  /** The query vector that each row is near to, if there are several. */
  readonly queries?: Int32Array | undefined;
}

export const NOTHING_FOUND: Found = {
  rowIds: new BigUint64Array(0),
  values: new Float32Array(0),
};

/** The columns of the plan for the rows found, with what the search adds. */
export function foundStream(
  plan: FoundPlan,
  found: Found,
  added: readonly Field[],
): RecordBatchStream {
  const schema = resultSchema(plan, added);
  return recordBatchStream(schema, foundRows(plan, schema, found, added));
}

function foundRows(
  plan: FoundPlan,
  schema: Schema,
  { rowIds, values, queries }: Found,
  fields: readonly Field[],
): AsyncGenerator<RecordBatch> {
  const idsOf = (from: number, to: number): BigUint64Array => rowIds.subarray(from, to);
  const held = plan.memory.hold('The rows found');
  const parts = takenInParts(plan, 0, rowIds.length, idsOf);
  const step = async (): Promise<RecordBatch | undefined> => {
    held.set(rowIds.byteLength + values.byteLength + (queries?.byteLength ?? 0));
    const { done, value } = await parts.next();
    if (done === true) return undefined;
    const { batch, found, from } = value;
    const rows = batch.numRows;
    const added = addedColumns({ rowIds, values, queries }, fields, value);
    const ids = (): BigUint64Array =>
      BigUint64Array.from(found, (at) => rowIds[from + at] as bigint);
    const answered = await answeredColumns(plan, batch, added, ids);
    const named = new Map(plan.answer.map(({ field }, at) => [field.name, answered[at]]));
    const data = schema.fields.map(({ name }) => (added.get(name) ?? named.get(name)) as Data);
    return recordBatch(schema, data, rows);
  };
  return stepped(step, async () => {
    held.end();
    await parts.return(undefined);
  });
}

/** What the search adds to the rows of a part, by name. */
function addedColumns(
  { values, queries }: Found,
  fields: readonly Field[],
  { found, from }: Pick<TakenPart, 'found' | 'from'>,
): ReadonlyMap<string, Data> {
  const numbers = [
    Float32Array.from(found, (at) => values[from + at] as number),
    queries && Int32Array.from(found, (at) => queries[from + at] as number),
  ];
  return new Map(
    fields.map(({ name, type }, at) => [name, dataOf(type, found.length, { values: numbers[at] })]),
  );
}

/**
 * The rows found, filtered by the predicate afterwards.
 * @param fields what the search adds, which the predicate may read
 */
export async function postfiltered(
  engine: Engine,
  snapshot: Snapshot,
  { counters, signal, memory }: ScanRequest,
  filter: string,
  all: Found,
  fields: readonly Field[],
): Promise<Found> {
  const predicate = await foundFilter(snapshot, filter, fields);
  const stored = new Set(snapshot.schema.fields.map(({ name }) => name));
  const read = predicate.columns.filter((name) => stored.has(name));
  const columns = [...read, ROW_ID, ...(predicate.usesRowOffset ? [ROW_OFFSET] : [])];
  const plan = await planScan(engine, snapshot, { columns, counters, signal, memory });
  const kept = new Uint32Array(all.rowIds.length);
  let count = 0;
  const idsOf = (from: number, to: number): BigUint64Array => all.rowIds.subarray(from, to);
  for await (const part of takenInParts(plan, 0, kept.length, idsOf)) {
    const { batch, found, from } = part;
    const numbers = columnsOf(batch).slice(read.length);
    const [rowIds, rowOffsets] = numbers.map(({ values }) => values as unknown as BigUint64Array);
    const context = {
      memory: plan.memory,
      rowIds: rowIds as BigUint64Array,
      ...(rowOffsets === undefined ? {} : { rowOffsets }),
    };
    const added = addedColumns(all, fields, part);
    const source: ColumnSource = {
      numRows: batch.numRows,
      getChild: (name) => {
        const data = stored.has(name) ? undefined : added.get(name);
        return data === undefined ? batch.getChild(name) : new Vector([data]);
      },
    };
    const selecting = predicate.selectInSteps(source, context);
    for (const row of await inTurns(plan.turn, selecting, signal)) {
      kept[count++] = from + (found[row] as number);
    }
  }
  const rows = kept.subarray(0, count);
  return {
    rowIds: BigUint64Array.from(rows, (at) => all.rowIds[at] as bigint),
    values: Float32Array.from(rows, (at) => all.values[at] as number),
    queries: all.queries && Int32Array.from(rows, (at) => all.queries?.[at] as number),
  };
}

function resultSchema({ answer, schema }: FoundPlan, added: readonly Field[]): Schema {
  const [value, ...more] = added as [Field, ...Field[]];
  const fieldsOf = (isRowId: boolean): Field[] =>
    answer.filter((column) => column.isRowId === isRowId).map(({ field }) => field);
  return new Schema([...fieldsOf(false), value, ...fieldsOf(true), ...more], schema.metadata);
}
