/**
 * The verdicts of the conformance kit on servers that are wrong in one way each, and on servers that are
 * right and decide what the protocol leaves to them otherwise than ours does. A wrong server fails in the
 * cases that are about its fault and in no other; a right one fails in none.
 */
import { type RecordBatch, Table, tableFromIPC, tableToIPC } from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import {
  type ConformanceReport,
  conformanceSuite,
  runConformance,
  type Verdict,
} from '../../src/conformance.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { type Env, systemEnv } from '../../src/env.ts';
import { createServer } from '../../src/server.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { casesOf } from '../helpers/long.ts';

interface Asked {
  readonly method: string;
  /** The path below `/v1`, with the id of the run replaced by nothing. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The JSON of the body, or an empty object. */
  readonly body: Record<string, unknown>;
  /** Asks the server behind, with parts of the request changed. */
  pass(change?: {
    readonly path?: string;
    readonly query?: Readonly<Record<string, string | undefined>>;
    readonly body?: unknown;
  }): Promise<Response>;
}

type Behaviour = (asked: Asked) => Promise<Response> | Response;

const env: Env = { ...systemEnv, sleep: async () => {} };

const json = (status: number, body: unknown): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
const bodyOf = async (response: Response): Promise<Record<string, unknown>> =>
  (await response.json()) as Record<string, unknown>;
/** The answer with its JSON changed, where it is a success. */
const changed = async (
  answer: Promise<Response>,
  change: (body: Record<string, unknown>) => unknown,
): Promise<Response> => {
  const response = await answer;
  return response.ok ? json(response.status, change(await bodyOf(response))) : response;
};

const ALL = conformanceSuite('http://x').cases;

/**
 * One case in every `step`, beginning at another one for each server: the servers walk over all cases
 * together, and a long run has all of them for each.
 */
const shareOf = (server: number, step: number): string[] =>
  ALL.filter((_, at) => at % step === server % step).map(({ title }) => title);

/** What the kit says of our server with its behaviour changed, in these cases. */
async function judge(
  behaviour: () => Behaviour,
  only: readonly string[],
): Promise<ConformanceReport> {
  const namespace = await openDirectoryNamespace({ root: '/c', fs: memoryFs() });
  await using server = await createServer({ namespace, limits: { maxEventLoopDelayMs: 0 } });
  const behave = behaviour();
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const { pathname, searchParams } = new URL(url);
    const body = typeof init.body === 'string' && init.body !== '' ? parsed(init.body) : {};
    const pass: Asked['pass'] = async (change = {}) => {
      const to = new URL(url);
      to.pathname = change.path === undefined ? pathname : `/v1/${change.path}`;
      for (const [name, value] of Object.entries(change.query ?? {})) {
        if (value === undefined) to.searchParams.delete(name);
        else to.searchParams.set(name, value);
      }
      const sent = change.body === undefined ? {} : { body: JSON.stringify(change.body) };
      return server.fetch(String(to), { ...init, ...sent });
    };
    const path = decodeURIComponent(pathname.slice('/v1/'.length));
    return behave({ method: init.method ?? '', path, query: searchParams, body, pass });
  };
  return await runConformance({ uri: 'http://x', fetch }, { env, only });
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

const titlesOf = ({ results }: ConformanceReport, ...verdicts: Verdict[]): string[] =>
  results
    .filter(({ verdict }) => verdicts.includes(verdict))
    .map(({ operation, name }) => `${operation}: ${name}`);

/** A server that does something else for the requests whose path ends so. */
const on =
  (end: RegExp, behaviour: Behaviour): (() => Behaviour) =>
  () =>
  (asked) =>
    end.test(asked.path) ? behaviour(asked) : asked.pass();

const TABLE = (verb: string): RegExp => new RegExp(`^table/[^/]+/${verb}$`);
const VIEW = (verb: string): RegExp => new RegExp(`^materialized_view/[^/]+/${verb}$`);

