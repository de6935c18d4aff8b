/**
 * Imports lines of JSON as they come, in one version and with little memory: rows are read no faster
 * than they are written. `node examples/stream-import.mjs file.ndjson catalog table`, or without
 * arguments with rows that it makes itself.
 */
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect } from 'dirspace';

const ROWS_AT_ONCE = 4096;
const [file, catalog, name = 'imported'] = process.argv.slice(2);
const made = catalog === undefined ? await mkdtemp(join(tmpdir(), 'dirspace-import-')) : undefined;

const db = await connect(made ?? catalog);
// Ctrl-C ends the import: nothing of it becomes visible, and its files are taken back.
const stop = new AbortController();
process.once('SIGINT', () => stop.abort(new Error('stopped')));
let read = 0;
try {
  const table = await db.createTable(
    name,
    batches(file === undefined ? samples() : linesOf(file)),
    [],
    {
      mode: 'overwrite',
      signal: stop.signal,
    },
  );
  console.log(
    `${read} rows read, ${await table.countRows()} stored in version ${await table.version()}`,
  );
  const { fragmentStats } = await table.stats();
  console.log(`${fragmentStats.numFragments} data files`);
} finally {
  await db.close();
  if (made !== undefined) await rm(made, { recursive: true, force: true });
}

/** Arrays of rows: one for each batch, so that no more than one is held. */
async function* batches(rows) {
  let batch = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < ROWS_AT_ONCE) continue;
    read += batch.length;
    if (process.stderr.isTTY) process.stderr.write(`\r${read} rows`);
    yield batch;
    batch = [];
  }
  read += batch.length;
  if (batch.length > 0) yield batch;
}

async function* linesOf(path) {
  for await (const line of createInterface({ input: createReadStream(path) })) {
    if (line !== '') yield JSON.parse(line);
  }
}

function* samples() {
  for (let id = 0; id < 50_000; id++) yield { id, sensor: `s${id % 7}`, value: Math.sin(id / 100) };
}
