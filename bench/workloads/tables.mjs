/** Reading and changing data: 1,000,000 rows x (id, x, category, text), 100,000 vectors of 128. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as lancedb from '@lancedb/lancedb';
import * as peerArrow from 'apache-arrow';
import { connect } from '../../dist/index.js';
import * as ownArrow from '../../node_modules/apache-arrow/Arrow.node.mjs';
import { random } from './random.mjs';
import { DIMENSION, READS, ROWS } from './reads.mjs';

const VECTORS = 100_000;
/** Processes whose first read is timed; the median counts. */
const PROCESSES = 7;

/** Columns as plain buffers, so that both releases of Arrow wrap the same ones. */
function tabular(rows, firstId = 0) {
  const next = random(42);
  const ids = BigInt64Array.from({ length: rows }, (_, row) => BigInt(firstId + row));
  const x = Float64Array.from({ length: rows }, () => next());
  const encoder = new TextEncoder();
  const texts = (make) => {
    const parts = [];
    const offsets = new Int32Array(rows + 1);
    for (let row = 0; row < rows; row++) {
      const bytes = encoder.encode(make());
      parts.push(bytes);
      offsets[row + 1] = offsets[row] + bytes.length;
    }
    return { offsets, bytes: Buffer.concat(parts) };
  };
  const category = texts(() => `k${String(Math.floor(next() * 20)).padStart(2, '0')}`);
  const letters = 'abcdefghijklmnopqrstuvwxyz012345';
  const text = texts(() =>
    Array.from(
      { length: 36 + Math.floor(next() * 9) },
      () => letters[Math.floor(next() * 32)],
    ).join(''),
  );
  return { rows, ids, x, category, text };
}

function tableOf(arrow, { rows, ids, x, category, text }) {
  const { Field, Float64, Int64, makeData, RecordBatch, Schema, Struct, Table, Utf8 } = arrow;
  const types = { id: new Int64(), x: new Float64(), category: new Utf8(), text: new Utf8() };
  const schema = new Schema(
    Object.entries(types).map(([name, type]) => new Field(name, type, true)),
  );
  const texts = ({ offsets, bytes }) =>
    makeData({ type: new Utf8(), length: rows, valueOffsets: offsets, data: bytes });
  const children = [
    makeData({ type: types.id, length: rows, data: ids }),
    makeData({ type: types.x, length: rows, data: x }),
    texts(category),
    texts(text),
  ];
  const data = makeData({ type: new Struct(schema.fields), length: rows, children });
  return new Table(schema, [new RecordBatch(schema, data)]);
}

function vectorTable(arrow, values) {
  const { Field, FixedSizeList, Float32, Int64, makeData, RecordBatch, Schema, Struct, Table } =
    arrow;
  const type = new FixedSizeList(DIMENSION, new Field('item', new Float32(), true));
  const schema = new Schema([new Field('id', new Int64(), true), new Field('vector', type, true)]);
  const ids = BigInt64Array.from({ length: VECTORS }, (_, row) => BigInt(row));
  const children = [
    makeData({ type: new Int64(), length: VECTORS, data: ids }),
    makeData({ type, length: VECTORS, child: makeData({ type: new Float32(), data: values }) }),
  ];
  const data = makeData({ type: new Struct(schema.fields), length: VECTORS, children });
  return new Table(schema, [new RecordBatch(schema, data)]);
}

/** Milliseconds of a read in a process that has read nothing before. */
function firstReads(folder, name) {
  const script = fileURLToPath(new URL('./first-read.mjs', import.meta.url));
  const read = (...words) => Number(execFileSync(process.execPath, [script, ...words, name]));
  const own = [];
  const other = [];
  for (let count = 0; count < PROCESSES; count++) {
    own.push(read('ours', folder('own')));
    other.push(read('peer', folder('other')));
  }
  const median = (times) => times.toSorted((a, b) => a - b)[PROCESSES >> 1];
  return { first_ms: median(own), peer_first_ms: median(other) };
}

