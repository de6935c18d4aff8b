/**
 * `filteredPage` answers a list of namespaces or tables with only the names for which `shown`
 * returns a spelling. It reads further pages of the catalog's list until its own page is full or
 * the list ends. Page tokens do not reveal hidden names. `leftOut` is called with each hidden name
 * that the page passes over, so that table-ids.ts can mention it.
 */
import type { Model } from '../../protocol/index.ts';
import type { Call, Caller } from './call.ts';

type ListOperation = 'ListNamespaces' | 'ListTables' | 'ListAllTables';

type ListAnswer = Model<'ListNamespacesResponse'> | Model<'ListTablesResponse'>;

/** The name to show for one that is listed, or undefined where it is not to be seen. */
export type Shown = (name: string) => string | undefined;

/**
 * The page a request asks for, of the names that are shown; `leftOut` is told the others that would
 * stand on it. A page that another follows ends with a name that is shown, so its token tells of
 * that one at most. Runs of names that are not shown cost few calls: each asks for twice as many.
 */
export async function filteredPage(
  caller: Caller,
  call: Call<ListOperation>,
  shown: Shown,
  leftOut: (name: string) => void = () => {},
): Promise<ListAnswer> {
  const wanted = call.request.limit ?? Number.POSITIVE_INFINITY;
  const names: string[] = [];
  let token = call.request.page_token;
  let asked = wanted;
  while (true) {
    const missing = wanted - names.length;
    const page = await nextPage(caller, call, token, asked);
    const spelled = page.names.map((name) => shown(name));
    const visible = spelled.filter((name) => name !== undefined);
    const isFull = visible.length === missing && spelled.at(-1) !== undefined;
    // Asking for no more than what is missing always fits.
    if (visible.length >= missing && !isFull && asked > missing) {
      asked = Math.max(missing, Math.floor(asked / 2));
      continue;
    }
    for (const [at, name] of page.names.entries()) if (spelled[at] === undefined) leftOut(name);
    names.push(...visible);
    token = page.token;
    if (token === undefined) break;
    if (names.length >= wanted) {
      const passed: string[] = [];
      if (await anyMore(caller, call, token, shown, passed)) break;
      for (const name of passed) leftOut(name);
      token = undefined;
      break;
    }
    asked = Math.max(wanted - names.length, visible.length === 0 ? more(asked) : 0);
  }
  const rest = token === undefined ? {} : { page_token: token };
  const kept = names.slice(0, wanted);
  return call.operation === 'ListNamespaces'
    ? { namespaces: kept, ...rest }
    : { tables: kept, ...rest };
}

const LOOK_AHEAD = 100;
const MOST = 10_000;

const more = (asked: number): number => Math.max(asked, Math.min(2 * asked, MOST));

/** Whether another visible name follows; reports the hidden ones that are passed on the way. */
async function anyMore(
  caller: Caller,
  call: Call<ListOperation>,
  from: string,
  shown: Shown,
  passed: string[],
): Promise<boolean> {
  let token: string | undefined = from;
  for (let asked = LOOK_AHEAD; token !== undefined; asked = more(asked)) {
    const page = await nextPage(caller, call, token, asked);
    if (page.names.some((name) => shown(name) !== undefined)) return true;
    for (const name of page.names) passed.push(name);
    token = page.token;
  }
  return false;
}

interface Page {
  readonly names: readonly string[];
  readonly token: string | undefined;
}

async function nextPage(
  caller: Caller,
  call: Call<ListOperation>,
  token: string | undefined,
  limit: number,
): Promise<Page> {
  const { page_token: _, limit: __, ...request } = call.request;
  const answer = await caller({
    ...call,
    request: {
      ...request,
      ...(token === undefined ? {} : { page_token: token }),
      ...(Number.isFinite(limit) ? { limit } : {}),
    },
  });
  return {
    names: 'namespaces' in answer ? answer.namespaces : answer.tables,
    // Some servers say with an empty token that there is no more.
    token: answer.page_token === '' ? undefined : answer.page_token,
  };
}
