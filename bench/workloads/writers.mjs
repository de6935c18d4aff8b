/** Four processes append to one table; one changes the schema while another appends. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connect } from '../../dist/index.js';
import { ownArrow } from '../harness/stores.mjs';
import { smallTable } from './catalog.mjs';

const WRITERS = 4;
const COMMITS = 400;
/** Seconds that a schema is changed beside appends. */
const SECONDS = 10;
const SCRIPT = fileURLToPath(new URL('./writer.mjs', import.meta.url));

/** Starts writers, lets them begin together, and answers what each says at its end. */
async function together(jobs) {
  const writers = jobs.map((job) => {
    const words = [SCRIPT, JSON.stringify(job)];
    const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    return {
      child,
      ended,
      lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](),
    };
  });
  const line = async ({ lines }) =>
    JSON.parse((await lines.next()).value ?? '{"error":"ended early"}');
  await Promise.all(writers.map(line));
  const began = performance.now();
  for (const { child } of writers) child.stdin.end('go\n');
  const answers = await Promise.all(writers.map(line));
  const ms = performance.now() - began;
  await Promise.all(writers.map(({ ended }) => ended));
  for (const { error } of answers) if (error) throw new Error(error);
  return { answers, ms };
}

async function* sidesOf({ peers, folder }, name) {
  const kinds = [
    ['ours', 'full'],
    ['ours, relaxed', 'relaxed'],
  ];
  for (const [side, durability] of kinds) {
    const root = folder(`${name}-${durability}`);
    const connection = await connect(root, { durability });
    yield { job: { side, root, durability }, connection, rows: smallTable(ownArrow) };
  }
  for (const side of ['lancedb', 'lancedb-ns'].filter(peers.has)) {
    const root = folder(`${name}-${side}`);
    const connection =
      side === 'lancedb'
        ? await peers.lancedb.connect(root)
        : await peers.lancedb.connectNamespace('dir', { root });
    yield { job: { side, root }, connection, rows: smallTable(peers.arrow) };
  }
}

const sum = (answers, member) => answers.reduce((total, answer) => total + answer[member], 0);

export async function* writerWorkloads(ctx) {
  const perCommit = {};
  const writers = ctx.size(WRITERS, 2);
  const commits = ctx.size(COMMITS / WRITERS, 2);
  for await (const { job, connection, rows } of sidesOf(ctx, 'writers')) {
    await connection.createTable('t', rows);
    const jobs = Array.from({ length: writers }, () => ({ ...job, does: 'append', commits }));
    const { answers, ms } = await together(jobs);
    const total = sum(answers, 'done');
    const expected = 10 * (1 + total);
    const found = await (await connection.openTable('t')).countRows();
    if (found !== expected) throw new Error(`${job.side}: ${found} rows of ${expected}`);
    const cpu = sum(answers, 'cpu') / total;
    perCommit[job.side] = { median: ms / total, min: ms / total, cpu, samples: total };
  }
  yield { name: 'a commit of 4 processes that append to one table', figures: perCommit };
  const seconds = Math.max(0.3, SECONDS * ctx.scale);
  for await (const { job, connection, rows } of sidesOf(ctx, 'schema')) {
    const name = `a schema change beside appends, ${job.side}`;
    if (!ctx.wants(name)) continue;
    await connection.createTable('t', rows);
    const jobs = ['append', 'schema'].map((does) => ({ ...job, does, seconds }));
    const { answers } = await together(jobs);
    const [appends, changes] = answers.map(({ done, cpu }) => {
      const each = (seconds * 1_000) / Math.max(1, done);
      return { median: each, min: each, cpu: cpu / Math.max(1, done), samples: done };
    });
    const goals = job.side.startsWith('ours') ? [{ times: 1, against: 'appends' }] : [];
    yield { name, goals, figures: { ours: changes, appends } };
  }
}
