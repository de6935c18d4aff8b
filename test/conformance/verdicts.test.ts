/** What the conformance kit says of servers with faults, of partial ones, and of none. */
import { describe, expect, test } from 'vitest';
import { type CaseResult, conformanceSuite, runConformance } from '../../src/conformance.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { DirspaceError } from '../../src/errors.ts';
import { methodName } from '../../src/protocol/every-operation.ts';
import { type Namespace, unsupported } from '../../src/protocol/namespace.ts';
import type { OperationName } from '../../src/protocol/operations.ts';
import { createServer, type Server } from '../../src/server.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { casesOf } from '../helpers/long.ts';
import { OPERATION_NAMES } from '../helpers/operation-names.ts';

const limits = { maxEventLoopDelayMs: 0 };
const openCatalog = (): ReturnType<typeof openDirectoryNamespace> =>
  openDirectoryNamespace({ root: '/c', fs: memoryFs() });

type Change = (
  server: Server,
  url: string,
  init: RequestInit,
  answer: () => Promise<Response>,
) => Promise<Response>;

/** Runs the cases of these operations against our server with what it does changed. */
async function verdictsOf(
  only: readonly OperationName[],
  change: Change,
): Promise<(title: string) => CaseResult> {
  await using server = await createServer({ namespace: await openCatalog(), limits });
  const fetch = (url: string, init: RequestInit): Promise<Response> =>
    change(server, url, init, () => server.fetch(url, init));
  const { results } = await runConformance({ uri: 'http://x', fetch }, { only });
  return (title) => {
    const found = results.find(({ operation, name }) => `${operation}: ${name}` === title);
    expect(found, title).toBeDefined();
    return found as CaseResult;
  };
}

const json = (status: number, body: unknown): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json' },
  });