/** A description with its fields changed. */
const withSchema = (
  body: Record<string, unknown>,
  change: (field: Record<string, unknown>) => Record<string, unknown>,
): Record<string, unknown> => {
  const schema = body.schema as { readonly fields: Record<string, unknown>[] } | undefined;
  if (!schema) return body;
  const fields = schema.fields.map((field) => ({ ...field, ...change(field) }));
  return { ...body, schema: { ...schema, fields } };
};

/** One fault each, with the cases that have to fail: these, and no others. */
const BROKEN: Readonly<Record<string, readonly [() => Behaviour, readonly string[]]>> = {
  'drops tables without effect': [
    on(TABLE('drop'), () => json(200, {})),
    [
      'DropTable: drops a table; a second time it is not found',
      'DropTable: a dropped table is gone',
    ],
  ],
  'accepts a second table of one name': [
    on(TABLE('create'), async ({ query, pass }) =>
      query.get('mode') === 'Create' ? pass({ query: { mode: 'ExistOk' } }) : pass(),
    ),
    ['CreateTable: creates a table; a second one of its name is a conflict'],
  ],
  'fills computed columns as they are declared': [
    on(TABLE('add_columns'), async ({ path, body, pass }) => {
      const answer = await pass();
      const [{ name: column, computed } = {}] = body.new_columns as Record<string, string>[];
      const filling = { path: path.replace('add_columns', 'backfill_column'), body: { column } };
      if (computed !== undefined) await pass(filling);
      return answer;
    }),
    ['AlterTableBackfillColumns: a computed column is null until it is backfilled'],
  ],
  'computes something else than it was told': [
    on(TABLE('add_columns'), async ({ body, pass }) => {
      const [column] = body.new_columns as Record<string, string>[];
      if (column?.computed === undefined) return pass();
      return pass({ body: { ...body, new_columns: [{ ...column, computed: 'id * 3' }] } });
    }),
    [
      'AlterTableBackfillColumns: answers a job, and values are those of the expression or not there yet',
    ],
  ],
  'starts a job for a column that nothing computes': [
    on(TABLE('backfill_column'), async ({ pass }) => {
      const answer = await pass();
      const told = answer.status === 404 && ((await answer.clone().json()) as { code: number });
      return answer.ok || (told && told.code !== 12) ? answer : json(202, { job_id: 'j' });
    }),
    [
      'AlterTableBackfillColumns: answers a job, and values are those of the expression or not there yet',
      'AlterTableBackfillColumns: a computed column is null until it is backfilled',
      'AlterTableBackfillColumns: a column of plain values cannot be filled',
      'AlterTableBackfillColumns: a missing column is not found',
    ],
  ],
  'makes views of other rows than their queries say': [
    on(VIEW('create'), ({ body, pass }) => {
      const source_query = String(body.source_query).replace('id > 0', 'id > 1');
      return pass({ body: { ...body, source_query } });
    }),
    [
      'CreateMaterializedView: a view with data has the rows of its query, or none yet',
      'RefreshMaterializedView: answers a job, and a view has the rows of before or of after a refresh',
    ],
  ],
  'fills views at once whatever is asked': [
    on(VIEW('create'), ({ body, pass }) => pass({ body: { ...body, with_no_data: false } })),
    ['CreateMaterializedView: a view that is made without data has no row until it is refreshed'],
  ],
  'makes a view where a table is': [
    on(VIEW('create'), async ({ pass }) => {
      const response = await pass();
      return response.status === 409 ? json(201, { version: 1 }) : response;
    }),
    ['CreateMaterializedView: the name of a table is taken'],
  ],
  'refreshes tables that are no views': [
    on(VIEW('refresh'), async ({ pass }) => {
      const response = await pass();
      return response.ok || response.status === 404 ? response : json(202, { job_id: 'j' });
    }),
    ['RefreshMaterializedView: a table that is no view is not refreshed'],
  ],
  'answers a missing table with status 400': [
    on(TABLE('describe'), async ({ pass }) => {
      const response = await pass();
      return response.status === 404 ? json(400, await bodyOf(response)) : response;
    }),
    ['DescribeTable: a missing table is not found'],
  ],
  'answers a missing tag with the code of a missing table': [
    on(TABLE('tags/delete'), async ({ pass }) => {
      const response = await pass();
      return response.status === 404 ? json(404, { code: 4 }) : response;
    }),
    ['DeleteTableTag: deletes a tag; a second time it is not found'],
  ],
  'answers a conflict without a code': [
    on(TABLE('declare'), async ({ pass }) => {
      const response = await pass();
      return response.ok ? response : json(response.status, { error: 'There is one.' });
    }),
    ['DeclareTable: declares a table; a second one of its name is a conflict'],
  ],
  'lists versions in ascending order whatever is asked': [
    on(TABLE('version/list'), ({ pass }) =>
      changed(pass(), (body) => ({
        ...body,
        versions: (body.versions as unknown[]).toReversed(),
      })),
    ),
    ['ListTableVersions: lists a version for every write, newest first where descending says so'],
  ],
  'ignores the token of the page in lists of tables': [
    on(/\/table\/list$/, ({ pass }) => pass({ query: { page_token: undefined } })),
    ['ListTables: pages have at most as many names as asked for, and each name once'],
  ],
  'answers the first page of all tables for ever': [
    on(/^table$/, () => json(200, { tables: ['other'], page_token: 'other' })),
    ['ListAllTables: lists a table by its full identifier'],
  ],
  'ignores the size of the page in lists of namespaces': [
    on(/^namespace\/[^/]+\/list$/, ({ pass }) => pass({ query: { limit: undefined } })),
    ['ListNamespaces: pages have at most as many names as asked for, and each name once'],
  ],
  'repeats a name on two pages': [
    on(/\/table\/list$/, ({ query, pass }) =>
      changed(pass(), (body) =>
        query.has('page_token') ? { ...body, tables: ['a', ...(body.tables as string[])] } : body,
      ),
    ),
    ['ListTables: pages have at most as many names as asked for, and each name once'],
  ],
  'describes the version that it saw first': [
    () => {
      const seen = new Map<string, unknown>();
      return on(TABLE('describe'), async ({ path, body, query, pass }) => {
        const isPlain = body.tag === undefined && body.version === undefined;
        const isDetailed = query.get('load_detailed_metadata') === 'true';
        return changed(pass(), (found) => {
          if (!isPlain || !isDetailed) return found;
          if (!seen.has(path)) seen.set(path, found.version);
          return { ...found, version: seen.get(path) };
        });
      })();
    },
    ['DescribeTable: describes the latest version where none is named'],
  ],
  'appends where it should overwrite': [
    on(TABLE('insert'), ({ pass }) => pass({ query: { mode: undefined } })),
    ['InsertIntoTable: mode Overwrite replaces the rows, in both spellings'],
  ],
  'understands modes in one spelling alone': [
    on(TABLE('insert'), ({ query, pass }) =>
      query.get('mode') === 'overwrite' ? json(400, { code: 13 }) : pass(),
    ),
    ['InsertIntoTable: mode Overwrite replaces the rows, in both spellings'],
  ],
  'loses the rows that are inserted': [
    on(TABLE('insert'), () => json(200, { version: 2 })),
    [
      'InsertIntoTable: appends rows to a table',
      'InsertIntoTable: mode Overwrite replaces the rows, in both spellings',
      'InsertIntoTable: a missing table is not found',
      'InsertIntoTable: rows that are inserted into a branch are not seen beside it',
    ],
  ],
  'passes over filters of queries': [
    on(TABLE('query'), ({ body, pass }) => pass({ body: { ...body, filter: undefined } })),
    [
      'QueryTable: a filter chooses rows',
      'QueryTable: a filter of a vector search is applied before it where prefilter says so',
    ],
  ],
  'counts all rows whatever the predicate': [
    on(TABLE('count_rows'), ({ body, pass }) => pass({ body: { ...body, predicate: undefined } })),
    ['CountTableRows: counts the rows that match a predicate'],
  ],
  'answers an object in place of a number': [
    on(TABLE('count_rows'), ({ pass }) => changed(pass(), (count) => ({ count }))),
    [
      'CountTableRows: counts the rows of tables of several sizes',
      'CountTableRows: answers a plain integer',
      'CountTableRows: counts the rows that match a predicate',
      'CountTableRows: counts the rows of an old version; a missing version is not found',
    ],
  ],
  'keeps the old name of a renamed table': [
    on(TABLE('rename'), async ({ path, pass }) => {
      const response = await pass();
      if (response.ok) await pass({ path: path.replace(/rename$/, 'declare'), body: {} });
      return response;
    }),
    ['RenameTable: a renamed table has its new name only'],
  ],
  'drops a namespace with what is in it, unasked': [
    on(/^namespace\/[^/]+\/drop$/, ({ body, pass }) =>
      pass({ body: { ...body, behavior: 'Cascade' } }),
    ),
    [
      'DropNamespace: a namespace with a child namespace is refused, and stays',
      'DropNamespace: a namespace with a table is refused',
    ],
  ],
  'leaves a tag where it was': [
    on(TABLE('tags/update'), async ({ body, path, pass }) => {
      const found = await pass({
        path: path.replace(/update$/, 'version'),
        body: { tag: body.tag },
      });
      return found.ok ? json(200, {}) : found;
    }),
    ['UpdateTableTag: moves a tag; a missing one is not found'],
  ],
  'restores nothing': [
    on(TABLE('restore'), () => json(200, {})),
    ['RestoreTable: an old version becomes the newest'],
  ],
  'answers created, 201, where the document lists 200': [
    on(TABLE('declare'), async ({ pass }) => {
      const response = await pass();
      return response.ok ? json(201, await bodyOf(response)) : response;
    }),
    [
      'DeclareTable: declares a table; a second one of its name is a conflict',
      'DeclareTable: a declared table is there, and only declared',
    ],
  ],
  'answers nothing, 204, where the document lists 200': [
    on(TABLE('exists'), async ({ pass }) => {
      const response = await pass();
      return response.ok ? new Response(null, { status: 204 }) : response;
    }),
    ['TableExists: tells what is there from what is not'],
  ],
  'answers what is missing as plain text': [
    on(TABLE('stats'), async ({ pass }) => {
      const response = await pass();
      return response.ok ? response : new Response('There is none.', { status: response.status });
    }),
    ['GetTableStats: a missing table is not found'],
  ],
  'passes over the metric of a search': [
    on(TABLE('query'), ({ body, pass }) => pass({ body: { ...body, distance_type: undefined } })),
    ['QueryTable: distance_type chooses the metric'],
  ],
  'deletes what has no match whatever the filter of a merge': [
    on(TABLE('merge_insert'), ({ pass }) =>
      pass({ query: { when_not_matched_by_source_delete_filt: undefined } }),
    ),
    [
      'MergeInsertIntoTable: when_not_matched_by_source_delete_filt deletes what has no match and fits',
    ],
  ],
  'does not count the rows of a merge': [
    on(TABLE('merge_insert'), ({ pass }) => changed(pass(), ({ version }) => ({ version }))),
    ['MergeInsertIntoTable: updates what matches and inserts what does not, and counts both'],
  ],
  'lists all tags whatever the limit': [
    on(TABLE('tags/list'), ({ pass }) =>
      pass({ query: { limit: undefined, page_token: undefined } }),
    ),
    ['ListTableTags: pages have at most as many tags as asked for, and each tag once'],
  ],
  'lists all branches whatever the limit': [
    on(TABLE('branches/list'), ({ pass }) =>
      pass({ query: { limit: undefined, page_token: undefined } }),
    ),
    ['ListTableBranches: pages have at most as many branches as asked for, and each branch once'],
  ],
  'lists all versions whatever the limit': [
    on(TABLE('version/list'), ({ pass }) =>
      pass({ query: { limit: undefined, page_token: undefined } }),
    ),
    ['ListTableVersions: pages have at most as many versions as asked for, and each version once'],
  ],
  'says of every field the opposite of whether it may be null': [
    on(TABLE('describe'), ({ pass }) =>
      changed(pass(), (body) => withSchema(body, (field) => ({ nullable: !field.nullable }))),
    ),
    ['DescribeTable: the schema says of a field that has a null that it is nullable'],
  ],
  'breaks off an answer': [
    on(TABLE('explain_plan'), () => Promise.reject(new TypeError('socket hang up'))),
    ['ExplainTableQueryPlan: answers a text'],
  ],
};

