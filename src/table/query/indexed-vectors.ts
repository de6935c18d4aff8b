/**
 * `vectorAccess` finds the index that a vector search can use, or says why it uses none. If the
 * request names no metric, it takes that of the index, or l2 without an index. `nearIndexed`
 * returns the rows of the index that are likely to be nearest, or all rows that match the prefilter
 * if they are few; a damaged segment throws Corrupt. The search then measures their distances.
 */
import type { IndexEntry } from '../../format/index.ts';
import {
  IVF,
  type IvfMetric,
  ivfParameters,
  lengthOf,
  NO_FRAGMENT_ROWS,
  rowsAtPositions,
  union,
} from '../../indexes/index.ts';
import { hasPartitions, LARGEST, type Metric } from '../../vector/index.ts';
import type { IdentifiedField } from '../fields/index.ts';
import {
  type Coverage,
  coverageOf,
  entryFile,
  type IndexedRows,
  indexedField,
  nearRows,
  placedRuns,
  type SearchedSegment,
} from '../indexes/index.ts';
import {
  emptyMask,
  liveRows,
  type MaskedSegment,
  markMatching,
  planScan,
  type ScanPlan,
} from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import type { SearchRequest } from './nearest.ts';
import { listSizeOf } from './vector-column.ts';

export interface VectorAccess {
  readonly metric: Metric;
  readonly used: { readonly index: IndexEntry; readonly coverage: Coverage } | undefined;
  /**
   * Ids of the fragments that are searched, where those that the index does not cover are left out.
   */
  readonly only: ReadonlySet<number> | undefined;
  /** A line of a plan: which index is used, or why none is; undefined where the column has none. */
  readonly said: string | undefined;
}

type Asked = Pick<
  SearchRequest,
  | 'vectors'
  | 'metric'
  | 'isExact'
  | 'isFast'
  | 'limit'
  | 'offset'
  | 'lowerBound'
  | 'nprobes'
  | 'leastProbes'
  | 'mostProbes'
>;

/** Rows measured beside those wanted where nothing else is said, or a quarter more. */
const MORE = 6;

/** The newest index of the column, of those for the metric if there are any. */
function vectorIndexOf(
  snapshot: Snapshot,
  { id }: IdentifiedField,
  metric: Metric | undefined,
): IndexEntry | undefined {
  const own = (snapshot.manifest.indexes ?? []).filter(
    (index) => index.type === IVF && indexedField(snapshot, index)?.leaf.id === id,
  );
  const fitting = own.filter(({ parameters }) => ivfParameters(parameters).metric === metric);
  return (fitting.length > 0 ? fitting : own).reduce<IndexEntry | undefined>(
    (newest, index) => (newest !== undefined && newest.created > index.created ? newest : index),
    undefined,
  );
}

export async function vectorAccess(
  engine: Engine,
  snapshot: Snapshot,
  column: IdentifiedField,
  request: Asked,
): Promise<VectorAccess> {
  const index = vectorIndexOf(snapshot, column, request.metric);
  if (index === undefined)
    return { metric: request.metric ?? 'l2', used: undefined, only: undefined, said: undefined };
  const own = ivfParameters(index.parameters).metric;
  const metric = request.metric ?? own;
  const { name } = index;
  const unused = (why: string, covered?: Coverage): VectorAccess => {
    const isFast = covered !== undefined && isSkipped(request, covered);
    const left = isFast && covered.otherRows > 0 ? covered.otherRows : 0;
    const others = left === 0 ? '' : `; ${left} that ${name} does not cover are left out`;
    return {
      metric,
      used: undefined,
      only: isFast ? covered.fragments : undefined,
      said: `Index: none used, ${why}${others}`,
    };
  };
  if (request.isExact === true) return unused(`the query leaves ${name} out`);
  if (metric !== own) return unused(`${name} is for ${own}`);
  if (!hasPartitions()) return unused('this runtime has no WebAssembly SIMD');
  const fast = request.isFast === true ? await coverageOf(engine, snapshot, index) : undefined;
  // The nearest rows are those below an upper bound; rows below a lower one would take their places.
  if (request.lowerBound !== undefined && (metric === 'dot' || request.lowerBound > 0))
    return unused('distances have a lower bound', fast);
  const rows = snapshot.rowCount;
  if (rows < engine.limits.indexedRows) return unused(`${rows} rows are measured as fast`, fast);
  const k = wantedOf(request);
  if (k > Math.max(1, rows * engine.limits.indexedShare))
    return unused(`${k} of ${rows} rows are asked for`, fast);
  if (request.vectors.some((vector) => vector.some((value) => !(Math.abs(value) <= LARGEST))))
    return unused(`the query vector has numbers beyond ${LARGEST}`, fast);
  const coverage = await coverageOf(engine, snapshot, index);
  const [damage] = coverage.damages;
  if (coverage.fragments.size === 0) {
    return unused(
      damage === undefined
        ? `${name} covers no row of this version`
        : `${name} is damaged: ${damage}`,
      fast,
    );
  }
  const others =
    coverage.otherRows === 0
      ? ''
      : `, and ${coverage.otherRows} others are ${isSkipped(request, coverage) ? 'left out' : 'measured'}`;
  const broken = damage === undefined ? '' : `; ${name} is damaged: ${damage}`;
  return {
    metric,
    used: { index, coverage },
    only: isSkipped(request, coverage) ? coverage.fragments : undefined,
    said: `Index: ${name} finds ${keptOf(request)} of ${coverage.indexedRows} rows for each vector, ${probesSaid(request)}${others}${broken}`,
  };
}

