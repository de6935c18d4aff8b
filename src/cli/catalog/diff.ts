/**
 * `dirspace diff` shows the differences between two versions of a table: columns, metadata,
 * properties, fragments and rows. A version is a number, a tag, a branch or `branch:version`; a
 * name that is neither tag nor branch throws UsageError. Without `--on`, rows are told apart by
 * where they are stored, and only counted. `--on` matches them by key columns, and `--on *`
 * compares whole rows: then at most ten of the added, ten of the removed and ten of the changed
 * rows are shown, unless `--limit` says otherwise.
 */
import { isDirspaceError } from '../../errors.ts';
import type { Table, TableDiff } from '../../sdk/index.ts';
import {
  type Answer,
  argument,
  type Call,
  type Command,
  columns,
  counted,
  parseObject,
  shortCell,
  UsageError,
  versionNumber,
} from '../terminal/index.ts';

type Version = { readonly version?: number; readonly tag?: string; readonly branch?: string };

export const diff: Command = {
  name: 'diff',
  summary: 'Show the differences between two versions of a table',
  otherNames: ['compare', 'changes'],
  ofTooMany: 'Two versions are one argument, as 3..5.',
  arguments: [
    ['<id>', 'the table'],
    ['<versions>', 'as 3..5, 3.. (to the newest), launch..draft, draft:7..main'],
  ],
  options: [
    {
      flags: '--on <column>',
      summary: 'a key column by which rows are matched; * compares whole rows',
      repeated: true,
    },
    { flags: '-n, --limit <rows>', summary: 'rows that are shown of each kind; 10 if absent' },
  ],
  examples: [
    'dirspace diff prod/search/user 3..',
    'dirspace diff prod/search/user launch..draft --on id',
  ],
  refusedIsUsage: true,
  reads: true,
  async run(call: Call): Promise<Answer> {
    const { namespace, name } = parseObject(argument(call, 0));
    const { signal, options, connection } = call;
    const [from, to] = endsOf(argument(call, 1));
    const keys = options.texts('on');
    if (keys.includes('*') && keys.length > 1) {
      throw new UsageError('--on * compares whole rows; leave out the other columns.');
    }
    const limit = options.count('limit', 10, 1000);
    const table = await connection.openTable(name, namespace, { signal });
    const how = keys.length === 0 ? {} : { on: keys[0] === '*' ? [] : keys };
    const found = await table.diff(
      await versionOf(table, from, call),
      to === '' ? undefined : await versionOf(table, to, call),
      { ...how, limit, signal },
    );
    return { json: found, text: diffText(found) };
  },
};

/** The texts before and after the two dots. */
function endsOf(text: string): readonly [from: string, to: string] {
  const [from = '', to = '', ...more] = text.split('..');
  if (from !== '' && more.length === 0) return [from, to];
  throw new UsageError(
    `${JSON.stringify(text)} names no versions; give two with .. between them, such as 3..5, or 3.. for what changed since.`,
  );
}

/** A number, `branch:version`, a tag, or else a branch. */
async function versionOf(table: Table, text: string, { signal }: Call): Promise<Version> {
  if (/^\d+$/.test(text)) return { version: versionNumber(text) };
  const [, branch = '', version = ''] = /^(.+):(\d+)$/.exec(text) ?? [];
  if (version !== '') return { branch, version: versionNumber(version) };
  if (text === 'main') return { branch: text };
  try {
    const tag = await (await table.tags()).getVersion(text, { signal });
    if (tag !== undefined) return { tag: text };
  } catch (error) {
    if (!isDirspaceError(error, 'TableTagNotFound')) throw error;
  }
  const branches = await (await table.branches()).list({ signal });
  if (Object.hasOwn(branches, text)) return { branch: text };
  throw new UsageError(
    `There is no tag and no branch ${text} of the table; its branches are ${['main', ...Object.keys(branches)].join(', ')}.`,
  );
}

function diffText(found: TableDiff): string {
  const { from, to, fragments, rows } = found;
  const place = ({ branch, version, rowCount }: TableDiff['from']): string =>
    `${branch === 'main' ? '' : `${branch}:`}${version} (${counted(rowCount, 'row')})`;
  const { added, changed, removed, kept } = fragments;
  const counts = `rows: ${[`+${rows.added}`, `-${rows.removed}`, `~${rows.changed}`].join(' ')}, ${rows.unchanged} unchanged`;
  const how =
    rows.by === 'key'
      ? ''
      : '\nRows were told apart by where they were written; --on COLUMN compares their values.';
  const missed =
    rows.notCompared.length === 0
      ? ''
      : `\nNot compared, as their types do not fit: ${rows.notCompared.join(', ')}.`;
  return [
    `${place(from)} .. ${place(to)}`,
    ...schemaLines(found),
    ...mapLines('metadata', found.metadata),
    ...mapLines('property', found.properties),
    `fragments: +${added} -${removed} ~${changed}, ${kept} unchanged`,
    `${counts}${how}${missed}`,
    ...rows.changedColumns.map((column) => `  ${column.name}: ${counted(column.rows, 'row')}`),
    ...exampleLines(rows.examples),
  ].join('\n');
}

function schemaLines({ schema }: TableDiff): string[] {
  const text = ({ name, dataType, nullable }: TableDiff['schema']['added'][number]): string =>
    `${name} ${dataType}${nullable ? '' : ' not null'}`;
  return [
    ...schema.added.map((column) => `+ column ${text(column)}`),
    ...schema.dropped.map((column) => `- column ${text(column)}`),
    ...schema.changed.map((change) => {
      const [before, after] = [text(change.from), text(change.to)];
      const metadata = change.metadataChanged ? ' (other metadata)' : '';
      return before === after
        ? `~ column ${before}${metadata}`
        : `~ column ${before} -> ${after}${metadata}`;
    }),
  ];
}

function mapLines(kind: string, { added, removed, changed }: TableDiff['metadata']): string[] {
  return [
    ...Object.entries(added).map(([name, value]) => `+ ${kind} ${name} = ${value}`),
    ...Object.entries(removed).map(([name, value]) => `- ${kind} ${name} = ${value}`),
    ...Object.entries(changed).map(
      ([name, value]) => `~ ${kind} ${name} = ${value.from} -> ${value.to}`,
    ),
  ];
}

/** Columns of a terminal for a value. */
const VALUE = 30;

function exampleLines(examples: TableDiff['rows']['examples']): string[] {
  if (examples === undefined) return [];
  const { added, removed, changed } = examples;
  const names = (rows: readonly object[]): string[] => [
    ...new Set(rows.flatMap((row) => Object.keys(row))),
  ];
  const table = (sign: string, rows: readonly Readonly<Record<string, unknown>>[]): string[] => {
    if (rows.length === 0) return [];
    const head = names(rows);
    const cells = rows.map((row) => [sign, ...head.map((name) => shortCell(row[name], VALUE))]);
    return ['', columns(['', ...head], cells)];
  };
  return [
    ...table('+', added),
    ...table('-', removed),
    ...table(
      '~',
      changed.map(({ before, after, columns: differing }) =>
        Object.fromEntries(
          Object.entries(after).map(([name, value]) => {
            const isChanged = differing.includes(name);
            const old = Object.hasOwn(before, name) ? before[name] : null;
            return [name, isChanged ? `${shown(old)} -> ${shown(value)}` : value];
          }),
        ),
      ),
    ),
  ];
}

const shown = (value: unknown): string => (value === null ? 'null' : shortCell(value, VALUE));
