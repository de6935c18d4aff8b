/** Overwrites that add their rows where the table has a version by then. */
import { expect, test } from 'vitest';
import { recordBatchStream, tableFromArrays, Vector } from '../../../src/arrow/apache.ts';
import { columnsOf } from '../../../src/arrow/arrow-data.ts';
import { scan } from '../../../src/table/read/scan.ts';
import { overwrite } from '../../../src/table/write/append.ts';
import { declared, testEngine } from '../../helpers/engines.ts';

const rowsOf = (columns: Record<string, Int32Array | Float64Array>) => {
  const { schema, batches } = tableFromArrays(columns);
  return recordBatchStream(schema, batches);
};

test.each([
  ['of the types of the table', Int32Array.of(3), Float64Array.of(4)],
  ['of narrower types, whose columns have other ids', Int32Array.of(3), Int32Array.of(4)],
])('rows %s are added to the base that is given', async (_, id, x) => {
  const subject = testEngine();
  const { engine } = subject;
  const branch = await declared(subject);
  const first = rowsOf({ id: Int32Array.of(1), x: Float64Array.of(2) });
  const { snapshot: base } = await overwrite(engine, branch, undefined, first);
  const added = await overwrite(engine, branch, base, rowsOf({ x, id }), { orAppend: true });
  expect(added).toMatchObject({ rows: 1, snapshot: { version: 2, rowCount: 2 } });
  const found: unknown[] = [];
  for await (const batch of await scan(engine, added.snapshot, {}))
    found.push(columnsOf(batch).map((data) => Array.from(new Vector([data]))));
  expect(found.flat(2)).toEqual([1, 2, 3, 4]);
});
