/** `dirspace serve --memory`: seeded, failing and reset as its options say. */
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT } from '../../src/cli/terminal/index.ts';
import { callCli } from '../helpers/cli.ts';
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

mkdirSync(join(folder, 'folder'));
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
  [[...memory, '--seed', join(folder, 'folder')], 'is no file'],
  [[...memory, '--faults', file('wrong.json', '[')], 'is no JSON'],
  [[...memory, '--seed', file('text.json', '{')], 'is no JSON'],
  [[...memory, '--faults', file('odd.json', [{ kind: 'odd' }])], 'it is unavailable'],
])('%j is refused', async (args, message) => {
  const { code, error } = await callCli(args);
  expect([EXIT.usage, EXIT.failure]).toContain(code);
  expect(error).toContain(message);
});
