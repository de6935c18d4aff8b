// node parquet_copies.mjs FILE.parquet...: imports each file and writes its table beside it, as Parquet in each codec,
// Arrow, CSV and lines of JSON. For test_parquet.py; needs the built package.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../../dist/index.js';

const folder = mkdtempSync(join(tmpdir(), 'parquet-'));
const db = await connect(folder, { durability: 'relaxed' });
for (const [at, file] of process.argv.slice(2).entries()) {
  const { table } = await db.importFile(file, `t${at}`);
  for (const compression of ['snappy', 'zstd', 'gzip', 'none']) {
    await table.toParquet(`${file}.${compression}.parquet`, { compression, rowGroupRows: 1500 });
  }
  await table.toArrowFile(`${file}.arrow`);
  await table.toCsv(`${file}.csv`, { null: 'NULL' });
  await table.toJsonLines(`${file}.ndjson`);
}
await db.close();
rmSync(folder, { recursive: true, force: true });