export async function* tableWorkloads({ folder }) {
  const own = await connect({ uri: folder('own') });
  const peer = await lancedb.connectNamespace('dir', { root: folder('other') });
  const columns = tabular(ROWS);
  const next = random(7);
  const floats = Float32Array.from({ length: VECTORS * DIMENSION }, () => next());
  const data = { own: tableOf(ownArrow, columns), peer: tableOf(peerArrow, columns) };
  const vectors = { own: vectorTable(ownArrow, floats), peer: vectorTable(peerArrow, floats) };

  yield {
    name: 'bulk write of 1,000,000 rows',
    goal: 4,
    samples: 7,
    settled: true,
    ours: (n) => own.createTable(`w${n}`, data.own),
    peer: (n) => peer.createTable(`w${n}`, data.peer),
  };
  yield {
    name: 'bulk write of 100,000 vectors',
    goal: 4,
    samples: 7,
    settled: true,
    ours: (n) => own.createTable(`v${n}`, vectors.own),
    peer: (n) => peer.createTable(`v${n}`, vectors.peer),
  };
  // Opened anew: nothing that was written is cached.
  const reader = await connect({ uri: folder('own') });
  const tables = { own: await reader.openTable('w0'), peer: await peer.openTable('w0') };
  const near = { own: await reader.openTable('v0'), peer: await peer.openTable('v0') };
  for (const { name, goal, table, samples, warmups, block, run } of READS) {
    const side = table === 'w' ? tables : near;
    yield {
      name,
      goal,
      samples,
      warmups,
      block,
      ours: (n) => run(side.own, n),
      peer: (n) => run(side.peer, n),
      firsts: () => firstReads(folder, name),
    };
  }
  yield* changes(own, peer, data);
  yield* smallFragments(own, peer);
}

async function* changes(own, peer, data) {
  const fresh = async (prefix, count) => {
    const made = [];
    for (let n = 0; n < count; n++) {
      made.push({
        own: await own.createTable(`${prefix}${n}`, data.own),
        peer: await peer.createTable(`${prefix}${n}`, data.peer),
      });
    }
    return made;
  };
  const samples = 7;
  const tables = await fresh('c', samples);
  yield {
    name: 'delete 1 %',
    goal: 1.2,
    samples,
    settled: true,
    ours: (n) => tables[n].own.delete('x > 0.99'),
    peer: (n) => tables[n].peer.delete('x > 0.99'),
  };
  const update = { where: "category = 'k03'", valuesSql: { x: 'x + 1' } };
  yield {
    name: 'update 5 %',
    goal: 1.5,
    samples,
    settled: true,
    ours: (n) => tables[n].own.update(update),
    peer: (n) => tables[n].peer.update(update),
  };
  const source = tabular(10_000, ROWS - 5_000);
  const rows = { own: tableOf(ownArrow, source), peer: tableOf(peerArrow, source) };
  const merge = (table, side) =>
    table.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(rows[side]);
  yield {
    name: 'merge 10,000 into 1,000,000',
    goal: 1.5,
    samples,
    settled: true,
    ours: (n) => merge(tables[n].own, 'own'),
    peer: (n) => merge(tables[n].peer, 'peer'),
  };
}

async function* smallFragments(own, peer) {
  const columns = tabular(10);
  const rows = { own: tableOf(ownArrow, columns), peer: tableOf(peerArrow, columns) };
  const samples = 7;
  const tables = [];
  for (let n = 0; n < samples; n++) {
    const pair = {
      own: await own.createTable(`s${n}`, rows.own),
      peer: await peer.createTable(`s${n}`, rows.peer),
    };
    for (let made = 1; made < 1_000; made++) {
      await pair.own.add(rows.own);
      await pair.peer.add(rows.peer);
    }
    tables.push(pair);
  }
  yield {
    name: 'scan of 1,000 fragments of 10 rows',
    goal: 4,
    samples,
    ours: async (n) => (await tables[n].own.query().toArrow()).numRows,
    peer: async (n) => (await tables[n].peer.query().toArrow()).numRows,
  };
  yield {
    name: 'compaction of 1,000 fragments of 10 rows',
    goal: 6,
    samples,
    settled: true,
    ours: (n) => tables[n].own.optimize(),
    peer: (n) => tables[n].peer.optimize(),
  };
}
