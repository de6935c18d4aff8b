/**
 * `dirspace describe` shows the schema, version, location and properties of a table, or the
 * properties of a namespace. `--at` and `--branch` name a version of a table. `--stats` adds
 * statistics of the columns (column-stats.ts), for which `--budget` limits the milliseconds, or the
 * totals of all tables below the namespace. If an id could name either, the table is shown.
 */
import { isDirspaceError } from '../../errors.ts';
import type { DescribeTableResponse } from '../../protocol/index.ts';
import {
  type Answer,
  argument,
  type Call,
  type Command,
  columns,
  facts,
  parsePath,
  typeText,
  UsageError,
  versionOf,
} from '../terminal/index.ts';
import { statsBuckets, statsText } from './column-stats.ts';
import { everyListing } from './ls.ts';
import { detailsOf } from './ls-details.ts';

export const describe: Command = {
  name: 'describe',
  summary: 'Show what is known of a table or a namespace',
  otherNames: ['show', 'info', 'stat', 'schema'],
  arguments: [['<id>', 'a table or a namespace, such as prod/search/user']],
  options: [
    { flags: '--at <version|tag>', summary: 'a version or a tag; the newest version if absent' },
    { flags: '--branch <name>', summary: 'a branch; the main one if absent' },
    {
      flags: '--stats',
      summary: 'also what the columns are like; of a namespace what all its tables have together',
    },
    {
      flags: '--budget <ms>',
      summary: 'with --stats: look at rows for so long, 200 ms if absent; then it is a sample',
    },
  ],
  examples: [
    'dirspace describe prod/search/user',
    'dirspace describe prod/search/user --stats',
    'dirspace describe prod --json',
  ],
  refusedIsUsage: true,
  reads: true,
  async run(call: Call): Promise<Answer> {
    const path = parsePath(argument(call, 0));
    const { signal } = call;
    const members = versionOf(call.options);
    const hasStats = call.options.flag('stats');
    if (!hasStats) call.options.refuse(['budget'], 'it is for --stats.');
    const name = path.at(-1);
    if (name === undefined) return namespaceAnswer(call, path);
    const parent = path.slice(0, -1);
    try {
      const request = { load_detailed_metadata: true, with_table_uri: true, ...members };
      const found = await call.connection.describeTable(name, parent, request, { signal });
      const text = tableText(call.show(path), found);
      const told = { kind: 'table', id: path, ...found };
      if (!hasStats || found.schema === undefined) return { json: told, text };
      const table = await call.connection.openTable(name, parent, { ...members, signal });
      const budgetMs = call.options.count('budget', 200, 600_000);
      const profile = await table.profile({ budgetMs, buckets: statsBuckets, signal });
      const stats = statsText(profile, call.terminals);
      return { json: { ...told, profile }, text: `${text}\n\n${stats}` };
    } catch (error) {
      if (!isDirspaceError(error, 'TableNotFound')) throw error;
      if (!(await call.connection.namespaceExists(path, { signal }))) throw error;
    }
    return namespaceAnswer(call, path);
  },
};

async function namespaceAnswer(call: Call, path: string[]): Promise<Answer> {
  if (Object.keys(versionOf(call.options)).length > 0) {
    throw new UsageError(`${call.show(path)} is a namespace, which has no versions or branches.`);
  }
  call.options.refuse(
    ['budget'],
    `${call.show(path)} is a namespace, whose tables are summed up whole.`,
  );
  const { properties = {} } = await call.connection.describeNamespace(path, {
    signal: call.signal,
  });
  const totals = call.options.flag('stats') ? await totalsOf(call, path) : undefined;
  const counted = Object.entries(totals ?? {}).map(([name, count]): [string, string] => [
    name,
    count.toLocaleString('en'),
  ]);
  return {
    json: { kind: 'namespace', id: path, properties, ...(totals === undefined ? {} : { totals }) },
    text: facts([['namespace', call.show(path)], ...counted, ...Object.entries(properties)]),
  };
}

/** What is in a namespace and in all below it. */
async function totalsOf(
  call: Call,
  path: string[],
): Promise<Readonly<Record<'namespaces' | 'tables' | 'rows' | 'bytes' | 'unreadable', number>>> {
  const entries = await detailsOf(call, await everyListing(call, path));
  const tables = entries.filter(({ kind }) => kind === 'table');
  const sum = (of: 'rows' | 'bytes'): number =>
    tables.reduce((total, entry) => total + (entry[of] ?? 0), 0);
  return {
    namespaces: entries.length - tables.length,
    tables: tables.length,
    rows: sum('rows'),
    bytes: sum('bytes'),
    unreadable: tables.filter(({ problem }) => problem !== undefined).length,
  };
}

function tableText(id: string, found: DescribeTableResponse): string {
  const { schema, stats, properties, metadata } = found;
  const known = facts([
    ['table', id],
    ['version', found.is_only_declared === true ? 'none: only declared' : found.version],
    ['location', found.location],
    ['uri', found.table_uri],
    ['fragments', stats?.num_fragments],
    ['deleted rows', stats?.num_deleted_rows],
    ['opens in Lance', lanceText(found)],
    ['managed versions', found.managed_versioning === true ? 'yes' : undefined],
    ...named('property', properties),
    ...named('metadata', metadata),
  ]);
  if (schema === undefined) return known;
  const rows = schema.fields.map((field) => [
    field.name,
    typeText(field),
    field.nullable ? '' : 'not null',
  ]);
  return `${known}\n\n${columns(['COLUMN', 'TYPE', ''], rows)}`;
}

/** Undefined for a table that was not written for Lance. */
function lanceText({ lance: opening }: DescribeTableResponse): string | undefined {
  if (opening === undefined) return undefined;
  const { opens, external, reason = opening.by_path } = opening;
  const who = external === true ? ', and other programs write it' : '';
  const why = reason === undefined ? '' : `${opens ? '; ' : ': '}${reason}`;
  return `${opens ? 'yes' : 'no'}${who}${why}`;
}

const named = (
  kind: string,
  map: Readonly<Record<string, string>> | undefined,
): [string, string][] =>
  Object.entries(map ?? {}).map(([name, value]) => [`${kind} ${name}`, value]);
