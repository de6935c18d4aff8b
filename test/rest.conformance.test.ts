/** The conformance kit against our own server, and against one with faults put in. */
import { expect, test } from 'vitest';
import { runCli } from '../src/cli/run.ts';
import { openDirectoryNamespace } from '../src/directory/directory-namespace.ts';
import { MISSING } from '../src/directory/handlers.ts';
import { OPERATION_NAMES } from '../src/protocol/operations.ts';
import { runConformance } from '../src/rest/conformance.ts';
import { createServer, startServer } from '../src/server.ts';
import { memoryFs } from './helpers/catalogs.ts';

const limits = { maxEventLoopDelayMs: 0 };
const openCatalog = (): ReturnType<typeof openDirectoryNamespace> =>
  openDirectoryNamespace({ root: '/c', fs: memoryFs() });

test('our own server fails no case, and every operation has some', async () => {
  await using server = await createServer({ namespace: await openCatalog(), limits });
  const report = await runConformance({ uri: 'http://x', fetch: server.fetch });
  expect(report.results.filter(({ outcome }) => outcome === 'fail')).toEqual([]);
  const told = report.results.map(({ operation }) => operation);
  expect([...new Set(told)].sort()).toEqual([...OPERATION_NAMES].sort());
  const unsupported = report.results.filter(({ outcome }) => outcome === 'unsupported');
  expect(unsupported.map(({ operation }) => operation).sort()).toEqual([...MISSING].sort());
});

test('what was made is removed, and cases can be left out', async () => {
  await using catalog = await openCatalog();
  await using server = await createServer({ namespace: catalog, limits });
  const skip = ['ListNamespaces', 'DescribeTable: a missing table is not found'];
  const report = await runConformance({ uri: 'http://x', fetch: server.fetch, skip });
  const skipped = report.results.filter(({ outcome }) => outcome === 'skipped');
  expect(new Set(skipped.map(({ operation }) => operation))).toEqual(
    new Set(['ListNamespaces', 'DescribeTable']),
  );
  const misspelt = runConformance({ uri: 'http://x', fetch: server.fetch, skip: ['ListTable'] });
  await expect(misspelt).rejects.toMatchObject({ code: 'InvalidInput' });
  expect((await catalog.listAllTables({})).tables).toEqual([]);
  expect((await catalog.listNamespaces({ id: [] })).namespaces).toEqual([]);
});

test('a broken server fails the right cases', async () => {
  const catalog = await openCatalog();
  await using server = await createServer({ namespace: catalog, limits });
  const broken: typeof fetch = async (input, init) => {
    const { pathname } = new URL(String(input));
    const response = await server.fetch(input, init);
    // Counts are one too many, existing namespaces are 400, table URIs are missing.
    if (pathname.endsWith('/count_rows') && response.ok) {
      return new Response(String(Number(await response.text()) + 1), response);
    }
    if (pathname.startsWith('/v1/namespace') && response.status === 409) {
      return new Response(await response.text(), { status: 400 });
    }
    if (pathname.endsWith('/describe') && response.ok) {
      const { table_uri: _, ...rest } = (await response.json()) as { table_uri?: string };
      return new Response(JSON.stringify(rest), { status: 200 });
    }
    return response;
  };
  const { results, totals } = await runConformance({ uri: 'http://x', fetch: broken });
  const failed = results.filter(({ outcome }) => outcome === 'fail');
  const names = failed.map(({ operation, name }) => `${operation}: ${name}`);
  expect(names).toContain('CountTableRows: answers a bare integer');
  expect(names).toContain('CreateNamespace: an existing one is a conflict');
  expect(names).toContain('DropNamespace: one that is not empty is a conflict');
  expect(names).toContain('DescribeTable: with_table_uri answers a complete URI');
  expect(names).not.toContain('TableExists: tells what is there from what is not');
  expect(names).not.toContain('CreateNamespace: a missing parent is not found');
  const conflict = failed.find(({ name }) => name === 'an existing one is a conflict');
  expect(conflict).toMatchObject({ expected: 'code 2 with status 409' });
  expect(conflict?.got).toContain('status 400');
  expect(totals.fail).toBe(failed.length);
});

test('the command says it in both forms, and with its exit code', async () => {
  await using server = await startServer({ namespace: await openCatalog(), limits });
  const run = async (...argv: string[]): Promise<{ code: number; out: string }> => {
    let out = '';
    const around = {
      env: {},
      out: (text: string): void => {
        out += text;
      },
      error: () => {},
    };
    return { code: await runCli(['conformance', ...argv], around), out };
  };
  const json = await run(server.url, '--json');
  expect(json.code).toBe(0);
  expect(JSON.parse(json.out).totals.fail).toBe(0);
  const gone = await startServer({ namespace: await openCatalog(), limits });
  await gone.close();
  const { code, out } = await run(gone.url);
  expect([code, out]).toEqual([7, '']);
});
