/** Memory of a streaming scan: a table larger than any cache, read by a process of its own. */
import { connect } from '../../dist/index.js';
import { runChild } from '../harness/child.mjs';

const GIGABYTES = 4;
/** Most megabytes the reading process may have resident. */
const LIMIT = 300;
const ROWS = 65_536;
const WIDTH = 128;

/** Batches of (id, vector float32[128]) without end in sight: 33 MB each. */
async function* rows(batches) {
  const { Field, FixedSizeList, Float32, Int64, makeData, RecordBatch, Schema, Struct } =
    await import('../../node_modules/apache-arrow/Arrow.node.mjs');
  const type = new FixedSizeList(WIDTH, new Field('item', new Float32(), true));
  const schema = new Schema([new Field('id', new Int64(), true), new Field('vector', type, true)]);
  for (let batch = 0; batch < batches; batch++) {
    const ids = BigInt64Array.from({ length: ROWS }, (_, row) => BigInt(batch * ROWS + row));
    const values = new Float32Array(ROWS * WIDTH).fill(batch);
    const children = [
      makeData({ type: new Int64(), length: ROWS, data: ids }),
      makeData({ type, length: ROWS, child: makeData({ type: new Float32(), data: values }) }),
    ];
    const data = makeData({ type: new Struct(schema.fields), length: ROWS, children });
    yield new RecordBatch(schema, data);
  }
}

export async function* memoryWorkloads({ folder, size }) {
  const uri = folder('memory');
  const db = await connect({ uri, durability: 'relaxed' });
  const batches = size(Math.ceil((GIGABYTES * 2 ** 30) / (ROWS * (WIDTH * 4 + 8))));
  await db.createTable('large', rows(batches));
  const options = { readOnly: true };
  const job = { side: 'ours', folder: uri, table: 'large', options, call: 'stream' };
  const { answer, megabytes, cpu } = runChild(job);
  if (answer !== batches * ROWS) throw new Error(`read ${answer} rows of ${batches * ROWS}`);
  yield {
    name: `megabytes resident while streaming ${GIGABYTES} GB`,
    unit: 'MB',
    goals: [{ atMost: LIMIT }],
    figures: { ours: { median: megabytes, min: megabytes, cpu, samples: 1 } },
  };
}
