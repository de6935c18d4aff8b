/**
 * Runs a query and yields its rows as objects in groups, so that they can be printed while the
 * query still runs. `readRows` is for queries whose columns are known; `readAnswer` also returns
 * the names of the columns. Unless standard output is a terminal, both count the rows for the
 * progress line.
 */
import type { RecordBatch } from '../../arrow/index.ts';
import type { Row, RunnableQuery } from '../../sdk/index.ts';
import { type Call, counted, type RowsAnswer } from '../terminal/index.ts';

/** Rows of one group: as objects, these take far more memory than the batch that they are of. */
const GROUP = 1024;

/** Tells how many there are so far, unless they are seen on a terminal. */
export function readRows(query: RunnableQuery, call: Reading): AsyncGenerator<readonly Row[]> {
  return told(query.execute({ maxBatchLength: GROUP, signal: call.signal }), call);
}

/** The same with the names of the columns, which a statement alone knows. */
export async function readAnswer(query: RunnableQuery, call: Reading): Promise<RowsAnswer> {
  const stream = await query.stream({ maxBatchLength: GROUP, signal: call.signal });
  return { columns: stream.schema.fields.map(({ name }) => name), rows: told(stream, call) };
}

type Reading = Pick<Call, 'signal' | 'terminals' | 'progress'>;

async function* told(
  batches: AsyncIterable<RecordBatch>,
  { terminals, progress }: Omit<Reading, 'signal'>,
): AsyncGenerator<readonly Row[]> {
  // Other commands start faster without what reads Arrow.
  const { batchRows } = await import('../../sdk/index.ts');
  let rows = 0;
  if (!terminals.output) progress(() => counted(rows, 'row'));
  for await (const batch of batches) {
    rows += batch.numRows;
    yield batchRows(batch);
  }
}
