/** Tables of 1,000 columns. */
import { connect } from '../../dist/index.js';
import { wideTable } from '../harness/data.mjs';
import { bytesIn } from '../harness/disk.mjs';
import { Stores } from '../harness/stores.mjs';
import { touch } from '../harness/touch.mjs';

const WIDTH = 1_000;
const ROWS = 10_000;
const SAMPLES = { samples: 15, warmups: 3 };

export async function* wideWorkloads(ctx) {
  const width = ctx.size(WIDTH, 5);
  const rows = ctx.size(ROWS, 10);
  const stores = await Stores.open(ctx, 'wide');
  await stores.create('wide', (arrow) => wideTable(arrow, rows, width));
  const describe = async (connection) => {
    const table = await connection.openTable('wide');
    const fields = (await table.schema()).fields.length;
    return fields + (await table.version()) + (await table.countRows());
  };
  const column = async (connection) => {
    const table = await connection.openTable('wide');
    return touch(await table.query().select(['c3']).toArrow());
  };
  const goals = [{ times: 2 }];
  yield {
    name: '1,000 columns: new connection, open + describe',
    goals,
    ...SAMPLES,
    sides: anew(ctx, stores, describe),
  };
  yield {
    name: '1,000 columns: new connection, one column',
    goals,
    ...SAMPLES,
    sides: anew(ctx, stores, column),
  };
  const tables = await stores.tables('wide');
  yield {
    name: '1,000 columns: one column of an open table',
    goals,
    ...SAMPLES,
    sides: stores.reads(tables, (t) => t.query().select(['c4']).toArrow()),
  };
  yield {
    name: '1,000 columns: all columns',
    samples: 5,
    warmups: 1,
    sides: stores.reads(tables, (t) => t.query().toArrow()),
  };
  yield await smallFragment(ctx, width);
  stores.close();
}

/** Each sample connects anew, so nothing of the table is in memory. */
function anew({ peers }, { paths }, run) {
  const sides = { ours: async () => run(await connect(paths.ours)) };
  if (peers.has('lancedb'))
    sides.lancedb = async () => run(await peers.lancedb.connect(paths.lance));
  if (peers.has('lancedb-ns')) {
    sides['lancedb-ns'] = async () =>
      run(await peers.lancedb.connectNamespace('dir', { root: paths.lance }));
  }
  return sides;
}

/** What one more fragment of ten rows adds to the files. */
async function smallFragment(ctx, width) {
  const stores = await Stores.open(ctx, 'narrow');
  const make = (arrow) => wideTable(arrow, 10, width);
  await stores.create('t', make);
  const sides = { ours: stores.paths.ours };
  if (stores.lance !== undefined) sides.lancedb = stores.paths.lance;
  const kinds = { ours: /\.arrow$/, lancedb: /\.lance$/ };
  const before = {};
  for (const [side, path] of Object.entries(sides)) before[side] = bytesIn(path, kinds[side]);
  await stores.add('t', make);
  const figures = {};
  for (const [side, path] of Object.entries(sides)) {
    const kilobytes = (bytesIn(path, kinds[side]) - before[side]) / 1_000;
    figures[side] = { median: kilobytes, min: kilobytes, cpu: null, samples: 1 };
  }
  stores.close();
  return {
    name: '1,000 columns: bytes of a fragment of 10 rows',
    unit: 'KB',
    goals: [{ atMost: Math.round(1.5 * 8 * 10 * (width + 1)) / 1_000 }],
    figures,
  };
}
