/** Bytes on disk of the same rows. */
import { logTable, tableOf, tabular } from '../harness/data.mjs';
import { bytesIn } from '../harness/disk.mjs';
import { ownArrow, Stores, W_TYPES } from '../harness/stores.mjs';

/** So many rows are 31.5 MB of Arrow buffers. */
const LOG_ROWS = 318_000;
const ROWS = 1_000_000;

const LOG_TYPES = {
  at: 'BIGINT',
  level: 'VARCHAR',
  host: 'VARCHAR',
  route: 'VARCHAR',
  status: 'INTEGER',
  took: 'DOUBLE',
  message: 'VARCHAR',
};

export async function* diskWorkloads(ctx) {
  const logs = ctx.size(LOG_ROWS);
  yield await sizes(ctx, 'log', {
    name: 'disk: a table of log lines',
    goals: [],
    types: LOG_TYPES,
    make: (arrow) => logTable(arrow, logs),
  });
  yield await sizes(ctx, 'zstd', {
    name: "disk: a table of log lines, compression: 'zstd'",
    goals: ctx.scale === 1 ? [{ atMost: 7 }] : [],
    types: LOG_TYPES,
    make: (arrow) => logTable(arrow, logs),
    options: { compression: 'zstd' },
  });
  const columns = tabular(ctx.size(ROWS));
  yield await sizes(ctx, 'plain', {
    name: 'disk: 1,000,000 rows of random texts and numbers',
    types: W_TYPES,
    make: (arrow) => tableOf(arrow, columns),
  });
}

async function sizes(ctx, folder, { name, goals, types, make, options }) {
  const stores = await Stores.open(ctx, folder);
  await stores.create('w', make, options);
  await stores.toDuck('w', types);
  const figures = { ours: megabytes(stores.paths.ours) };
  if (stores.lance !== undefined) figures.lancedb = megabytes(stores.paths.lance);
  figures.arrow = size(make(ownArrow).batches[0].data.byteLength);
  if (stores.duck !== undefined) {
    figures.parquet = megabytes(`${stores.paths.parquet}-w.parquet`);
    figures.duckdb = megabytes(stores.paths.duckdb);
  }
  stores.close();
  return { name, goals, unit: 'MB', figures };
}

const size = (bytes) => {
  const median = bytes / 1e6;
  return { median, min: median, cpu: null, samples: 1 };
};
const megabytes = (path) => size(bytesIn(path));
