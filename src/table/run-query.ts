/**
 * `query` runs a query of a snapshot: a scan at once, and an ordered read or a search by the room
 * `query/`, which it loads for the first of these. `explainQuery` and `analyzeQuery`, which give
 * the plan of any query in words, load it too. So a program that only scans does not parse what
 * sorts and searches.
 */
import type { RecordBatchStream } from '../arrow/index.ts';
import { onDemand } from '../on-demand.ts';
import type { QueryRequest } from './query/index.ts';
import { scan } from './read/index.ts';
import type { Engine, Snapshot } from './versions/index.ts';

const ranking = onDemand(() => import('./query/index.ts'));

/**
 * @throws InvalidInput, TableColumnNotFound at once; what goes wrong while reading, while reading
 */
export async function query(
  engine: Engine,
  snapshot: Snapshot,
  request: QueryRequest,
): Promise<RecordBatchStream> {
  if (isScan(request)) return scan(engine, snapshot, request);
  return ranking((room) => room.query(engine, snapshot, request));
}

/** The plan of a query in words. @throws InvalidInput, TableColumnNotFound as the query itself */
export const explainQuery = (
  engine: Engine,
  snapshot: Snapshot,
  request: QueryRequest,
  verbose: boolean,
): Promise<string> => ranking((room) => room.explainQuery(engine, snapshot, request, verbose));

/** Runs a query to its end; its plan in words, and what it read. */
export const analyzeQuery = (
  engine: Engine,
  snapshot: Snapshot,
  request: QueryRequest,
): Promise<string> => ranking((room) => room.analyzeQuery(engine, snapshot, request));

/** Without keys to order by, and without a vector, a column of vectors or a text to search by. */
const isScan = ({ orderBy = [], search, text }: QueryRequest): boolean =>
  orderBy.length === 0 &&
  text === undefined &&
  (search === undefined || (search.vectors.length === 0 && search.vectorColumn === undefined));