describe('a broken server', () => {
  test.each(Object.entries(BROKEN))(
    'that %s fails in the cases about that',
    async (name, [server, cases]) => {
      // All cases of the operations that are wrong, and a share of the others.
      const operations = cases.map((title) => title.slice(0, title.indexOf(':')));
      const share = shareOf(Object.keys(BROKEN).indexOf(name), casesOf(31, 1));
      const report = await judge(server, [...operations, ...share]);
      expect(report.stopped).toBeUndefined();
      expect(titlesOf(report, 'failed')).toEqual(cases);
      for (const { verdict, expected, got, request } of report.results) {
        if (verdict === 'failed') expect([expected, got, request]).not.toContain(undefined);
      }
    },
    60_000,
  );
});

const withMembers = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withMembers);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.entries(value).map(([name, one]) =>
    // Maps have the names of users for members.
    /^(tags|branches|properties|metadata|context|fields)$/.test(name) && !Array.isArray(one)
      ? [name, one]
      : [name, withMembers(one)],
  );
  return { ...Object.fromEntries(inner), 'x-own': { more: [1, null] } };
};

const isJson = (response: Response): boolean =>
  response.headers.get('content-type')?.startsWith('application/json') === true;

/** Answers of objects, changed. */
const everyAnswer =
  (change: (body: unknown, response: Response) => unknown): (() => Behaviour) =>
  () =>
  async ({ path, pass }) => {
    const response = await pass();
    // The one answer that is a bare map.
    const isMap = response.ok && path.endsWith('schema_metadata/update');
    if (!isJson(response) || isMap) return response;
    return json(response.status, change(await bodyOf(response), response));
  };

