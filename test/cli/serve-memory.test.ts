/** `dirspace serve --memory`: seeded, failing and reset as its options say. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../src/cli/terminal/index.ts';
import { callCli } from '../helpers/cli.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const folder = temporaryFolder();
const file = (name: string, content: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};
const seed = file('seed.json', {
  tables: [{ path: ['prod'], name: 'user', rows: [{ id: 1, name: 'Ada' }] }],
});
const memory = ['serve', '--memory', '--port', '0', '--json'];

test('serves the seed, fails as told, and begins anew by one request', async () => {
  const faults = file('faults.json', [{ operation: 'QueryTable', kind: 'error', times: 1 }]);
  const args = [...memory, '--seed', seed, '--faults', faults, '--reset-route'];
  const said: unknown[] = [];
  const { code } = await callCli(args, {
    during: async (line) => {
      const { url } = JSON.parse(line) as { url: string };
      const user = ['prod/user', '--uri', url];
      said.push((await callCli(['query', ...user])).code);
      said.push((await callCli(['query', ...user])).out);
      await callCli(['drop', ...user]);
      const reset = await fetch(`${url}/v1/dirspace/reset`, { method: 'POST' });
      said.push(reset.status, (await callCli(['ls', 'prod', '--uri', url])).out);
      said.push((await callCli(['query', ...user])).code);
    },
  });
  expect({ code, said }).toEqual({
    code: EXIT.ok,
    said: [EXIT.failure, expect.stringContaining('Ada'), 204, 'user\n', EXIT.failure],
  });
});

test('has the page with --ui, and no reset without --reset-route', async () => {
  const said: unknown[] = [];
  await callCli([...memory, '--ui'], {
    during: async (line) => {
      const { url, ui } = JSON.parse(line) as { url: string; ui: string };
      said.push((await fetch(ui)).status);
      said.push((await fetch(`${url}/v1/dirspace/reset`, { method: 'POST' })).status);
      said.push((await fetch(`${url}/v1/dirspace/requests`)).status);
    },
  });
  expect(said).toEqual([200, 404, 200]);
});

test('serves a folder of files, with ids that count and a clock that stands', async () => {
  mkdirSync(join(folder, 'seeds', 'prod'), { recursive: true });
  writeFileSync(join(folder, 'seeds', 'prod', 'user.csv'), 'id\n7\n');
  const fixed = ['--ids', 'sequential', '--clock', '2026-01-01T00:00:00Z'];
  const said: unknown[] = [];
  await callCli([...memory, '--seed', join(folder, 'seeds'), ...fixed], {
    during: async (line) => {
      const { url } = JSON.parse(line) as { url: string };
      const list = await fetch(`${url}/v1/namespace/$/list`);
      said.push(list.headers.get('date'), list.headers.get('x-request-id'));
      said.push((await callCli(['query', 'prod/user', '--uri', url])).out);
    },
  });
  expect(said).toEqual([
    'Thu, 01 Jan 2026 00:00:01 GMT',
    '00000000-0000-4000-9000-000000000001',
    'id\n7\n',
  ]);
});

describe('--stop-with-stdin', () => {
  const stops = ['--stop-with-stdin'];

  test.each([
    ['serve --memory', [...memory, ...stops]],
    ['serve', ['serve', '--root', folder, '--port', '0', ...stops]],
  ])('%s ends when its standard input has ended', async (_, args) => {
    let isEnded = false;
    const { code } = await callCli(args, {
      // The signal that would end it too never comes.
      during: () => new Promise(() => {}),
      inputEnded: async () => {
        isEnded = true;
      },
    });
    expect({ code, isEnded }).toEqual({ code: EXIT.ok, isEnded: true });
  });

  const main = fileURLToPath(compiledModule('cli/main.js'));

  test.each(['input', 'signal'] as const)('a process ends by its %s', async (how) => {
    const child = spawn(process.execPath, [main, ...memory, ...stops], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { url } = JSON.parse(line.toString()) as { url: string };
    expect((await fetch(`${url}/v1/table`)).status).toBe(200);
    if (how === 'input') child.stdin.end();
    else child.kill();
    expect(await ended).toEqual([0, null]);
  });

  test('without it the end of the input says nothing', async () => {
    const said: string[] = [];
    await callCli(memory, {
      inputEnded: async () => void said.push('input'),
      during: async () => void said.push('signal'),
    });
    expect(said).toEqual(['signal']);
  });
});

mkdirSync(join(folder, 'folder'));
const badRows = join(folder, 'bad');
mkdirSync(badRows);
writeFileSync(join(badRows, 't.csv'), 'id,n\n1\n');
const one = { name: 't', rows: [{ id: 1 }] };
const large = file('large.json', '');
truncateSync(large, 256 * 1024 * 1024 + 1);
test.each([
  [['serve', '--seed', seed], 'it is for serve --memory'],
  [['serve', '--reset-route'], 'it is for serve --memory'],
  [[...memory, '--root', folder], '--root means nothing here'],
  [[...memory, '--host', '0.0.0.0'], '--host means nothing here'],
  [[...memory, '--seed', large], 'has 268435457 bytes; 268435456 may be'],
  [[...memory, '--config', seed], '--config means nothing here'],
  [[...memory, '--create'], '--create means nothing'],
  [[...memory, '--seed', join(folder, 'nothing')], 'cannot be read'],
  [[...memory, '--faults', join(folder, 'folder')], 'is no file'],
  [[...memory, '--ids', 'sequentiel'], 'give one of random, sequential'],
  [[...memory, '--clock', '2026-01-01T00:00:00'], 'with its zone, such as 2026-01-01T00:00:00Z'],
  [['serve', '--ids', 'sequential'], 'it is for serve --memory'],
  [['serve', '--clock', '2026-01-01'], 'it is for serve --memory'],
  [[...memory, '--faults', file('wrong.json', '[')], 'is no JSON'],
  [[...memory, '--seed', file('text.json', '{')], 'is no JSON'],
  [[...memory, '--seed', file('list.json', [])], 'is no object'],
  [[...memory, '--seed', badRows], 'line 2, column 2'],
  [[...memory, '--seed', file('twice.json', { tables: [one, one] })], 'The seed, at tables[1]'],
  [[...memory, '--faults', file('odd.json', [{ kind: 'odd' }])], 'it is unavailable'],
])('%j is refused', async (args, message) => {
  const { code, error } = await callCli(args);
  expect(code).toBe(EXIT.usage);
  expect(error).toContain(message);
});
