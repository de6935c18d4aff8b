/**
 * `openedTable` collects in one answer what the views of a table share: the description and row
 * count of the chosen version, the newest version of its branch, and statistics of that newest
 * version, if the catalog has any. A table without data has only the description and a row count of
 * 0. Views request everything else themselves.
 */
import { isDirspaceError } from '../../errors.ts';
import type { DescribeTableResponse, GetTableStatsResponse } from '../../protocol/index.ts';
import type { Body, PageCaller } from './page-caller.ts';
import { type PinnedTable, pinnedTable } from './page-request.ts';

export interface OpenedTable {
  readonly described: DescribeTableResponse;
  readonly newest: number | undefined;
  readonly rows: number;
  /** Statistics of the newest version of the branch; absent where the catalog does not tell them. */
  readonly stats?: GetTableStatsResponse;
}

/** `{id, branch, version}`, the newest version if absent. */
export async function openedTable(caller: PageCaller, body: Body): Promise<OpenedTable> {
  const asked = pinnedTable(body);
  const { version: _, ...newestOf } = asked;
  const described = await caller.call('DescribeTable', { ...asked, load_detailed_metadata: true });
  const { version } = described;
  if (version === undefined) return { described, newest: undefined, rows: 0 };
  const [newest, rows, stats] = await Promise.all([
    asked.version === undefined
      ? version
      : caller
          .call('DescribeTable', { ...newestOf, load_detailed_metadata: true })
          .then((answer) => answer.version),
    caller.call('CountTableRows', { ...asked, version }).then(({ count }) => count),
    statsOf(caller, asked),
  ]);
  return { described, newest, rows, ...(stats === undefined ? {} : { stats }) };
}

async function statsOf(
  caller: PageCaller,
  { id, branch }: PinnedTable,
): Promise<GetTableStatsResponse | undefined> {
  try {
    return await caller.call('GetTableStats', { id, ...(branch === undefined ? {} : { branch }) });
  } catch (error) {
    if (isDirspaceError(error, 'Unsupported')) return undefined;
    throw error;
  }
}
