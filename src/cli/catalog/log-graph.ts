/**
 * `graphAnswer` answers `dirspace log --graph` with the versions of all branches of a table, at
 * most `limit`, newest first, with their tags; `--branch` throws UsageError. Versions are read page
 * by page while they are printed. version-graph.ts orders them and draws the lines. As JSON the
 * answer has the parent of each version instead of lines.
 */
import type { Row, Table } from '../../sdk/index.ts';
import { type Call, type RowsAnswer, UsageError } from '../terminal/index.ts';
import {
  type GraphBranch,
  type GraphLine,
  type ListedVersion,
  versionGraph,
} from './version-graph.ts';

/** Versions of all branches that are read ahead, together. */
const AHEAD = 10_000;
const MOST_PAGE = 1_000;
const LEAST_PAGE = 10;
/** Lines that are printed at once. */
const GROUP = 500;
const MAIN = 'main';

export async function graphAnswer(
  call: Call,
  table: Table,
  id: readonly string[],
  limit: number,
): Promise<RowsAnswer> {
  const { signal } = call;
  if (call.options.text('branch') !== undefined) {
    throw new UsageError('--graph shows all branches; leave out --branch.');
  }
  const branches = Object.entries(await (await table.branches()).list({ signal }));
  const tags = new Map<string, string[]>();
  for (const [name, { branch, version }] of Object.entries(
    await (await table.tags()).list({ signal }),
  )) {
    const key = keyOf(branch ?? MAIN, version);
    tags.set(key, [...(tags.get(key) ?? []), name]);
  }
  const each = Math.floor(AHEAD / (branches.length + 1));
  const page = Math.max(LEAST_PAGE, Math.min(MOST_PAGE, each));
  const sides: GraphBranch[] = [
    { name: MAIN, pages: versionPages(call, id, undefined, page) },
    ...branches.map(([name, { parentBranch, parentVersion }]) => ({
      name,
      parent: { branch: parentBranch ?? MAIN, version: parentVersion },
      pages: versionPages(call, id, name, page),
    })),
  ];
  const asJson = call.options.flag('json');
  return {
    columns: asJson ? ['branch', 'version'] : ['GRAPH', 'VERSION', 'TIME', 'OPERATION', 'NAMES'],
    rows: grouped(versionGraph(sides), limit, (line) => rowOf(line, tags, asJson)),
  };
}

const keyOf = (branch: string, version: number): string => `${version} ${branch}`;

async function* versionPages(
  { connection: { namespace }, signal }: Call,
  id: readonly string[],
  branch: string | undefined,
  limit: number,
): AsyncGenerator<readonly ListedVersion[]> {
  let token: string | undefined;
  do {
    const { versions, page_token } = await namespace.listTableVersions(
      {
        id: [...id],
        descending: true,
        limit,
        ...(branch === undefined ? {} : { branch }),
        ...(token === undefined ? {} : { page_token: token }),
      },
      { signal },
    );
    yield versions.map(({ version, timestamp_millis = Number.NaN, metadata = {} }) => ({
      version,
      timestamp: timestamp_millis,
      metadata,
    }));
    token = page_token;
  } while (token !== undefined);
}

async function* grouped(
  lines: AsyncGenerator<GraphLine>,
  limit: number,
  rowOf: (line: GraphLine) => Row | undefined,
): AsyncGenerator<readonly Row[]> {
  let group: Row[] = [];
  let left = limit;
  if (left > 0) {
    for await (const line of lines) {
      const row = rowOf(line);
      if (row !== undefined) group.push(row);
      if (line.commit !== undefined && --left === 0) break;
      if (group.length < GROUP) continue;
      yield group;
      group = [];
    }
  }
  yield group;
}

function rowOf(
  { graph, commit }: GraphLine,
  tags: ReadonlyMap<string, readonly string[]>,
  asJson: boolean,
): Row | undefined {
  if (commit === undefined) return asJson ? undefined : { GRAPH: graph };
  const { branch, version, timestamp, metadata, heads, parent } = commit;
  const named = tags.get(keyOf(branch, version)) ?? [];
  const time = Number.isNaN(timestamp) ? '' : new Date(timestamp).toISOString();
  if (asJson) {
    return {
      branch,
      version,
      timestamp: time,
      parent: parent ?? null,
      heads,
      tags: named,
      metadata,
    };
  }
  return {
    GRAPH: graph,
    VERSION: branch === MAIN ? version : `${branch}:${version}`,
    TIME: time,
    OPERATION: operationText(metadata),
    NAMES: [...heads, ...named.map((tag) => `tag ${tag}`)].join(', '),
  };
}

/** What a version did, with the rows that it added, removed and changed. */
function operationText(metadata: Readonly<Record<string, string>>): string {
  const count = (...names: string[]): number =>
    names.reduce((sum, name) => sum + (Number(metadata[name]) || 0), 0);
  const parts = [
    ['+', count('added_rows', 'inserted_rows')],
    ['-', count('removed_rows', 'deleted_rows')],
    ['~', count('updated_rows')],
  ] as const;
  const shown = parts.filter(([, rows]) => rows > 0).map(([sign, rows]) => `${sign}${rows}`);
  return [metadata.operation ?? '', ...shown].join(' ').trim();
}