describe('a server with faults', () => {
  test('that counts one row too many fails the count, and what needs it is not decidable', async () => {
    const of = await verdictsOf(
      ['CountTableRows', 'InsertIntoTable', 'CreateTable'],
      async (_, url, __, answer) => {
        const response = await answer();
        if (!url.endsWith('/count_rows') || !response.ok) return response;
        return json(200, Number(await response.text()) + 1);
      },
    );
    const count = of('CountTableRows: counts the rows of tables of several sizes');
    expect(count).toMatchObject({ verdict: 'failed', expected: 'count 3', got: '4' });
    expect(count.basis).toBe('Count the number of rows in table `id`');
    expect(count.request).toMatch(/^POST http:\/\/x\/v1\/table\/.*\/count_rows .* \{\}$/);
    expect(count.answer).toBe('200 (application/json) 4');
    // The rows of others are counted by a query then, which was shown to work.
    expect(of('InsertIntoTable: appends rows to a table').verdict).toBe('passed');
    expect(of('CreateTable: a table has the rows that it was created with').verdict).toBe('passed');
  });

  test('that answers no rows either leaves undecided what only rows can show', async () => {
    const of = await verdictsOf(
      ['QueryTable', 'InsertIntoTable', 'CreateTable'],
      async (_, url, __, answer) => {
        const [, verb] = /\/(count_rows|query)$/.exec(new URL(url).pathname) ?? [];
        return verb === undefined ? answer() : json(500, { code: 18, error: 'Out of order.' });
      },
    );
    expect(of('QueryTable: answers the rows of a table').verdict).toBe('failed');
    const insert = of('InsertIntoTable: appends rows to a table');
    expect(insert.verdict).toBe('not decidable');
    expect(insert.reason).toContain(
      'QueryTable is needed for this check and was not shown to work',
    );
    expect(of('CreateTable: creates a table; a second one of its name is a conflict').verdict).toBe(
      'passed',
    );
  });

  test('with a wrong status, a wrong code or none fails the cases of both', async () => {
    const of = await verdictsOf(
      [
        ...['CreateNamespace', 'GetTableTagVersion', 'DescribeTableVersion', 'GetTableStats'],
        ...['TableExists', 'ListTables'],
      ] as OperationName[],
      async (_, url, __, answer) => {
        const response = await answer();
        const { pathname } = new URL(url);
        if (pathname.startsWith('/v1/namespace') && response.status === 409) {
          return json(200 + 200, await response.json());
        }
        if (pathname.endsWith('/tags/version') && response.status === 404) {
          return json(404, { ...((await response.json()) as object), code: 4 });
        }
        if (/\/(version\/describe|stats)$/.test(pathname) && response.status === 404) {
          return json(404, { error: 'There is none.' });
        }
        return response;
      },
    );
    const taken = 'CreateNamespace: creates a namespace; a second one of its name is a conflict';
    expect(of(taken)).toMatchObject({
      verdict: 'failed',
      expected: 'code 2 (NamespaceAlreadyExists) with status 409',
    });
    expect(of(taken).got).toContain('code 2 with status 400');
    const tag = 'GetTableTagVersion: answers the version of a tag; a missing tag is not found';
    expect(of(tag).got).toContain('code 4 with status 404');
    const version = 'DescribeTableVersion: describes a version; a missing one is not found';
    expect(of(version).got).toContain('no code with status 404');
    // Even where the status alone says what is missing: the code decides.
    const stats = of('GetTableStats: a missing table is not found');
    expect(stats).toMatchObject({ verdict: 'failed' });
    expect(stats.got).toContain('no code with status 404');
    // The first namespace was created: what needs namespaces is decided all the same.
    expect(of('TableExists: tells what is there from what is not').verdict).toBe('passed');
    expect(of('ListTables: lists the names of the tables of a namespace').verdict).toBe('passed');
  });

  // A usual run asks the second for what makes things: the first is asked for all.
  const MAKES = OPERATION_NAMES.filter((name) => /^(Create|Declare|Register)/.test(name));
  test.each([
    ['a wrong status', (body: object) => json(400, body), {}],
    ['no code', () => json(409, { error: 'There is one.' }), casesOf({ only: MAKES }, {})],
  ])('that refuses conflicts with %s fails no case of anything else', async (_, refusal, asked) => {
    const conflict = async (response: Response): Promise<Response> =>
      response.status === 409 ? refusal((await response.json()) as object) : response;
    await using server = await createServer({ namespace: await openCatalog(), limits });
    const fetch = async (url: string, init: RequestInit): Promise<Response> =>
      conflict(await server.fetch(url, init));
    const { results, totals } = await runConformance({ uri: 'http://x', fetch }, asked);
    expect(totals['not decidable']).toBe(0);
    const failed = results.filter(({ verdict }) => verdict === 'failed');
    expect(failed.length).toBeGreaterThan(3);
    for (const { expected } of failed) expect(expected).toContain('status 409');
  });

  test('that refuses the first namespace as well is not known to create any', async () => {
    const of = await verdictsOf(['ListTables', 'CreateNamespace'], async (_, url, __, answer) =>
      /\/v1\/namespace\/[^/]+\/create$/.test(new URL(url).pathname)
        ? json(400, { code: 2, error: 'There is one.' })
        : answer(),
    );
    expect(of('ListTables: lists the names of the tables of a namespace').verdict).toBe(
      'not decidable',
    );
  });

  test('that answers what the protocol has no shape for fails, and is not repaired', async () => {
    const of = await verdictsOf(['QueryTable', 'ListTables'], async (_, url, __, answer) => {
      const response = await answer();
      if (!new URL(url).pathname.endsWith('/query') || !response.ok) {
        return url.includes('/table/list') ? json(200, { names: [] }) : response;
      }
      // The server waits for an answer that is left unread when it is closed.
      await response.body?.cancel();
      return new Response('not Arrow', { status: 200 });
    });
    expect(of('QueryTable: answers the rows of a table').verdict).toBe('failed');
    expect(of('ListTables: lists the names of the tables of a namespace').verdict).toBe('failed');
  });

  test('that decides otherwise what the protocol leaves open differs, and does not fail', async () => {
    const of = await verdictsOf(['DescribeTable'], async (_, url, init, answer) =>
      url.endsWith('/describe') && init.body === '{"version":-1}'
        ? json(200, { location: 'x' })
        : answer(),
    );
    expect(of('DescribeTable: a negative version is refused')).toMatchObject({
      verdict: 'differs',
      expected: 'status 400',
      got: '200',
    });
  });

  test('that asks to come again is asked again; one that goes away is not judged', async () => {
    let busy = 0;
    let gone = false;
    const of = await verdictsOf(
      ['GetTableStats', 'AlterTableAddColumns'],
      async (_, url, __, answer) => {
        if (url.endsWith('/stats') && busy++ % 2 === 0) {
          return new Response('{}', { status: 503, headers: { 'retry-after': '0.001' } });
        }
        gone ||= url.endsWith('/add_columns');
        if (gone) throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
        return answer();
      },
    );
    expect(of('GetTableStats: counts the rows and the fragments').verdict).toBe('passed');
    const after = of('AlterTableAddColumns: adds a column of an expression');
    expect(after.verdict).toBe('not run');
    expect(after.reason).toContain('ECONNREFUSED');
  });
});

