/**
 * The protocol's own client for Java against `dirspace serve`: run by run.mjs, which has its jars
 * copied to lib/ and Steps.java compiled into classes/.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { Int32, Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';

const here = import.meta.dirname;
const cli = process.env.DIRSPACE_CLI ?? join(here, '..', '..', '..', 'dist', 'cli', 'main.js');

const once = (emitter, event) =>
  new Promise((resolve) => emitter.once(event, (...values) => resolve(values)));

function streamOf(ids) {
  const names = ids.map((id) => `name ${id}`);
  const columns = {
    id: vectorFromArray(ids, new Int32()),
    name: vectorFromArray(names, new Utf8()),
  };
  return tableToIPC(new Table(columns), 'stream');
}

test('every step of the client does what it says', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'dirspace-interop-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const [three, two] = ['three.arrows', 'two.arrows'].map((name) => join(folder, name));
  writeFileSync(three, streamOf([1, 2, 3]));
  writeFileSync(two, streamOf([3, 4]));

  const server = spawn(
    process.execPath,
    [cli, 'serve', '--root', join(folder, 'catalog'), '--create', '--port', '0', '--json'],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const [line] = await once(createInterface({ input: server.stdout }), 'line');
  const { url } = JSON.parse(line);

  const path = [join(here, 'classes'), join(here, 'lib', '*')].join(delimiter);
  const java = spawn('java', ['-cp', path, 'Steps', url, three, two], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  java.stdout.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  const [code] = await once(java, 'close');
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  const [stopped] = await ended;
  context.diagnostic(said.trimEnd().split('\n').at(-1));
  assert.equal(
    said
      .split('\n')
      .filter((text) => text.startsWith('FAILED'))
      .join('\n'),
    '',
  );
  assert.match(said, /^36 of 36 steps$/m);
  assert.deepEqual([code, stopped], [0, 0]);
});
