/**
 * `dirspace index` builds, lists and drops the indexes of a table. `create` returns when the index
 * is built, and says how many rows it covers, and how many it does not because they were added
 * meanwhile. The types are btree (the default), bitmap, label-list and ivf, which takes
 * `--distance`. It cannot build full-text indexes.
 */
import type { IndexConfig, Table } from '../../sdk/index.ts';
import {
  type Answer,
  action,
  argument,
  type Call,
  type Command,
  columns,
  nameFor,
  openSelected,
  parseObject,
  UsageError,
} from '../terminal/index.ts';

const ACTIONS = ['ls', 'create', 'drop'] as const;
/** By word: the method of `Index`, which is loaded with the first index that is made. */
const TYPES = {
  btree: 'btree',
  bitmap: 'bitmap',
  'label-list': 'labelList',
  ivf: 'ivfSq',
} as const;
const DISTANCES = ['l2', 'cosine', 'dot'] as const;
type TypeName = keyof typeof TYPES;

export const index: Command = {
  name: 'index',
  summary: 'Build, list or drop the indexes of a table',
  arguments: [
    ['<action>', ACTIONS.join(', ')],
    ['<id>', 'the table'],
    ['[name]', 'create: the column; drop: the index; not for ls'],
  ],
  choices: { action: ACTIONS },
  options: [
    {
      flags: '--type <type>',
      summary: `create: ${Object.keys(TYPES).join(', ')}; btree if absent`,
    },
    { flags: '--name <name>', summary: 'create: the name; <column>_idx as a rule if absent' },
    {
      flags: '--distance <distance>',
      summary: `create, for ivf: ${DISTANCES.join(', ')}; l2 if absent`,
    },
    { flags: '--branch <name>', summary: 'the branch; main if absent' },
  ],
  examples: [
    'dirspace index create prod/search/user id',
    'dirspace index create prod/search/user labels --type label-list',
    'dirspace index create prod/search/docs vector --type ivf --distance cosine',
    'dirspace index ls prod/search/user --json',
    'dirspace index drop prod/search/user id_idx',
  ],
  refusedIsUsage: true,
  reads: ([word]) => word === 'ls',
  async run(call: Call): Promise<Answer> {
    const asked = action(call, 'index', ACTIONS);
    if (asked !== 'create') call.options.refuse(['type', 'name', 'distance'], 'it is for create.');
    const name = nameFor(call, asked, asked === 'create' ? 'column' : 'index', 'id');
    const type = typeOf(call.options.text('type') ?? 'btree');
    const options = optionsOf(call, type);
    const table = await openSelected(call, parseObject(argument(call, 1)));
    if (asked === 'ls') return list(call, table);
    return asked === 'drop' ? remove(call, table, name) : create(call, table, name, type, options);
  },
};

function typeOf(given: string): TypeName {
  if (Object.hasOwn(TYPES, given)) return given as TypeName;
  throw new UsageError(`--type ${given} is none of ${Object.keys(TYPES).join(', ')}.`);
}

interface TypeOptions {
  readonly distanceType?: (typeof DISTANCES)[number];
}

/** What the index is asked to be, beside its type. */
function optionsOf({ options }: Call, type: TypeName): TypeOptions {
  const given = options.text('distance');
  if (given === undefined) return {};
  if (type !== 'ivf') options.refuse(['distance'], 'it is for --type ivf.');
  const distanceType = DISTANCES.find((known) => known === given);
  if (distanceType !== undefined) return { distanceType };
  throw new UsageError(`--distance ${given} is none of ${DISTANCES.join(', ')}.`);
}

async function list({ signal }: Call, table: Table): Promise<Answer> {
  const indexes = await table.listIndices({ signal });
  const rows = indexes.map((one) => [
    one.name,
    one.indexType,
    one.columns.join(', '),
    one.numIndexedRows ?? '',
    one.numUnindexedRows ?? '',
  ]);
  const head = ['INDEX', 'TYPE', 'COLUMN', 'ROWS', 'NOT COVERED'];
  return {
    json: indexes,
    text: rows.length === 0 ? '' : columns(head, rows),
    ...(rows.length === 0 ? { note: 'The table has no indexes.' } : {}),
  };
}

async function create(
  { options, signal }: Call,
  table: Table,
  column: string,
  type: TypeName,
  { distanceType }: TypeOptions,
): Promise<Answer> {
  const name = options.text('name');
  const { Index } = await import('../../sdk/index.ts');
  await table.createIndex(column, {
    config: type === 'ivf' ? Index.ivfSq(distanceType && { distanceType }) : Index[TYPES[type]](),
    signal,
    ...(name === undefined ? {} : { name }),
  });
  const indexes = await table.listIndices({ signal });
  const time = ({ createdAt }: IndexConfig): number => createdAt?.getTime() ?? 0;
  const own = indexes.filter((one) => one.columns[0]?.toLowerCase() === column.toLowerCase());
  const made =
    name === undefined
      ? own.sort((one, other) => time(other) - time(one))[0]
      : indexes.find((one) => one.name === name);
  const shown = made?.name ?? name ?? `${column}_idx`;
  return {
    json: made ?? { name: shown },
    note: `The index ${shown} covers ${covered(made)}.`,
  };
}

const covered = (made: IndexConfig | undefined): string => {
  const [rows = 0, others = 0] = [made?.numIndexedRows, made?.numUnindexedRows];
  return others === 0
    ? `${rows} rows`
    : `${rows} rows; ${others} came meanwhile: optimize covers them`;
};

async function remove(call: Call, table: Table, name: string): Promise<Answer> {
  await table.dropIndex(name, { signal: call.signal });
  return { json: { index: name }, note: `Dropped the index ${name} of ${argument(call, 1)}.` };
}
