/**
 * The longest time that one request holds a server's event loop: hostile requests, one by one, to a
 * server of its own process on tables of about 1 GB each, and what its thread worked between two turns.
 *
 *   npm run build && node bench/turns.mjs --data FOLDER [--scale 1] [--only TEXT] [--tables a,b] [--json FILE]
 *
 * A request is sent twice where `--warm` is given; the first counts otherwise. One with a timeout is
 * hung up after so many seconds, and what the server still does then is measured too.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makeTables } from './turns/data.mjs';
import { REQUESTS } from './turns/requests.mjs';

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    scale: { type: 'string', default: '1' },
    only: { type: 'string' },
    tables: { type: 'string' },
    json: { type: 'string' },
    limits: { type: 'string', default: '{}' },
    fresh: { type: 'boolean', default: false },
    flags: { type: 'string', default: '' },
  },
});

/** Milliseconds. */
const BOUND = 50;
const LEFT = 300;

class Server {
  #process;
  #lines = [];
  #waiting = [];

  constructor(root) {
    const script = fileURLToPath(new URL('./turns/server.mjs', import.meta.url));
    const flags = options.flags.split(' ').filter((flag) => flag !== '');
    this.#process = spawn(process.execPath, [...flags, script, root, options.limits], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface({ input: this.#process.stdout }).on('line', (line) => {
      const take = this.#waiting.shift();
      if (take === undefined) this.#lines.push(JSON.parse(line));
      else take(JSON.parse(line));
    });
  }

  line() {
    const line = this.#lines.shift();
    return line === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : line;
  }

  ask(word) {
    this.#process.stdin.write(`${word}\n`);
    return this.line();
  }

  end() {
    this.#process.stdin.end();
    this.#process.kill();
  }
}

async function send(url, { path, body, timeout = 30, headers = {} }) {
  const sent = await body();
  const isArrow = sent instanceof Uint8Array;
  const began = performance.now();
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeout * 1_000);
  try {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: {
        'content-type': isArrow ? 'application/vnd.apache.arrow.stream' : 'application/json',
        ...headers,
      },
      body: isArrow ? sent : JSON.stringify(sent),
      signal: controller.signal,
    });
    let bytes = 0;
    let text = '';
    for await (const piece of response.body ?? []) {
      bytes += piece.length;
      if (response.status !== 200) text += Buffer.from(piece).toString();
    }
    return { status: response.status, bytes, text, ms: performance.now() - began };
  } catch (error) {
    if (!controller.signal.aborted)
      return { status: String(error.cause ?? error), bytes: 0, text: '', ms: 0 };
    return { status: 'left', bytes: 0, text: '', ms: performance.now() - began };
  } finally {
    clearTimeout(timer);
  }
}

const wait = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

await makeTables(options.data, options.tables?.split(','), Number(options.scale));
const wanted = REQUESTS.filter(
  ({ name, path, table: read }) =>
    (options.only === undefined || new RegExp(options.only).test(name)) &&
    (options.tables === undefined ||
      options.tables.split(',').some((table) => path.includes(`/${table}/`) || read === table)),
);
let server = new Server(options.data);
let { url } = await server.line();
const rows = [];
console.log('   CPU    wall     gc  status      took   after   peak  request');
for (const request of wanted) {
  if (options.fresh && rows.length > 0) {
    server.end();
    server = new Server(options.data);
    ({ url } = await server.line());
  }
  await fetch(`${url}/v1/table/narrow/describe`, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json' },
  }).then((r) => r.arrayBuffer());
  await wait(100);
  await server.ask('reset');
  const { status, bytes, text, ms } = await send(url, request);
  await wait(20);
  const during = await server.ask('told');
  // What is left to do once the answer is there, or nobody waits for one.
  await server.ask('reset');
  await wait(LEFT);
  const after = await server.ask('told');
  const row = {
    name: request.name,
    status,
    ms,
    bytes,
    longest: Math.max(during.longest, after.longest),
    wall: Math.max(during.wall, after.wall),
    pause: Math.max(during.pause, after.pause),
    after: after.cpu,
    peak: during.peak,
  };
  rows.push(row);
  const cell = (value, width) => String(value).padStart(width);
  console.log(
    `${cell(row.longest.toFixed(1), 6)}${row.longest > BOUND ? '!' : ' '} ${cell(row.wall.toFixed(0), 6)} ${cell(row.pause.toFixed(1), 6)}  ${cell(status, 6)}  ${cell(ms.toFixed(0), 7)}  ${cell(after.cpu.toFixed(0), 5)}${after.cpu > 100 ? '!' : ' '} ${cell((row.peak / 2 ** 20).toFixed(0), 5)}  ${request.name}${text === '' ? '' : `: ${text.slice(0, 140)}`}`,
  );
}
server.end();
if (options.json !== undefined)
  writeFileSync(options.json, `${JSON.stringify({ rows }, null, 2)}\n`);
const over = rows.filter(({ longest }) => longest > BOUND);
console.log(
  `${over.length} of ${rows.length} requests held the event loop longer than ${BOUND} ms.`,
);
