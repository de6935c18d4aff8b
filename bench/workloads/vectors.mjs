/** 1,000,000 vectors of 128: written at once, and the exact ten nearest ones. */
import { vectorTable } from '../harness/data.mjs';
import { Stores } from '../harness/stores.mjs';
import { random } from './random.mjs';
import { DIMENSION } from './reads.mjs';

const VECTORS = 1_000_000;
const PARTS = 10;

export async function* vectorWorkloads(ctx) {
  const part = ctx.size(VECTORS / PARTS, 20);
  const next = random(7);
  const parts = Array.from({ length: PARTS }, () =>
    Float32Array.from({ length: part * DIMENSION }, () => next()),
  );
  const stores = await Stores.open(ctx, 'vectors');
  const make = (index) => (arrow) => vectorTable(arrow, parts[index], DIMENSION, index * part);
  await stores.create('v', make(0));
  for (let index = 1; index < PARTS; index++) await stores.add('v', make(index));
  if (ctx.peers.has('duckdb')) await intoDuck(stores, parts, part);

  const vectors = Array.from({ length: 16 }, () => Array.from({ length: DIMENSION }, () => next()));
  /** The ids tell whether the nearest ones were found. */
  const nearest = async (table, n) => {
    const found = await table
      .vectorSearch(vectors[n % 16])
      .limit(10)
      .toArrow();
    return Number(
      found
        .getChild('id')
        .toArray()
        .reduce((sum, id) => sum + BigInt(id), 0n),
    );
  };
  const sql = (n) => `SELECT sum(id) FROM (SELECT id FROM v ORDER BY
    array_distance(vector, [${vectors[n % 16]}]::FLOAT[${DIMENSION}]) LIMIT 10)`;
  const sides = (tables) => {
    const all = stores.reads(tables, nearest, sql, true);
    delete all.parquet;
    return all;
  };
  const tables = await stores.tables('v');
  const one = { samples: 1, goals: [] };
  yield {
    name: 'exact top 10 of 1,000,000 x 128, first of a connection',
    ...one,
    sides: sides(tables),
  };
  yield {
    name: 'exact top 10 of 1,000,000 x 128',
    goals: [{ atMost: 60 }],
    samples: 9,
    warmups: 3,
    sides: sides(tables),
  };
  const bare = await stores.tables('v', { bufferBytes: 0 });
  yield {
    name: 'no cache: exact top 10 of 1,000,000 x 128',
    samples: 5,
    warmups: 1,
    sides: sides(bare),
  };
  stores.close();
}

async function intoDuck({ duck }, parts, part) {
  const id = { type: 'BIGINT', length: part * parts.length, slice: range };
  const vector = { type: `FLOAT[${DIMENSION}]`, length: id.length, slice: arrays };
  const { arrayValue } = await import('@duckdb/node-api');
  function arrays(from, to) {
    return range(from, to).map((row) => {
      const at = (Number(row) % part) * DIMENSION;
      return arrayValue([...parts[Math.floor(Number(row) / part)].subarray(at, at + DIMENSION)]);
    });
  }
  await duck.load('v', { id, vector });
}

const range = (from, to) => Array.from({ length: to - from }, (_, n) => BigInt(from + n));
