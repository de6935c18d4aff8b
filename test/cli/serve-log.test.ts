/** A log that cannot be written does not end the server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const ARGUMENTS = ['serve', '--port', '0', '--json', '--root'];

function serve(log: 'pipe' | number): ChildProcess {
  const main = fileURLToPath(compiledModule('cli/main.js'));
  return spawn(process.execPath, [main, ...ARGUMENTS, temporaryFolder()], {
    stdio: ['ignore', 'pipe', log],
  });
}

async function urlOf(child: ChildProcess): Promise<string> {
  for await (const text of child.stdout as Readable) return JSON.parse(String(text)).url;
  throw new Error('the server told no address');
}

async function answersAndEnds(child: ChildProcess, url: string): Promise<void> {
  for (let round = 0; round < 5; round++) {
    expect((await fetch(`${url}/v1/tables`)).status).toBe(200);
    expect((await fetch(`${url}/nothing`)).status).toBe(404);
  }
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
}

test('whose reader has gone', async () => {
  const child = serve('pipe');
  const url = await urlOf(child);
  (child.stderr as Readable).destroy();
  // Reading its first line has closed the other pipe.
  expect((child.stdout as Readable).destroyed).toBe(true);
  await answersAndEnds(child, url);
});

test.runIf(process.platform === 'linux')('on a full disk', async () => {
  const full = openSync('/dev/full', 'w');
  try {
    const child = serve(full);
    await answersAndEnds(child, await urlOf(child));
  } finally {
    closeSync(full);
  }
});