describe('a partial catalog', () => {
  /** A catalog without some operations, in each of the ways that servers say so. */
  async function without(
    operations: readonly OperationName[],
    only: readonly OperationName[],
    error: () => unknown = () => unsupported('it'),
  ): Promise<(title: string) => CaseResult> {
    const inner = await openCatalog();
    const namespace = new Proxy(inner as Namespace, {
      get: (target, name) =>
        operations.some((operation) => methodName(operation) === name)
          ? () => Promise.reject(error())
          : (Reflect.get(target, name, target) as (...inputs: unknown[]) => unknown).bind(target),
    });
    const { results } = await runConformance(namespace, { only });
    return (title) =>
      results.find((one) => `${one.operation}: ${one.name}` === title) as CaseResult;
  }

  test('without CreateTable is checked by what it declares', async () => {
    const of = await without(
      ['CreateTable'],
      [
        'CreateTable',
        'DescribeTable',
        'TableExists',
        'ListTables',
        'RenameTable',
        'DropNamespace',
        'UpdateTable',
      ],
    );
    expect(of('CreateTable: a table has the rows that it was created with')).toMatchObject({
      verdict: 'not implemented',
      reason: expect.stringContaining('not supported'),
    });
    for (const title of [
      'DescribeTable: answers the location of a table',
      'TableExists: tells what is there from what is not',
      'ListTables: lists the names of the tables of a namespace',
      'RenameTable: a renamed table has its new name only',
      'DropNamespace: a namespace with a table is refused',
    ]) {
      expect(of(title).verdict, title).toBe('passed');
    }
    expect(
      of('UpdateTable: changes the rows that match the predicate, and counts them').verdict,
    ).toBe('not decidable');
  });

  test('without namespaces is checked in the root, and left as it was', async () => {
    const inner = await openCatalog();
    await inner.createTable({ id: ['mine'] }, (await import('../helpers/people.ts')).people(1));
    await using server = await createServer({ namespace: inner, limits });
    const fetch = (url: string, init: RequestInit): Promise<Response> =>
      /\/v1\/namespace\/[^/]+\/(create|drop|exists|describe|list)$/.test(new URL(url).pathname)
        ? Promise.resolve(new Response('not found', { status: 404 }))
        : server.fetch(url, init);
    const { results, totals } = await runConformance({ uri: 'http://x', fetch });
    expect(results.filter(({ verdict }) => verdict === 'failed')).toEqual([]);
    const create = results.filter(({ operation }) => operation === 'CreateNamespace');
    expect(create[0]?.verdict).toBe('not implemented');
    expect(totals.passed).toBeGreaterThan(60);
    expect((await inner.listAllTables({})).tables).toEqual(['mine']);
  });

  test('that never cascades and hides tables is left as it was too', async () => {
    const inner = await openCatalog();
    await using server = await createServer({ namespace: inner, limits });
    const fetch = (url: string, init: RequestInit): Promise<Response> => {
      if (url.includes('/table/list')) return Promise.resolve(json(200, { tables: [] }));
      return server.fetch(
        url,
        String(init.body).includes('Cascade') ? { ...init, body: '{}' } : init,
      );
    };
    const only = ['CreateTable', 'CreateNamespace', 'DropNamespace', 'DeclareTable'];
    const { totals } = await runConformance({ uri: 'http://x', fetch }, { only });
    expect(totals.passed).toBeGreaterThan(15);
    expect((await inner.listAllTables({})).tables).toEqual([]);
    expect((await inner.listNamespaces({ id: [] })).namespaces).toEqual([]);
  });

  test('that fails inside says so, and is not taken for one without the operation', async () => {
    const of = await without(
      ['ListTableTags'],
      ['ListTableTags'],
      () => new DirspaceError('Internal', 'Broken.'),
    );
    expect(of('ListTableTags: lists tags with their versions')).toMatchObject({
      verdict: 'failed',
      expected: 'success',
      got: 'code 18 (Internal): Broken.',
      answer: 'Internal: Broken.',
    });
  });
});

