/**
 * Joins the rows of a vector search and of a full-text search in one order. `RRFReranker`, the
 * default, adds reciprocal ranks; `RRFReranker.create` makes one. It matches rows by `_rowid`, and
 * throws InvalidInput for rows without it. Programs may implement the interface `Reranker`
 * themselves. `reranked` cuts out of a reranker's rows the page that the query asks for, and throws
 * InvalidInput if they are no record batch or lack `_relevance_score`.
 */
import {
  columnsOf,
  concatData,
  type Data,
  dataOf,
  Field,
  Float32,
  gather,
  nullColumn,
  type RecordBatch,
  recordBatch,
  Schema,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { showKind } from '../handles/index.ts';

/** Puts the rows of two searches into one order. */
export interface Reranker {
  /**
   * The rows of both, best first, with a column `_relevance_score`.
   * @param vecResults of the vector search, with `_rowid` and `_distance`
   * @param ftsResults of the full-text search, with `_rowid` and `_score`
   */
  rerankHybrid(
    query: string,
    vecResults: RecordBatch,
    ftsResults: RecordBatch,
  ): Promise<RecordBatch>;
}

const RELEVANCE = '_relevance_score';
const ROW_ID = '_rowid';

/** Reciprocal rank fusion: a row scores 1 / (k + its rank) in each search that found it. */
export class RRFReranker implements Reranker {
  readonly #k: number;

  private constructor(k: number) {
    this.#k = k;
  }

  /** @param k how little ranks differ; 60 if absent */
  static async create(k = 60): Promise<RRFReranker> {
    if (Number.isFinite(k) && k > 0) return new RRFReranker(k);
    throw new DirspaceError('InvalidInput', `k of RRFReranker is ${k}; it is more than 0.`);
  }

  async rerankHybrid(
    _query: string,
    vecResults: RecordBatch,
    ftsResults: RecordBatch,
  ): Promise<RecordBatch> {
    const [near, found] = [rowIdsOf(vecResults), rowIdsOf(ftsResults)];
    const places = new Map<bigint, number>();
    const scores: number[] = [];
    /** The rows of the second search that the first has not. */
    const others: number[] = [];
    const add = (id: bigint, rank: number): boolean => {
      const place = places.get(id) ?? places.size;
      const isNew = place === places.size;
      places.set(id, place);
      scores[place] = (scores[place] ?? 0) + 1 / (this.#k + rank);
      return isNew;
    };
    for (const [rank, id] of near.entries()) add(id, rank);
    for (const [rank, id] of found.entries()) if (add(id, rank)) others.push(rank);
    // Stable: of equal scores the rows of the vector search come first, each by its rank.
    const order = scores.map((_, place) => place);
    order.sort((a, b) => (scores[b] as number) - (scores[a] as number));
    return joined(vecResults, ftsResults, { places, others, order, scores });
  }
}

interface Fusion {
  /** Place of each row id: the rows of the first search, then the others of the second. */
  readonly places: ReadonlyMap<bigint, number>;
  readonly others: readonly number[];
  readonly order: readonly number[];
  readonly scores: readonly number[];
}

function joined(near: RecordBatch, found: RecordBatch, fusion: Fusion): RecordBatch {
  const { order, scores } = fusion;
  const rows = Uint32Array.from(order);
  const fields: Field[] = [];
  const columns: Data[] = [];
  const others = Uint32Array.from(fusion.others);
  for (const [at, field] of near.schema.fields.entries()) {
    const second = columnNamed(found, field.name);
    const first = columnsOf(near)[at] as Data;
    const rest =
      second === undefined ? nullColumn(field.type, others.length) : gather(second, others);
    fields.push(second === undefined ? nullable(field) : field);
    columns.push(gather(concatData([first, rest]), rows));
  }
  const idOrder = [...fusion.places.keys()];
  const ranks = new Map(rowIdsOf(found).map((id, rank) => [id, rank]));
  for (const [at, field] of found.schema.fields.entries()) {
    if (near.schema.fields.some(({ name }) => name === field.name)) continue;
    const own = concatData([columnsOf(found)[at] as Data, nullColumn(field.type, 1)]);
    const picked = order.map((place) => ranks.get(idOrder[place] as bigint) ?? own.length - 1);
    fields.push(nullable(field));
    columns.push(gather(own, Uint32Array.from(picked)));
  }
  fields.push(new Field(RELEVANCE, new Float32(), true));
  const values = Float32Array.from(order, (place) => scores[place] as number);
  columns.push(dataOf(new Float32(), rows.length, { values }));
  return recordBatch(new Schema(fields, near.schema.metadata), columns, rows.length);
}

const nullable = ({ name, type, metadata }: Field): Field => new Field(name, type, true, metadata);

function columnNamed(batch: RecordBatch, name: string): Data | undefined {
  const at = batch.schema.fields.findIndex((field) => field.name === name);
  return at < 0 ? undefined : columnsOf(batch)[at];
}

function rowIdsOf(batch: RecordBatch): bigint[] {
  const column = columnNamed(batch, ROW_ID);
  if (column === undefined) {
    throw new DirspaceError('InvalidInput', 'Rows to be fused have no column _rowid.');
  }
  return Array.from((column.values as unknown as BigUint64Array).subarray(0, batch.numRows));
}

/** Some rows of a reranked batch, without their ids unless they are wanted. @throws InvalidInput */
export function reranked(
  batch: RecordBatch,
  offset: number,
  limit: number,
  withRowId: boolean,
): RecordBatch {
  if (!Array.isArray(batch?.schema?.fields) || !Array.isArray(batch.data?.children)) {
    throw new DirspaceError(
      'InvalidInput',
      `The reranker answered ${showKind(batch)}; it answers a RecordBatch of the rows in their order.`,
    );
  }
  if (columnNamed(batch, RELEVANCE) === undefined) {
    throw new DirspaceError(
      'InvalidInput',
      `The reranker gave rows without a column ${RELEVANCE}, which tells how good each is.`,
    );
  }
  const from = Math.min(offset, batch.numRows);
  const rows = Uint32Array.from(
    { length: Math.min(batch.numRows - from, limit) },
    (_, at) => from + at,
  );
  const kept = batch.schema.fields.flatMap((field, at) =>
    field.name === ROW_ID && !withRowId ? [] : [[field, columnsOf(batch)[at] as Data] as const],
  );
  const schema = new Schema(
    kept.map(([field]) => field),
    batch.schema.metadata,
  );
  return recordBatch(
    schema,
    kept.map(([, data]) => gather(data, rows)),
    rows.length,
  );
}
