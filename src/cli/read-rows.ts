/** The rows that a query finds, in groups that are printed as they come. */
import type { QueryBase } from '../sdk/query-base.ts';
import { batchRows, type Row } from '../sdk/rows.ts';

/** Rows of one group: as objects, these take far more memory than the batch that they are of. */
const GROUP = 1024;

export async function* readRows(query: QueryBase): AsyncGenerator<readonly Row[]> {
  for await (const batch of query.execute({ maxBatchLength: GROUP })) yield batchRows(batch);
}