describe('which cases are run', () => {
  test('only and skip name operations and single cases', async () => {
    const namespace = await openCatalog();
    const one = 'DropTable: a dropped table is gone';
    const { results } = await runConformance(namespace, {
      only: ['TableExists', one],
      skip: ['TableExists'],
    });
    expect(results.map(({ operation, verdict }) => [operation, verdict])).toEqual([
      ['TableExists', 'not run'],
      ['DropTable', 'passed'],
    ]);
  });

  test('a skipped operation is not used to decide others', async () => {
    const { results } = await runConformance(await openCatalog(), {
      only: ['InsertIntoTable'],
      skip: ['CountTableRows', 'QueryTable'],
    });
    expect(results[0]?.verdict).toBe('not decidable');
  });

  test.each(['only', 'skip'])('a misspelt name in %s is refused with the nearest one', (option) => {
    const names = { [option]: ['ListTable'] };
    expect(() => conformanceSuite('http://x', names)).toThrow(
      `${option} names "ListTable", which is no operation and no "operation: case". Did you mean "ListTables"?`,
    );
  });

  test('cases that are started together run one after the other, each once', async () => {
    const catalog = await openCatalog();
    let running = 0;
    let most = 0;
    const namespace = new Proxy(catalog as Namespace, {
      get: (target, name) => {
        const method = Reflect.get(target, name, target) as (...inputs: unknown[]) => unknown;
        return async (...inputs: unknown[]) => {
          most = Math.max(most, ++running);
          try {
            return await method.apply(target, inputs);
          } finally {
            running -= 1;
          }
        };
      },
    });
    const suite = conformanceSuite(namespace, { only: ['TableExists', 'CountTableRows'] });
    const results = await Promise.all(suite.cases.map((one) => one.run()));
    expect(results.map(({ verdict }) => verdict)).toEqual([
      'passed',
      'passed',
      'not run',
      'passed',
      'passed',
      'passed',
    ]);
    expect(most).toBe(1);
    const again = await suite.cases[0]?.run();
    expect(again).toBe(results[0]);
    await suite.close();
    expect((await catalog.listNamespaces({ id: [] })).namespaces).toEqual([]);
  });
});

test('a report shows no credentials', async () => {
  const namespace = await openCatalog();
  const apiKeys = [
    { key: 'very-secret', name: 'a', grants: [{ namespace: [], permission: 'admin' }] },
  ];
  await using server = await createServer({ namespace, limits, auth: { apiKeys } as never });
  const fetch = (url: string, init: RequestInit): Promise<Response> => server.fetch(url, init);
  const headers = { 'x-api-key': 'very-secret' };
  const report = await runConformance(
    { uri: 'http://x', fetch, headers },
    { only: ['CreateTable'] },
  );
  expect(report.totals.passed).toBe(7);
  expect(JSON.stringify(report)).not.toContain('very-secret');
});
