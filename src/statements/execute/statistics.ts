/** Counts of whole tables, and of rows that a condition selects, without a row being read where that can be. */
import { Int64, makeData, type RecordBatch, recordBatch } from '../../arrow/index.ts';
import type { GroupStep } from '../plan/index.ts';
import type { Relation } from './relation.ts';
import { filterText } from './scan.ts';

/** The one row of a statement that counts the rows of a table; undefined for other groups. */
export function countedRows({ keys, aggregates, input, schema }: GroupStep): Relation | undefined {
  const scan = input.kind === 'project' ? input.input : input;
  if (keys.length > 0 || scan.kind !== 'scan' || scan.limit !== undefined) return undefined;
  if (aggregates.length === 0) return undefined;
  if (!aggregates.every(({ star, filter }) => star && filter === undefined)) return undefined;
  return {
    schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      const count = await scan.source.count(filterText(scan));
      const data = aggregates.map(() =>
        makeData({ type: new Int64(), length: 1, data: BigInt64Array.of(BigInt(count)) }),
      );
      yield recordBatch(schema, data, 1);
    },
  };
}
