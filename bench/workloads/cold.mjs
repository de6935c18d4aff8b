/**
 * Every read with its values looked at: on a table that the cache holds, with no cache, and on a table
 * three times as large as the cache.
 */
import { shifted, tableOf, tabular, vectorTable } from '../harness/data.mjs';
import { Stores, W_TYPES } from '../harness/stores.mjs';
import { random } from './random.mjs';
import { DIMENSION, ROWS, readsOf, VECTORS } from './reads.mjs';

/** Times ROWS: 67 MB each, and the cache has 128 MB. */
const LARGE = 6;

/** Fewer than where the cache is warm, as nothing has to warm up. */
const few = ({ samples, block = 1 }) => ({
  samples: Math.min(samples, block > 1 ? 40 : 7),
  warmups: 2,
  block: Math.min(block, 10),
});

export async function* coldWorkloads(ctx) {
  const { size } = ctx;
  const columns = tabular(size(ROWS));
  const stores = await Stores.open(ctx, 'cold');
  await stores.create('w', (arrow) => tableOf(arrow, columns));
  const next = random(7);
  const floats = Float32Array.from({ length: size(VECTORS) * DIMENSION }, () => next());
  await stores.create('v', (arrow) => vectorTable(arrow, floats, DIMENSION));
  await stores.toDuck('w', W_TYPES);
  for (const [label, options] of [
    ['touched', undefined],
    ['no cache', { bufferBytes: 0 }],
  ]) {
    const tables = { w: await stores.tables('w', options), v: await stores.tables('v', options) };
    for (const read of readsOf(size(ROWS))) {
      yield {
        name: `${label}: ${read.name}`,
        ...few(read),
        sides: stores.reads(tables[read.table], read.run, read.sql, read.value),
      };
    }
  }
  stores.close();
  if (ctx.wants('3 caches')) yield* beyondTheCache(ctx, columns);
}

async function* beyondTheCache(ctx, columns) {
  const { size } = ctx;
  const rows = size(ROWS);
  const stores = await Stores.open(ctx, 'large');
  await stores.create('w', (arrow) => tableOf(arrow, columns));
  for (let part = 1; part < LARGE; part++) {
    await stores.add('w', (arrow) => tableOf(arrow, shifted(columns, part * rows)));
  }
  if (stores.duck !== undefined) {
    // The first part alone goes through JavaScript.
    const first = await Stores.open(ctx, 'large-part');
    await first.create('w', (arrow) => tableOf(arrow, columns));
    await first.toDuck('w', W_TYPES);
    first.close();
    const path = `${first.paths.parquet}-w.parquet`;
    await stores.duck.run(
      `CREATE TABLE w AS SELECT part * ${rows} + id AS id, x, category, text
       FROM range(${LARGE}) AS parts(part), read_parquet('${path}') ORDER BY id`,
    );
    await stores.toParquet('w');
  }
  const tables = await stores.tables('w');
  for (const read of readsOf(rows * LARGE)) {
    if (read.table !== 'w') continue;
    const { samples, ...rest } = few(read);
    yield {
      name: `3 caches: ${read.name}`,
      ...rest,
      samples: Math.min(samples, read.block > 1 ? 40 : 5),
      sides: stores.reads(tables, read.run, read.sql, read.value),
    };
  }
  stores.close();
}
