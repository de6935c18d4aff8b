/**
 * Indexes of 1,000,000 vectors of 128, uniformly random and in clusters: how long they take to build,
 * and the ten nearest through them. LanceDB's index is its IVF_FLAT. A recall of ours below 0.95 of the
 * exact ten fails the run.
 */
import { Index as OwnIndex } from '../../dist/index.js';
import { vectorTable } from '../harness/data.mjs';
import { Stores } from '../harness/stores.mjs';
import { random } from './random.mjs';
import { DIMENSION } from './reads.mjs';

const VECTORS = 1_000_000;
const PARTS = 10;
const CLUSTERS = 1_000;
const QUERIES = 50;
const LEAST_RECALL = 0.95;

const SHAPES = {
  'uniformly random': (next) => (into) => {
    for (let i = 0; i < DIMENSION; i++) into[i] = next();
  },
  clustered: (next) => {
    const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    const centres = Float32Array.from({ length: CLUSTERS * DIMENSION }, normal);
    return (into) => {
      const at = Math.floor(next() * CLUSTERS) * DIMENSION;
      for (let i = 0; i < DIMENSION; i++) into[i] = centres[at + i] + 0.3 * normal();
    };
  },
};

export async function* vectorIndexWorkloads(ctx) {
  for (const [shape, shaped] of Object.entries(SHAPES)) {
    const fill = shaped(random(11));
    const vectorsOf = (count) => {
      const values = new Float32Array(count * DIMENSION);
      for (let at = 0; at < values.length; at += DIMENSION)
        fill(values.subarray(at, at + DIMENSION));
      return values;
    };
    const part = ctx.size(VECTORS / PARTS, 500);
    const stores = await Stores.open(ctx, `indexed ${shape}`);
    for (let index = 0; index < PARTS; index++) {
      const values = vectorsOf(part);
      const make = (arrow) => vectorTable(arrow, values, DIMENSION, index * part);
      await (index === 0 ? stores.create('v', make) : stores.add('v', make));
    }
    const queries = Array.from({ length: QUERIES }, () => [...vectorsOf(1)]);
    const tables = await stores.tables('v');
    const kinds = { ours: OwnIndex };
    for (const side of ['lancedb', 'lancedb-ns']) kinds[side] = ctx.peers.lancedb?.Index;
    const sides = {};
    for (const [side, table] of Object.entries(tables))
      sides[side] = () => table.createIndex('vector', { config: kinds[side].ivfFlat() });
    const build = { name: `build IVF of vectors that are ${shape}`, samples: 1, sides };
    if (ctx.wants(build.name)) yield { ...build, goals: [{ atMost: 60_000, of: 'cpu' }] };
    else for (const run of Object.values(sides)) await run();
    await requireRecall(tables.ours, queries, shape);
    const nearest = async (table, n) => {
      const search = table
        .vectorSearch(queries[n % QUERIES])
        .select(['id'])
        .limit(10);
      return (await search.toArrow()).numRows;
    };
    yield {
      name: `IVF top 10 of vectors that are ${shape}`,
      goals: [{ atMost: 5 }],
      samples: 60,
      warmups: 100,
      sides: stores.reads(tables, nearest),
    };
    stores.close();
  }
}

/** Of the exact ten nearest, how many ours finds. */
async function requireRecall(table, queries, shape) {
  let found = 0;
  for (const query of queries) {
    const ids = async (search) =>
      (await search.select(['id']).limit(10).toArray()).map(({ id }) => Number(id));
    const exact = new Set(await ids(table.vectorSearch(query).bypassVectorIndex()));
    found += (await ids(table.vectorSearch(query))).filter((id) => exact.has(id)).length;
  }
  const recall = found / (10 * queries.length);
  console.log(`recall@10 of vectors that are ${shape}: ${recall.toFixed(3)}`);
  if (recall < LEAST_RECALL) throw new Error(`The recall is below ${LEAST_RECALL}.`);
}
