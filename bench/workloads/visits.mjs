/**
 * First visits: each sample opens another table, which its process has not read before, and asks for
 * its schema, version and count; in process and through a server. Also a short page of many names, and
 * the start of the command line.
 */
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect, connectNamespace } from '../../dist/index.js';
import { processorTime } from '../harness/child.mjs';
import { cpuTime, figure, median } from '../harness/measure.mjs';
import { startRest } from '../harness/rest-server.mjs';
import { Stores } from '../harness/stores.mjs';
import { smallTable } from './catalog.mjs';

const TABLES = 300;
const NAMES = 10_000;
const STARTS = 7;
const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

async function visit(connection, n) {
  const table = await connection.openTable(`t${n}`);
  const [schema, version] = [await table.schema(), await table.version()];
  return schema.fields.length + version + (await table.countRows());
}

export async function* visitWorkloads(ctx) {
  const { peers, size } = ctx;
  const tables = size(TABLES, 4);
  const stores = await Stores.open(ctx, 'visits', { durability: 'relaxed' });
  for (let n = 0; n < tables; n++) await stores.create(`t${n}`, smallTable);
  const namespace = async (root) => peers.lancedb.connectNamespace('dir', { root });
  const samples = Math.min(ctx.samples ?? tables, tables);
  const fresh = { ours: await connect(stores.paths.ours) };
  if (peers.has('lancedb')) fresh.lancedb = await peers.lancedb.connect(stores.paths.lance);
  if (peers.has('lancedb-ns')) fresh['lancedb-ns'] = await namespace(stores.paths.lance);
  const sides = {};
  for (const [side, connection] of Object.entries(fresh)) sides[side] = (n) => visit(connection, n);
  const goals = [{ times: 6 }, { atMost: 0.2 }];
  const block = 10;
  yield { name: 'first visit: open + schema + version + count', goals, samples, block, sides };
  yield* await overRest(stores.paths.ours, samples);
  yield* listing(ctx);
  yield await start(ctx, stores);
  stores.close();
}

/** Processor time of the server and of the client by themselves; the wall time is that of both. */
async function overRest(root, samples) {
  const server = await startRest(root);
  const connection = await connectNamespace('rest', { uri: server.url });
  const before = await server.cpu();
  const own = cpuTime();
  const times = [];
  for (let n = 0; n < samples; n++) {
    const began = performance.now();
    await visit(connection, n);
    times.push(performance.now() - began);
  }
  const clients = cpuTime() - own;
  const cpu = (await server.cpu()) - before;
  await connection.close();
  await server.stop();
  const row = (side, spent) => ({
    name: `first visit over REST, CPU of the ${side}`,
    goals: [{ atMost: 0.7, of: 'cpu' }],
    figures: { ours: figure(times, spent) },
  });
  return [row('server', cpu), row('client', clients)];
}

async function* listing(ctx) {
  const name = 'list with limit 10 among 10,000 tables';
  const more = 'the next 10 of 10,000 tables';
  if (!ctx.wants(name) && !ctx.wants(more)) return;
  const names = ctx.size(NAMES, 30);
  const stores = await Stores.open(ctx, 'names', { durability: 'relaxed' });
  for (let n = 0; n < names; n++) await stores.create(`t${n}`, smallTable);
  // Names of a folder that changed within two seconds are read again by each page.
  await setTimeout(2_100);
  const tables = { ours: stores.ours };
  if (ctx.peers.has('lancedb')) tables.lancedb = stores.lance;
  const page = async (connection, options) => {
    const { tables } = await connection.listTables({ limit: 10, ...options });
    return tables.length;
  };
  const sides = {};
  const next = {};
  for (const [side, connection] of Object.entries(tables)) {
    sides[side] = () => page(connection);
    const { pageToken } = await connection.listTables({ limit: 10 });
    next[side] = () => page(connection, { pageToken });
  }
  const rest = { goals: [{ atMost: 1 }], samples: 30, warmups: 5, block: 10 };
  yield { name, ...rest, sides };
  yield { name: more, ...rest, sides: next };
}

/** Wall and processor time of a whole process, as the shell that started it tells them. */
async function start(ctx, stores) {
  const commands = { ours: [CLI, 'ls', '--root', stores.paths.ours] };
  if (ctx.peers.has('lancedb')) {
    const path = fileURLToPath(new URL('../harness/list-names.mjs', import.meta.url));
    commands.lancedb = [path, stores.paths.lance];
  }
  const figures = {};
  for (const [side, words] of Object.entries(commands)) {
    const times = [];
    const cpus = [];
    for (let n = 0; n < (ctx.samples ?? STARTS); n++) {
      const began = performance.now();
      cpus.push(processorTime(words));
      times.push(performance.now() - began);
    }
    figures[side] = { ...figure(times), cpu: median(cpus) };
  }
  return { name: 'start of dirspace ls', goals: [{ atMost: 150, of: 'cpu' }], figures };
}