/** Pages of one each, the last name first, with tokens of its own. Versions keep their order. */
const onePerPage: Behaviour = async ({ path, query, pass }) => {
  const isVersions = path.endsWith('/version/list');
  const isTables = path.endsWith('/table/list') || path === 'table';
  const names = isVersions ? 'versions' : isTables ? 'tables' : 'namespaces';
  const all: unknown[] = [];
  let page_token: string | undefined;
  do {
    const response = await pass({ query: { page_token, limit: '1000' } });
    if (!response.ok) return response;
    const page = (await response.json()) as { page_token?: string } & Record<string, unknown[]>;
    all.push(...(page[names] ?? []));
    page_token = page.page_token ?? undefined;
  } while (page_token);
  const at = Number(query.get('page_token')?.slice('after '.length) ?? 0);
  const token = at + 1 < all.length ? `after ${at + 1}` : '';
  const inOrder = isVersions ? all : all.toReversed();
  return json(200, { [names]: inOrder.slice(at, at + 1), page_token: token });
};

const VERSIONS = /^(version|start_version|end_version|parentVersion|parent_version)$/;
function shifted(value: unknown, by: number): unknown {
  if (Array.isArray(value)) return value.map((one) => shifted(one, by));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) =>
      VERSIONS.test(name) && typeof one === 'number' && one >= 0
        ? [name, one * 7 + by]
        : [name, shifted(one, by)],
    ),
  );
}
/** The inverse; what the server does not know becomes a version that it does not have. */
function unshifted(value: unknown, by: number): unknown {
  if (Array.isArray(value)) return value.map((one) => unshifted(one, by));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      if (!VERSIONS.test(name) || typeof one !== 'number' || one < 0)
        return [name, unshifted(one, by)];
      const at = (one - by) / 7;
      return [name, Number.isInteger(at) ? at : 900_000];
    }),
  );
}

