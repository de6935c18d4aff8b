/** A server that is killed in the middle of an insert in parts: the version before it, and cleanup. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import { tableFromArrays, tableToIPC } from '../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../src/directory/index.ts';
import { connect } from '../../src/index.ts';
import { ARROW } from '../helpers/rest-pair.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const CLI = new URL('../../dist/cli/main.js', import.meta.url).pathname;
const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

async function serve(root: string): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [CLI, 'serve', '--root', root, '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  running.push(child);
  const [line] = await once(createInterface({ input: child.stdout as never }), 'line');
  return { url: JSON.parse(line).url, child };
}

const part = (rows: number) =>
  Buffer.from(tableToIPC(tableFromArrays({ id: new Int32Array(rows).fill(7) }), 'stream'));

test('nothing of it is in the table, and cleanup removes what was written', async () => {
  const root = temporaryFolder();
  const db = await connect(root);
  const table = await db.createTable('t', [{ id: 1 }]);
  const files = (): string[] =>
    (readdirSync(join(root, 'data/t.table'), { recursive: true }) as string[]).filter((name) =>
      name.endsWith('.arrow'),
    );
  const before = files();
  const { url, child } = await serve(root);
  const base = `${url}/v1/dirspace/table/t/multipart_write`;
  const created = await fetch(`${base}/create`, { method: 'POST' });
  const { upload_id } = (await created.json()) as { upload_id: string };
  for (const id of ['a', 'b']) {
    const to = `${base}/part?upload_id=${upload_id}&upload_part_id=${id}`;
    const sent = await fetch(to, { method: 'POST', headers: ARROW, body: part(1_500_000) });
    expect(sent.status).toBe(200);
  }
  expect(files().length).toBeGreaterThan(before.length);
  child.kill('SIGKILL');
  await once(child, 'exit');

  const next = await serve(root);
  const again = `${next.url}/v1/dirspace/table/t/multipart_write/complete?upload_id=${upload_id}`;
  const completed = await fetch(again, { method: 'POST' });
  expect(completed.status).toBe(400);
  expect(await completed.text()).toContain('the server was started anew');
  expect(await table.countRows()).toBe(1);
  await db.close();
  const catalog = await openDirectoryNamespace({ root });
  expect((await catalog.verify({ id: [] })).problems).toEqual([]);
  await catalog.cleanupTable({ id: ['t'], older_than_millis: 0 });
  expect(files()).toEqual(before);
  await catalog.close();
});
