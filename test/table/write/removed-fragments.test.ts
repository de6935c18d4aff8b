/** Fragments that no version refers to are removed as far as the disk lets them be. */
import { expect, test } from 'vitest';
import { type RecordBatch, recordBatchStream } from '../../../src/arrow/apache.ts';
import { fieldTree } from '../../../src/table/fields/index.ts';
import { writeFragments } from '../../../src/table/write/write.ts';
import { testEngine } from '../../helpers/engines.ts';
import { people } from '../../helpers/people.ts';

test('what fails first is told, and one that cannot be removed keeps no other', async () => {
  const { engine, calls } = testEngine({ limits: { batchRows: 2, fragmentRows: 2 } });
  await engine.store.createFolder('t');
  const rows = await people(6);
  const broken = new Error('no rows any more');
  const batches = async function* (): AsyncGenerator<RecordBatch> {
    yield* rows;
    throw broken;
  };
  let deletions = 0;
  calls.delete = (run, ...asked) => {
    if (deletions++ === 0) throw new Error('no disk');
    return run(...asked);
  };
  const fields = fieldTree(rows.schema.fields, [...rows.schema.fields.keys()], 't');
  const stream = recordBatchStream(rows.schema, batches());
  const options = { lance: false, compression: 'none' } as const;
  await expect(writeFragments(engine, 't', stream, fields, options)).rejects.toBe(broken);
  expect(deletions).toBe(3);
  expect(await engine.store.list('t/data')).toHaveLength(1);
});