const OPTIONAL =
  /\/(create_index|create_scalar_index|index\/.*|tags\/.*|branches\/.*|backfill_column|schema_metadata\/update|update_field_metadata|restore|rename|register|merge_insert|explain_plan|analyze_plan)$|^(transaction|materialized_view)\/|^table\/batch-commit$|^table\/version\//;

const lacking =
  (answer: () => Response, what = OPTIONAL): (() => Behaviour) =>
  () =>
  (asked) =>
    what.test(asked.path) ? answer() : asked.pass();

/** Right servers, with the number that has to pass where all cases are run, and what is decided otherwise. */
const RIGHT: Readonly<Record<string, readonly [() => Behaviour, number, (readonly string[])?]>> = {
  'lists names in another order, one a page': [
    on(/^(namespace\/[^/]+\/(table\/)?list|table|table\/[^/]+\/version\/list)$/, onePerPage),
    118,
  ],
  'begins lists of names with an empty page': [
    on(/^(namespace\/[^/]+\/(table\/)?list|table)$/, async ({ path, query, pass }) => {
      const page_token = query.get('page_token');
      if (page_token === 'first') return pass({ query: { page_token: undefined } });
      if (page_token !== null) return pass();
      const response = await pass({ query: { limit: '1' } });
      const names =
        path.startsWith('table') || path.endsWith('/table/list') ? 'tables' : 'namespaces';
      return response.ok ? json(200, { [names]: [], page_token: 'first' }) : response;
    }),
    118,
  ],
  'answers the columns of rows in another order': [
    on(TABLE('query'), async ({ pass }) => {
      const response = await pass();
      if (!response.ok || isJson(response)) return response;
      const found = tableFromIPC(new Uint8Array(await response.arrayBuffer()));
      const names = found.schema.fields.map(({ name }) => name).toReversed();
      const bytes = tableToIPC(found.select(names), 'file');
      const headers = { 'content-type': response.headers.get('content-type') ?? '' };
      return new Response(bytes as Uint8Array<ArrayBuffer>, { status: 200, headers });
    }),
    118,
  ],
  'answers members of its own beside the known ones': [everyAnswer(withMembers), 118],
  'answers errors with a code and nothing else': [
    everyAnswer((body, { ok }) => (ok ? body : { code: (body as { code: number }).code })),
    118,
  ],
  'answers bad requests as plain text': [
    () =>
      async ({ pass }) => {
        const response = await pass();
        return response.status === 400
          ? new Response('Bad request', {
              status: 400,
              headers: { 'content-type': 'text/plain; charset=utf-8' },
            })
          : response;
      },
    118,
  ],
  'says that it lacks all that is optional': [
    lacking(() => json(406, { code: 0, error: 'Not here.' })),
    75,
  ],
  'has no route for what is optional': [
    lacking(() => new Response('Not found', { status: 404 })),
    75,
  ],
  'has no method for what is optional': [lacking(() => new Response(null, { status: 405 })), 75],
  'is slow, and asks to come again first': [
    () => {
      let asked = 0;
      return async ({ pass }) => {
        for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
        asked += 1;
        if (asked % 3 === 1) return new Response('', { status: asked % 2 ? 503 : 429 });
        return pass();
      };
    },
    118,
  ],
  'numbers versions in steps, from far on': [
    () =>
      async ({ body, path, pass }) => {
        const isMap = path.endsWith('schema_metadata/update');
        const response = await (Object.keys(body).length === 0 || isMap
          ? pass()
          : pass({ body: unshifted(body, 1000) }));
        if (!isJson(response)) return response;
        return json(response.status, shifted(await response.json(), 1000));
      },
    117,
    // What is open is decided so: a negative version is passed on as it is.
    [],
  ],
  'answers null where a member is absent': [
    everyAnswer((body, { ok }) =>
      ok && typeof body === 'object' && body !== null && !Array.isArray(body)
        ? { context: null, page_token: null, transaction_id: null, properties: null, ...body }
        : body,
    ),
    110,
  ],
  'answers 400 for a namespace to drop that is missing, 204 for one to skip, and never cascades': [
    on(/^namespace\/[^/]+\/drop$/, async ({ body, pass }) => {
      const skips = /^skip$/i.test(String(body.mode));
      const response = await pass({ body: { ...body, behavior: 'Restrict' } });
      if (skips && response.ok) return new Response(null, { status: 204 });
      return response.status === 404 || response.status === 409
        ? json(400, await bodyOf(response))
        : response;
    }),
    117,
  ],
  'answers rows in another order and other columns first': [
    on(TABLE('query'), async ({ body, pass }) => {
      const response = await pass();
      const isSearch = (body.vector as { single_vector?: unknown })?.single_vector !== undefined;
      if (!response.ok || isSearch) return response;
      const found = tableFromIPC(new Uint8Array(await response.arrayBuffer()));
      const count = found.numRows;
      const rows: RecordBatch[] = [];
      for (let at = count - 1; at >= 0; at--) rows.push(...found.slice(at, at + 1).batches);
      const turned = count === 0 ? found : new Table(found.schema, rows);
      const type = 'application/vnd.apache.arrow.file';
      const bytes = tableToIPC(turned, 'file');
      return new Response(bytes, { status: 200, headers: { 'content-type': type } });
    }),
    118,
  ],
  'makes every field nullable': [
    on(TABLE('describe'), ({ pass }) =>
      changed(pass(), (body) => withSchema(body, () => ({ nullable: true }))),
    ),
    118,
    ['DescribeTable: the schema says of a field that was created as not nullable that it is not'],
  ],
  'has locations in a bucket, which it takes back from nowhere': [
    () =>
      async ({ path, pass }) => {
        if (path.endsWith('/register')) return json(400, { code: 13, error: 'Not this bucket.' });
        const response = await pass();
        if (!response.ok || !isJson(response)) return response;
        const body: unknown = await response.json();
        const found = body as { location?: string; table_uri?: string } | null;
        if (typeof found?.location !== 'string') return json(response.status, body);
        return json(response.status, { ...found, location: `s3://bucket/a.b$c/${found.location}` });
      },
    117,
    ['RegisterTable: takes the location that deregistering answered, and the rows are back'],
  ],
  'is a catalog alone: it declares tables, and has no rows': [
    lacking(
      () => json(406, { code: 0 }),
      /^table\/[^/]+\/(create|insert|merge_insert|query|count_rows|update|delete|stats|version\/.*|tags\/.*|branches\/.*|create_.*|index\/.*|explain_plan|analyze_plan|restore|alter_columns|add_columns|drop_columns|schema_metadata\/update|update_field_metadata|backfill_column)$/,
    ),
    35,
  ],
};

describe('a right server', () => {
  test.each(Object.entries(RIGHT))(
    'that %s fails in no case',
    async (name, [server, passed, differs = []]) => {
      const share = shareOf(Object.keys(RIGHT).indexOf(name), casesOf(12, 1));
      const report = await judge(server, [...share, ...differs]);
      expect(report.stopped).toBeUndefined();
      const wrong = report.results.filter(
        ({ verdict }) => verdict === 'failed' || verdict === 'not run',
      );
      expect(wrong).toEqual([]);
      expect(titlesOf(report, 'differs')).toEqual(differs);
      expect(report.totals.passed).toBeGreaterThanOrEqual((passed * share.length) / ALL.length);
    },
    60_000,
  );
});
