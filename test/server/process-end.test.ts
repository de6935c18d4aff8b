/** Programs end by themselves when their work is done, whatever they left open, and not before. */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { startServer } from '../../src/server.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

/** Far more than it takes on a busy machine; what keeps a process alive does so for good. */
const BOUND_MS = 30_000;

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

const closers: (() => unknown)[] = [];
// Compiling takes minutes on a busy machine, and is no part of what is looked at.
beforeAll(() => void compiledModule('index.js'), 300_000);
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Runs the module text in a process of its own, for as long as it may take. */
function program(source: string, ...args: string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const options = ['--input-type=module', '-e', source, compiledModule('index.js'), ...args];
    const running = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'inherit'] });
    const timer = setTimeout(() => running.kill('SIGKILL'), BOUND_MS);
    let output = '';
    running.stdout.on('data', (chunk: Buffer) => {
      output += chunk;
    });
    running.on('error', reject);
    running.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, output });
    });
  });
}

const LEAVES_ALL_OPEN = `
const [url, root, uri] = process.argv.slice(1);
const { connect, connectNamespace } = await import(url);
const db = await connect(root, { autoCompact: { fragments: 2 } });
const events = db.watch();
const seen = (async () => {
  for await (const event of events) if (event.type === 'version_committed') return event;
})();
await events.ready;
// Another one, that is looked at until the end.
void (async () => { for await (const _ of db.watch()); })();
const table = await db.createTable('t', [{ id: 1 }]);
for (let at = 0; at < 5; at++) await table.add([{ id: at }]);
const remote = await connectNamespace('rest', { uri });
await remote.createTable('r', [{ id: 1 }]);
const rows = await (await remote.openTable('r')).query().toArray();
await seen;
const version = await table.version();
// What was under way ends at last: a commit that lost to another waits some milliseconds before it
// tries again, and the library that watches folders a second after the last change. What is left
// after all these turns holds the process.
// Of the process itself; anything else that is listed keeps it alive.
const OWN = ['PipeWrap', 'TTYWrap', 'FSReqCallback'];
let held = [];
for (let turn = 0; turn < 2_000_000; turn++) {
  await new Promise((resolve) => setImmediate(resolve));
  held = process.getActiveResourcesInfo().filter((kind) => !OWN.includes(kind));
  if (turn >= 20 && held.length === 0) break;
}
console.log(JSON.stringify({ rows: rows.length, version, held }));
`;

test('nothing that is left open keeps a process alive: handles, watches, connections', async () => {
  // Compiling makes the loop late; that is not what is looked at.
  const server = await startServer({ root: temporaryFolder(), limits: { maxEventLoopDelayMs: 0 } });
  closers.push(() => server.close());
  const ended = await program(LEAVES_ALL_OPEN, temporaryFolder(), server.url);
  expect(ended).toMatchObject({ code: 0, signal: null });
  const { rows, version, held } = JSON.parse(ended.output);
  expect(held).toEqual([]);
  expect(rows).toBe(1);
  expect(version).toBeGreaterThanOrEqual(6);
}, 60_000);

const WAITS_TO_SEND_AGAIN = `
const [url, uri] = process.argv.slice(1);
const { connectNamespace } = await import(url);
const remote = await connectNamespace('rest', { uri });
console.log(JSON.stringify(await remote.tableNames()));
`;

test('what is under way keeps it alive, also while it only waits to try again', async () => {
  let asked = 0;
  const server = createServer((_, response) => {
    asked++;
    // The connection goes with the answer: nothing but the client's own pause is left.
    response.setHeader('connection', 'close');
    if (asked === 1) response.writeHead(503, { 'retry-after': '1' }).end('{}');
    else response.end('{"tables":["t"]}');
  }).listen(0, '127.0.0.1');
  closers.push(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const ended = await program(WAITS_TO_SEND_AGAIN, `http://127.0.0.1:${port}`);
  expect(ended).toMatchObject({ code: 0, output: '["t"]\n' });
  expect(asked).toBe(2);
}, 60_000);
