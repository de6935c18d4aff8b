/**
 * `uiRoutes` builds the routes of the page below `/ui`: its files, its session, and downloads of
 * rows as files (`/ui/rows/...`). The page's views and the operations that it may call are below
 * `/ui/api/`. None of these routes changes anything stored.
 */
import { DirspaceError } from '../../errors.ts';
import { EVERY_OPERATION, formatAnswer } from '../../protocol/index.ts';
import { SQL_WORDS } from '../../sql/index.ts';
import { VERSION } from '../../version.ts';
import { mayUseDatabase } from '../auth/index.ts';
import {
  emptyAnswer,
  type HttpAnswer,
  type HttpRequest,
  jsonAnswer,
  type Route,
} from '../http/index.ts';
import { download } from './download.ts';
import type { PageFacts } from './facts.ts';
import { PAGE_FILES, pageFile } from './files.ts';
import {
  type Body,
  bodyOf,
  enterPage,
  firstKnown,
  identifyPage,
  PAGE_OPERATIONS,
  type PageCaller,
  type PageOperation,
} from './page-caller.ts';
import { pageHeaders, refuseOtherPages } from './page-guard.ts';
import { textOf } from './page-request.ts';
import { rowsWindow, wholeRow } from './rows.ts';
import { cookieHeader } from './sessions.ts';
import { statementRows } from './statement.ts';
import { openedTable } from './table.ts';
import { neighbours, vectorSample } from './vectors.ts';

export function uiRoutes(facts: PageFacts): Route[] {
  const get = (path: string, answer: Route['answer']): Route => ({
    method: 'GET',
    name: 'ui',
    path,
    answer,
  });
  const post = (name: string, answer: Route['answer']): Route => ({
    method: 'POST',
    name: 'ui',
    path: `/ui/${name}`,
    answer: async (http) => {
      refuseOtherPages(http.state);
      return pageHeaders(await answer(http), 'no-store');
    },
  });
  return [
    // With and without a slash, which other dialects of addresses take away.
    get('/ui', (http) => openPage(facts, http)),
    get('/ui/', (http) => openPage(facts, http)),
    ...Object.keys(PAGE_FILES)
      .filter((name) => name !== 'index.html')
      .map((name) => get(`/ui/${name}`, (http) => answerFile(name, http))),
    get('/ui/rows/{format}', async (http) => {
      refuseOtherPages(http.state);
      return pageHeaders(await download(facts, http), 'no-store');
    }),
    post('session', (http) => openSession(facts, http)),
    // Of the same folder as `session`, which is the path of the cookie that browsers take from it.
    post('session-end', ({ state }) => {
      facts.sessions.close(state);
      return withHeaders(emptyAnswer(204), {
        'set-cookie': cookieHeader(state, facts.isSecure()),
      });
    }),
    post('api/about', (http) => about(facts, http)),
    ...Object.entries(VIEWS).map(([name, view]) =>
      post(`api/${name}`, async (http) => {
        const { caller, body } = await enterPage(facts, http, false);
        return jsonAnswer(200, await view(facts, caller, body));
      }),
    ),
    ...JSON_OPERATIONS.map((operation) =>
      post(`api/${operation}`, async (http) => {
        const isShort = 'short' in EVERY_OPERATION[operation];
        const { caller, body } = await enterPage(facts, http, isShort);
        const answer = await caller.call(operation, body as never);
        return jsonAnswer(200, formatAnswer(operation, answer as never));
      }),
    ),
  ];
}

type View = (facts: PageFacts, caller: PageCaller, body: Body) => Promise<unknown>;

/** What the page asks for beyond the operations, by the name in its address. */
const VIEWS: Readonly<Record<string, View>> = {
  table: (_, caller, body) => openedTable(caller, body),
  rows: rowsWindow,
  row: (_, caller, body) => wholeRow(caller, body),
  sql: statementRows,
  words: async () => SQL_WORDS,
  vectors: vectorSample,
  neighbours: (_, caller, body) => neighbours(caller, body),
};

/** Those that answer JSON are passed on as they are. */
const JSON_OPERATIONS = PAGE_OPERATIONS.filter(
  (operation) => EVERY_OPERATION[operation].answer !== 'arrow-file',
) as Exclude<PageOperation, 'QueryTable' | 'TakeRows' | 'RunSql'>[];

