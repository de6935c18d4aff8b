/**
 * The same program on two databases: the client's own in a directory, and a remote one that is
 * `dirspace serve`. What the client does with the first is what is expected of the second.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import * as lancedb from '@lancedb/lancedb';

const cli =
  process.env.DIRSPACE_CLI ?? new URL('../../../dist/cli/main.js', import.meta.url).pathname;

const folders = [];

export function folder() {
  folders.push(mkdtempSync(join(tmpdir(), 'dirspace-interop-')));
  return folders.at(-1);
}

after(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true });
});

/** A running server: its address, and how to end it. */
export async function startServe(...flags) {
  const root = folder();
  const child = spawn(
    process.execPath,
    [cli, 'serve', '--root', root, '--create', '--port', '0', '--json', ...flags],
    { stdio: ['ignore', 'pipe', process.env.SERVER_LOG ? 'inherit' : 'ignore'] },
  );
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { url } = JSON.parse(line);
  const stop = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const [code, signal] = await ended;
    assert.equal(code, 0, `the server ends with 0 when it is asked to, not with ${code ?? signal}`);
  };
  return { url, root, stop };
}

const once = (emitter, event) =>
  new Promise((resolve) => emitter.once(event, (...values) => resolve(values)));

export async function connectRemote(url, options = {}) {
  return lancedb.connect('db://interop', { apiKey: 'key', hostOverride: url, ...options });
}

/** A fresh database of the client itself. */
export async function connectLocal() {
  return lancedb.connect(folder());
}

/** Runs `program` on both databases; what it answers must be the same. */
export function compare(name, program) {
  compareOn(name, program, connectLocal, connectRemote);
}

/** The same for catalogs: the client's own in a directory, and the server's. */
export function compareCatalogs(name, program) {
  const local = () => lancedb.connectNamespace('dir', { root: folder() });
  const remote = (uri) => lancedb.connectNamespace('rest', { uri });
  compareOn(name, program, local, remote);
}

function compareOn(name, program, local, remote) {
  test(name, async () => {
    const server = await startServe();
    try {
      const expected = await program(await local());
      const found = await program(await remote(server.url));
      assert.deepEqual(plain(found), plain(expected));
    } finally {
      await server.stop();
    }
  });
}

/** Runs `program` on the remote database only: the client's own cannot do it. */
export function remoteOnly(name, program) {
  test(name, async () => {
    const server = await startServe();
    try {
      await program(await connectRemote(server.url), server);
    } finally {
      await server.stop();
    }
  });
}

/** Values as they can be compared: no Arrow vectors, no getters, no dates. */
function plain(value) {
  return JSON.parse(
    JSON.stringify(value, (_, item) => {
      if (typeof item === 'bigint') return Number(item);
      if (ArrayBuffer.isView(item)) return Array.from(item);
      return item ?? null;
    }) ?? 'null',
  );
}

/** The rows of an answer as plain objects. */
export const objects = (rows) => rows.map((row) => plain(row));

/** How a call fails, as far as the two databases can agree. */
export async function failure(call) {
  try {
    await call();
  } catch (error) {
    const text = error.message;
    if (/was not found|not found|does not exist|has no (?!action)/i.test(text)) return 'not found';
    if (/already (exists|has an? )|exists already/i.test(text)) return 'exists';
    return 'fails';
  }
  return 'succeeds';
}

export const DATA = [
  { id: 1, name: 'a', v: [1, 2] },
  { id: 2, name: 'b', v: [3, 4] },
  { id: 3, name: null, v: [5, 6] },
];