/**
 * Whether rows that the index does not cover are left out: as asked, and where no part of it is
 * damaged.
 */
const isSkipped = ({ isFast }: Pick<Asked, 'isFast'>, { damages }: Coverage): boolean =>
  isFast === true && damages.length === 0;

const wantedOf = ({ limit, offset = 0 }: Asked): number =>
  (limit ?? Number.MAX_SAFE_INTEGER) + offset;

/** Rows whose distances are measured for each vector. */
function keptOf(request: Asked & Pick<SearchRequest, 'refineFactor'>): number {
  const k = Math.max(1, wantedOf(request));
  return request.refineFactor === undefined
    ? k + Math.max(MORE, k >> 2)
    : k * Math.max(1, request.refineFactor);
}

function probesOf({ nprobes, leastProbes, mostProbes }: Asked): readonly [number, number] {
  if (leastProbes === undefined && mostProbes === undefined && nprobes !== undefined && nprobes > 0)
    return [nprobes, nprobes];
  return [leastProbes ?? 0, mostProbes ?? Number.POSITIVE_INFINITY];
}

function probesSaid(request: Asked): string {
  const [least, most] = probesOf(request);
  if (least >= most) return `in ${most} partitions of each segment`;
  const bounds = [
    ...(least > 0 ? [`at least ${least}`] : []),
    ...(most < Number.POSITIVE_INFINITY ? [`at most ${most}`] : []),
  ];
  return bounds.length === 0
    ? 'in as many partitions as it takes'
    : `in ${bounds.join(' and ')} partitions of each segment`;
}

/** @throws Corrupt */
export async function nearIndexed(
  plan: ScanPlan,
  column: IdentifiedField,
  request: SearchRequest,
  { index, coverage }: NonNullable<VectorAccess['used']>,
): Promise<IndexedRows> {
  const { engine, snapshot } = plan;
  const covered = coverage.fragments;
  const chosen = (rows: IndexedRows['rows']): IndexedRows => ({
    covered,
    rows,
    exact: true,
    isChoice: true,
  });
  const keep = Math.min(keptOf(request), coverage.indexedRows);
  const matching = request.prefilter ? request.filter : undefined;
  let segments: readonly SearchedSegment[];
  if (matching === undefined) {
    const live: SearchedSegment[] = [];
    for (const segment of coverage.segments)
      live.push({ covered: segment, wanted: await liveRows(engine, snapshot, segment) });
    segments = live;
  } else {
    const { counters, signal, memory } = plan;
    const asked = { columns: [], filter: matching, counters, signal, memory };
    const marked = coverage.segments.map((each) => ({ covered: each, wanted: emptyMask(each) }));
    const count = await markMatching(await planScan(engine, snapshot, asked), marked);
    if (count <= keep) return chosen(markedRows(snapshot, marked, covered));
    segments = marked;
  }
  const dimension = listSizeOf(column.field.type);
  const [leastProbes, mostProbes] = probesOf(request);
  const rows = await nearRows(
    engine,
    snapshot,
    {
      metric: ivfParameters(index.parameters).metric satisfies IvfMetric,
      dimension,
      length: lengthOf(dimension),
      vectors: request.vectors,
      k: Math.min(Math.max(1, wantedOf(request)), keep),
      keep,
      leastProbes,
      mostProbes,
      signal: request.signal,
    },
    segments,
    covered,
  );
  return chosen(rows);
}

/** All rows that are marked. */
function markedRows(
  snapshot: Snapshot,
  segments: readonly MaskedSegment[],
  covered: ReadonlySet<number>,
): IndexedRows['rows'] {
  let rows = NO_FRAGMENT_ROWS;
  for (const { covered: own, wanted } of segments) {
    const positions: number[] = [];
    for (const [position, isWanted] of wanted.entries()) {
      if (isWanted !== 0) positions.push(position);
    }
    const file = entryFile(snapshot, own.segment);
    rows = union(
      rows,
      rowsAtPositions(Uint32Array.from(positions), placedRuns(own.segment), covered, file),
    );
  }
  return rows;
}
