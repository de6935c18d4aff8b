/**
 * Pages of a list of which only a part may be seen. The pages show neither what is left out nor
 * that something is. What may be seen is the caller's to decide.
 */
import type { Model } from '../protocol/models.ts';
import type { Call, Caller } from './call.ts';

type ListOperation = 'ListNamespaces' | 'ListTables' | 'ListAllTables';

type ListAnswer = Model<'ListNamespacesResponse'> | Model<'ListTablesResponse'>;

/** The name to show for one that is listed, or undefined where it is not to be seen. */
export type Shown = (name: string) => string | undefined;

/**
 * The page a request asks for, of the names that are shown. As many are asked for as are missing,
 * so that a page ends with a name that is shown, and its token tells of that one at most.
 */
export async function filteredPage(
  caller: Caller,
  call: Call<ListOperation>,
  shown: Shown,
): Promise<ListAnswer> {
  const wanted = call.request.limit ?? Number.POSITIVE_INFINITY;
  const names: string[] = [];
  let token = call.request.page_token;
  while (true) {
    const missing = wanted - names.length;
    const page = await nextPage(caller, call, token, missing);
    for (const name of page.names) {
      const visible = shown(name);
      if (visible !== undefined) names.push(visible);
    }
    token = page.token;
    if (token === undefined) break;
    if (names.length >= wanted && (await anyMore(caller, call, token, shown))) break;
    if (names.length >= wanted) {
      token = undefined;
      break;
    }
  }
  const kept = names.slice(0, wanted);
  const rest = token === undefined ? {} : { page_token: token };
  return call.operation === 'ListNamespaces'
    ? { namespaces: kept, ...rest }
    : { tables: kept, ...rest };
}

const LOOK_AHEAD = 100;

async function anyMore(
  caller: Caller,
  call: Call<ListOperation>,
  from: string,
  shown: Shown,
): Promise<boolean> {
  let token: string | undefined = from;
  while (token !== undefined) {
    const page = await nextPage(caller, call, token, LOOK_AHEAD);
    if (page.names.some((name) => shown(name) !== undefined)) return true;
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