const withHeaders = (answer: HttpAnswer, headers: Record<string, string>): HttpAnswer => ({
  ...answer,
  headers: { ...answer.headers, ...headers },
});

const redirect = (location: string, headers: Record<string, string> = {}): HttpAnswer =>
  pageHeaders({ status: 303, headers: { location, ...headers }, body: '' }, 'no-store');

/**
 * The page, or with `?ticket=` a session and the page. All addresses in the answers are relative: a
 * proxy may have put a path in front of that of the page.
 */
async function openPage(facts: PageFacts, http: HttpRequest): Promise<HttpAnswer> {
  const { ticket } = http.query;
  const isFolder = http.state.path.endsWith('/');
  if (ticket === undefined) return answerFile('index.html', http, isFolder);
  // There a cookie without a path is one for all of the page.
  if (!isFolder) return redirect(`ui/?ticket=${encodeURIComponent(String(ticket))}`);
  // Programs that look what a link leads to, such as chats, ask by HEAD: the ticket is for its reader.
  if (http.state.request.method === 'HEAD') return redirect('./');
  const id = facts.sessions.redeem(String(ticket));
  // Where it was used before, the browser may have its session from then; else the page says so.
  if (id === undefined) return redirect('./#/n?ticket=used');
  return redirect('./', { 'set-cookie': cookieHeader(http.state, facts.isSecure(), id) });
}

/** @param isFolder whether the address of the document ends in a slash, so that its files are beside it */
async function answerFile(
  name: string,
  { state }: HttpRequest,
  isFolder = false,
): Promise<HttpAnswer> {
  const { type, text, etag: plainTag, zipped } = await pageFile(name);
  // The document differs by its address; what it names are the bytes that count.
  const isZipped = name !== 'index.html' && takesGzip(state.headers['accept-encoding']);
  const etag = isZipped ? plainTag.replace(/"$/, '-gzip"') : plainTag;
  const headers = { etag, vary: 'accept-encoding' };
  if (state.headers['if-none-match'] === etag) {
    return pageHeaders({ status: 304, headers, body: '' }, 'no-cache');
  }
  const typed = { ...headers, 'content-type': type };
  if (!isZipped) {
    const body = isFolder ? text.replaceAll('="ui/', '="./') : text;
    return pageHeaders({ status: 200, headers: typed, body }, 'no-cache');
  }
  const size = String(zipped.length);
  const coded = { ...typed, 'content-encoding': 'gzip', 'content-length': size };
  return pageHeaders({ status: 200, headers: coded, body: whole(zipped) }, 'no-cache');
}

/** Whether a client takes gzip, by its header Accept-Encoding: not where it gives it no weight. */
function takesGzip(accepted: string | string[] | undefined): boolean {
  const codings = String(accepted ?? '')
    .toLowerCase()
    .split(',', 20);
  return codings.some((coding) => /^\s*gzip\s*(;\s*q=(1|0?\.\d*[1-9]).*)?$/.test(coding));
}

async function* whole(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** `{credential}`: an API key or a bearer token, which of them is tried. */
async function openSession(facts: PageFacts, { state }: HttpRequest): Promise<HttpAnswer> {
  const body = bodyOf(await facts.services.identification.unknownBody(state));
  const given = textOf(body.credential, 'credential').trim();
  if (given === '') throw new DirspaceError('InvalidInput', 'The credential is empty.');
  const credentials = await firstKnown(facts, state, [{ apiKey: given }, { token: given }]);
  const id = facts.sessions.open(credentials);
  return withHeaders(emptyAnswer(204), {
    'set-cookie': cookieHeader(state, facts.isSecure(), id),
  });
}

/** Who asks, and which databases there are for them. @throws Unauthenticated */
async function about(facts: PageFacts, { state }: HttpRequest): Promise<HttpAnswer> {
  const { services, readOnly } = facts;
  const principal = await identifyPage(facts, state);
  const names = await services.databases.names();
  return jsonAnswer(200, {
    version: VERSION,
    principal: principal.name,
    signed_in: facts.sessions.credentialsOf(state) !== undefined,
    read_only: readOnly,
    databases: names?.filter((name) => mayUseDatabase(principal, name)),
  });
}
