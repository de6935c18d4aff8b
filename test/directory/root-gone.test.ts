/** An open catalog whose root is deleted or replaced answers so, and never that it is empty. */
import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { ask, restPair, someRows } from '../helpers/rest-pair.ts';
import { temporaryFolder } from '../helpers/temporary.ts';
import { CALLS } from '../suites/namespace/traits.ts';

type Method = (...inputs: unknown[]) => Promise<unknown>;

async function makeTable(root: string): Promise<void> {
  const namespace = await openDirectoryNamespace({ root });
  await namespace.createTable({ id: ['t'] }, someRows());
  await namespace.close();
}

/** Of a root with that table: the handle has read, and written where `writes`. */
async function openedCatalog(root: string, writes = true): Promise<DirectoryNamespace> {
  const namespace = await openDirectoryNamespace({ root });
  if (writes) await namespace.createNamespace({ id: ['n'] });
  await namespace.describeTable({ id: ['t'], load_detailed_metadata: true });
  return namespace;
}

const call = (namespace: DirectoryNamespace, name: string): Promise<unknown> => {
  const { request, data } = CALLS[name] as (typeof CALLS)[string];
  const method = (namespace as unknown as Record<string, Method>)[name]?.bind(namespace) as Method;
  return data === true ? method(request, someRows(1)) : method(request);
};

const outcome = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'answered',
    (error: { code?: string }) => error.code ?? String(error),
  );

describe('every operation is unavailable', () => {
  test.each([
    ['deleted', true],
    ['replaced by an empty folder', true],
    ['replaced by an empty folder', false],
    ['replaced by a file', true],
  ])('root %s, of a handle that has written: %s', async (how, writes) => {
    const found: Record<string, string> = {};
    const whole = `${temporaryFolder()}/catalog`;
    await makeTable(whole);
    for (const name of Object.keys(CALLS)) {
      const root = `${temporaryFolder()}/catalog`;
      cpSync(whole, root, { recursive: true });
      const namespace = await openedCatalog(root, writes);
      rmSync(root, { recursive: true });
      if (how === 'replaced by an empty folder') mkdirSync(root);
      if (how === 'replaced by a file') writeFileSync(root, 'x');
      found[name] = await outcome(call(namespace, name));
      if (how === 'replaced by an empty folder') {
        // A lock needs its folder.
        const names = (await readdir(root)).filter((entry) => entry !== '.dirspace');
        if (names.length > 0) found[name] += ` and wrote ${names.join()}`;
      }
      await namespace.close();
    }
    const expected = Object.keys(CALLS).map((name) => [name, 'ServiceUnavailable']);
    // Jobs are of the process, and those that run are listed whatever became of the root.
    expect(found).toEqual({ ...Object.fromEntries(expected), listJobs: 'answered' });
  });
});

test('a root that comes back is used again', async () => {
  const folder = temporaryFolder();
  await makeTable(`${folder}/catalog`);
  const namespace = await openedCatalog(`${folder}/catalog`);
  renameSync(`${folder}/catalog`, `${folder}/away`);
  await expect(namespace.listAllTables({})).rejects.toMatchObject({
    code: 'ServiceUnavailable',
    message: expect.stringContaining('root'),
  });
  renameSync(`${folder}/away`, `${folder}/catalog`);
  expect(await namespace.listAllTables({})).toEqual({ tables: ['t'] });
  await namespace.close();
});

test('an empty catalog and a missing table are what they were', async () => {
  const namespace = await openDirectoryNamespace({ root: temporaryFolder() });
  expect(await namespace.listAllTables({})).toEqual({ tables: [] });
  await expect(namespace.tableExists({ id: ['t'] })).rejects.toMatchObject({
    code: 'TableNotFound',
  });
  await namespace.close();
  const root = `${temporaryFolder()}/never`;
  const reader = await openDirectoryNamespace({ root, readOnly: true });
  expect(await reader.listAllTables({})).toEqual({ tables: [] });
  await reader.close();
});

test('over REST: 503', async () => {
  const root = `${temporaryFolder()}/catalog`;
  const pair = await restPair({ root, create: true });
  expect((await ask(pair, 'GET', '/v1/tables')).status).toBe(200);
  rmSync(root, { recursive: true });
  const answer = await ask(pair, 'GET', '/v1/tables');
  expect(answer).toMatchObject({ status: 503, json: { code: 17 } });
  expect(answer.text).not.toContain(root);
  expect((await ask(pair, 'POST', '/v1/table/t/exists', {})).status).toBe(503);
});
