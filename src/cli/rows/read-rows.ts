/**
 * Runs a query and yields its rows as objects, in groups of at most 1,024 (`readRows`), so that
 * they can be printed while the query still runs. Shows progress if standard output is not a
 * terminal.
 */
import type { QueryBase, Row } from '../../sdk/index.ts';
import { type Call, counted } from '../terminal/index.ts';

/** Rows of one group: as objects, these take far more memory than the batch that they are of. */
const GROUP = 1024;

/** Tells how many there are so far, unless they are seen on a terminal. */
export async function* readRows(
  query: QueryBase,
  { signal, terminals, progress }: Pick<Call, 'signal' | 'terminals' | 'progress'>,
): AsyncGenerator<readonly Row[]> {
  // Other commands start faster without what reads Arrow.
  const { batchRows } = await import('../../sdk/index.ts');
  let rows = 0;
  if (!terminals.output) progress(() => counted(rows, 'row'));
  for await (const batch of query.execute({ maxBatchLength: GROUP, signal })) {
    rows += batch.numRows;
    yield batchRows(batch);
  }
}
