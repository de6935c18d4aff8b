/**
 * DescribeTable over a socket: requests a second and latencies with 32 connections, server and
 * client sharing the machine. Needs the built package: npm run build.
 * node bench/rest-describe.mjs [--seconds 5] [--connections 32]
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '32' },
    dist: { type: 'string', default: new URL('../dist', import.meta.url).pathname },
  },
});
const seconds = Number(values.seconds);
const connections = Number(values.connections);

const root = mkdtempSync(join(tmpdir(), 'dirspace-bench-'));
const serve = ['serve', '--root', root, '--port', '0', '--json'];
const child = spawn(process.execPath, [join(values.dist, 'cli/main.js'), ...serve], {
  stdio: ['ignore', 'pipe', 'ignore'],
  env: { ...process.env, DIRSPACE_LOG_LEVEL: 'error' },
});
const line = await new Promise((resolve) =>
  createInterface({ input: child.stdout }).once('line', resolve),
);
const { url } = JSON.parse(line);

const { connectNamespace } = await import(join(values.dist, 'index.js'));
const db = await connectNamespace('rest', { uri: url });
await db.createNamespace(['prod']);
await db.createTable('user', [{ id: 1, name: 'a' }], ['prod']);

const REQUEST = Buffer.from(
  'POST /v1/table/prod$user/describe?load_detailed_metadata=true HTTP/1.1\r\nhost: localhost\r\n' +
    'content-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
);

/** Of every so many answers the body is looked into, and of the first one. */
const LOOK_EVERY = 1000;

function check(body) {
  const { table, version, schema } = JSON.parse(body);
  if (table === 'user' && version === 1 && schema.fields.length === 2) return;
  throw new Error(`not what was asked for: ${body}`);
}

/** One connection: the next request goes when the answer to the last one is whole. */
function drive(until, latencies) {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.setNoDelay(true);
    let started = 0;
    let text = '';
    const next = () => {
      started = performance.now();
      socket.write(REQUEST);
    };
    socket.on('connect', next);
    socket.on('error', reject);
    socket.setEncoding('latin1').on('data', (piece) => {
      text += piece;
      const head = text.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      if (text.length < head + 4 + length) return;
      if (!text.startsWith('HTTP/1.1 200')) return reject(new Error(text));
      latencies.push(performance.now() - started);
      if (latencies.length % LOOK_EVERY === 1) check(text.slice(head + 4));
      text = '';
      if (performance.now() < until) next();
      else socket.end(resolve);
    });
  });
}

async function run(length) {
  const latencies = [];
  const started = performance.now();
  await Promise.all(
    Array.from({ length: connections }, () => drive(started + length * 1000, latencies)),
  );
  const elapsed = (performance.now() - started) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share) => Number(latencies[Math.floor(latencies.length * share)]?.toFixed(2));
  return { perSecond: Math.round(latencies.length / elapsed), p50: at(0.5), p99: at(0.99) };
}

await run(1);
console.log(JSON.stringify({ operation: 'DescribeTable', connections, ...(await run(seconds)) }));
await db.close();
child.kill('SIGTERM');
await new Promise((resolve) => child.once('exit', resolve));
rmSync(root, { recursive: true, force: true });
