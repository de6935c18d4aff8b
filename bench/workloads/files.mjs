/**
 * Files of other programs into a table: CSV and Parquet of 1,000,000 rows of 5 columns (65 MB), plain and
 * compressed, and lines of JSON; and the table as such files. Beside DuckDB's import and export of the same.
 */
import { createReadStream, createWriteStream, writeFileSync } from 'node:fs';
import { finished, pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { connect } from '../../dist/index.js';
import { Duck } from '../harness/duck.mjs';

const ROWS = 1_000_000;
const SAMPLES = 5;

export async function* filesWorkloads(ctx) {
  const rows = ctx.size(ROWS, 10);
  const csv = ctx.folder('rows.csv');
  const lines = ctx.folder('rows.ndjson');
  await writeRows(csv, rows, 'id,name,score,day,at\n', Object.values);
  await writeRows(lines, rows / 10, '', JSON.stringify);
  await pipeline(createReadStream(csv), createGzip({ level: 1 }), createWriteStream(`${csv}.gz`));
  const db = await connect(ctx.folder('files'));
  const duck = ctx.peers.duckdb && (await Duck.open(ctx.peers.duckdb, ctx.folder('files.duckdb')));
  const isWhole = ctx.scale === 1;
  const row = (name, file, read, goals) => ({
    name,
    goals: isWhole ? goals : [],
    samples: SAMPLES,
    settled: true,
    sides: {
      ours: async () => (await db.importFile(file, 't', [], { mode: 'overwrite' })).rows,
      ...(duck && {
        duckdb: async () => {
          await duck.run(`CREATE OR REPLACE TABLE t AS SELECT * FROM ${read}('${file}')`);
          return duck.number('SELECT count(*) FROM t');
        },
      }),
    },
  });
  yield row('files: import CSV, 1,000,000 x 5', csv, 'read_csv', [{ atMost: 2000 }]);
  yield row('files: import CSV.gz, 1,000,000 x 5', `${csv}.gz`, 'read_csv', []);
  yield row('files: import NDJSON, 100,000 x 5', lines, 'read_json', []);
  const parquet = ctx.folder('rows.parquet');
  const { table } = await db.importFile(csv, 'whole');
  await table.toParquet(parquet);
  yield row('files: import Parquet, 1,000,000 x 5', parquet, 'read_parquet', [{ atMost: 2000 }]);
  await duck?.run(`CREATE TABLE whole AS SELECT * FROM read_parquet('${parquet}')`);
  const out = (name, ending, how, goals) => ({
    name,
    goals: isWhole ? goals : [],
    samples: SAMPLES,
    settled: true,
    sides: {
      ours: async () => (await table.toFile(ctx.folder(`ours.${ending}`))).rows,
      ...(duck && {
        duckdb: async () => {
          await duck.run(`COPY whole TO '${ctx.folder(`duckdb.${ending}`)}' (${how})`);
          return duck.number('SELECT count(*) FROM whole');
        },
      }),
    },
  });
  yield out('files: export CSV, 1,000,000 x 5', 'csv', 'FORMAT csv', [{ atMost: 3000 }]);
  yield out('files: export CSV.gz, 1,000,000 x 5', 'csv.gz', 'FORMAT csv, COMPRESSION gzip', []);
  yield out('files: export NDJSON, 1,000,000 x 5', 'ndjson', 'FORMAT json', []);
  const how = 'FORMAT parquet, COMPRESSION snappy';
  yield out('files: export Parquet, 1,000,000 x 5', 'parquet', how, [{ atMost: 3000 }]);
  await db.close();
}

/** Numbers, texts, dates and timestamps; the same at every run. */
async function writeRows(file, rows, head, textOf) {
  writeFileSync(file, head);
  const out = createWriteStream(file, { flags: 'a' });
  let seed = 1;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    return seed / 0x7fffffff;
  };
  for (let id = 0; id < rows; ) {
    let text = '';
    for (const end = Math.min(rows, id + 10_000); id < end; id++) {
      const at = new Date(1_577_836_800_000 + Math.floor(random() * 1e11)).toISOString();
      const name = `user ${Math.floor(random() * 1e6)} of town`;
      const score = Number((random() * 1000).toFixed(3));
      text += `${textOf({ id, name, score, day: at.slice(0, 10), at: at.slice(0, 19).replace('T', ' ') })}\n`;
    }
    if (!out.write(text)) await new Promise((resolve) => out.once('drain', resolve));
  }
  out.end();
  await finished(out);
}
