/**
 * Carries out the operations on the indexes of a table: `createTableIndex`, `listTableIndices`,
 * `describeTableIndexStats` and `dropTableIndex`; `prewarmTableIndex` reads an index into memory.
 * An index is built before the request is answered, unless `train` is false. Rows that it does not
 * cover are searched by a scan until the table is optimized. Options that a type of index does not
 * have throw InvalidInput, types and values that this engine does not build Unsupported, and a
 * missing index TableIndexNotFound. A taken name throws TableIndexAlreadyExists if `replace` is
 * false or the index is of another column.
 */
import { DirspaceError } from '../../errors.ts';
import {
  FTS,
  type IndexType,
  IVF,
  indexTypeOf,
  ivfParameters,
  ivfRequest,
  SCALAR_INDEXES,
} from '../../indexes/index.ts';
import type { JsonObject } from '../../json.ts';
import {
  type CallOptions,
  type CreateTableIndexRequest,
  type CreateTableIndexResponse,
  type DescribeTableIndexStatsRequest,
  type DescribeTableIndexStatsResponse,
  type DropTableIndexRequest,
  type DropTableIndexResponse,
  type IndexContent,
  type ListTableIndicesRequest,
  type ListTableIndicesResponse,
  type OptimizeCallOptions,
  type PrewarmTableIndexRequest,
  type PrewarmTableIndexResponse,
  progressTo,
} from '../../protocol/index.ts';
import { settingsMembers, textSettings } from '../../search/index.ts';
import { type DescribedIndex, describedIndexes, prewarmIndex } from '../../table/index.ts';
import {
  byCodeUnits,
  type Catalog,
  pageOf,
  resolveTarget,
  showId,
  type Table,
} from '../catalog/index.ts';
import { beginChange } from './changes.ts';
import { writeOptions } from './rows.ts';

/** Members of a request for any type of index; all others are options of certain types. */
const MEMBERS: readonly string[] = [
  'id',
  'incarnation',
  'branch',
  'column',
  'index_type',
  'name',
  'replace',
  'train',
  'identity',
  'context',
];

/**
 * @throws TableNotFound, TableColumnNotFound, TableIndexAlreadyExists where `replace` is false and
 * for the name of an index of another column, Unsupported for types that this engine does not build
 */
export async function createTableIndex(
  catalog: Catalog,
  request: CreateTableIndexRequest,
  options: OptimizeCallOptions = {},
): Promise<CreateTableIndexResponse> {
  const { branch, repeated } = await beginChange(catalog, request, options);
  const type = indexTypeOf(request.index_type);
  const parameters = parametersOf(type, request);
  if (repeated !== undefined) return { transaction_id: repeated.manifest.transaction };
  const { column, name, replace, train } = request;
  const wanted = { column, type, name, replace, train, parameters };
  const { transaction } = await branch.createIndex(wanted, {
    ...writeOptions(branch, options),
    onProgress: progressTo(options.on_progress),
  });
  return transaction === undefined ? {} : { transaction_id: transaction };
}

/** The options of a request, as its type has them. @throws InvalidInput, Unsupported */
function parametersOf(type: IndexType, request: CreateTableIndexRequest): JsonObject {
  const given = optionsOf(request);
  if (type === FTS) return textParameters(given);
  if (type === IVF) return ivfRequest(request.index_type, given);
  const [member] = Object.keys(given);
  if (member !== undefined) throw needless(member, type);
  return {};
}

/** Members of a request that are options of a type. */
const optionsOf = (request: CreateTableIndexRequest): Partial<CreateTableIndexRequest> =>
  Object.fromEntries(
    Object.entries(request).filter(
      ([member, value]) => value !== undefined && !MEMBERS.includes(member),
    ),
  );

/** LanceDB's clients always send these; with these values they mean nothing here. */
const TEXT_DEFAULTS: Readonly<Record<string, readonly unknown[]>> = {
  block_size: [128],
  lance_tokenizer: ['text'],
  index_operators: [false],
  preserve_original: [false],
  split_identifiers: [false],
  split_on_numerics: [false],
};

/** How an index of texts was asked for, all of it. @throws InvalidInput, Unsupported */
function textParameters(given: Partial<CreateTableIndexRequest>): JsonObject {
  const settings = textSettings(given);
  const members = { ...settingsMembers(settings), with_position: given.with_position ?? false };
  for (const [member, value] of Object.entries(given)) {
    if (Object.hasOwn(members, member)) continue;
    const values = Object.hasOwn(TEXT_DEFAULTS, member) ? TEXT_DEFAULTS[member] : undefined;
    if (values?.includes(value) === true) continue;
    const found = values === undefined ? 'has no option' : `has no other ${member} than ${values}:`;
    throw new DirspaceError(
      values === undefined ? 'InvalidInput' : 'Unsupported',
      `An index of type FTS ${found} ${member} ${JSON.stringify(value)}. Leave it out.`,
      { details: { member } },
    );
  }
  return members as unknown as JsonObject;
}

const needless = (member: string, type: string): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `An index of type ${type} has no option ${member}. Leave it out; the types without options are ${SCALAR_INDEXES.join(', ')}.`,
    { details: { member } },
  );

/** Empty for a table without indexes, a declared one too. @throws TableNotFound, TableVersionNotFound */
export async function listTableIndices(
  catalog: Catalog,
  request: ListTableIndicesRequest,
): Promise<ListTableIndicesResponse> {
  const { indexes } = await indexesOf(catalog, request);
  const sorted = indexes.map(indexContent).sort((a, b) => byCodeUnits(a.index_name, b.index_name));
  const { items, page_token } = pageOf(sorted, request, ({ index_name }) => index_name);
  return { indexes: [...items], ...(page_token === undefined ? {} : { page_token }) };
}

/** @throws TableNotFound, TableVersionNotFound, TableIndexNotFound */
export async function describeTableIndexStats(
  catalog: Catalog,
  request: DescribeTableIndexStatsRequest,
): Promise<DescribeTableIndexStatsResponse> {
  const { table, indexes } = await indexesOf(catalog, request);
  const name = requireName(request.index_name);
  const found = indexes.find((index) => index.name === name);
  if (found === undefined) throw missingIndex(table, name);
  const { type, indexedRows, otherRows, parameters } = found;
  return {
    index_type: type,
    ...(type === IVF ? { distance_type: ivfParameters(parameters).metric } : {}),
    num_indexed_rows: indexedRows,
    num_unindexed_rows: otherRows,
    num_indices: 1,
  };
}

/** @throws TableNotFound, TableBranchNotFound, TableIndexNotFound */
export async function dropTableIndex(
  catalog: Catalog,
  request: DropTableIndexRequest,
  options: CallOptions = {},
): Promise<DropTableIndexResponse> {
  const { branch, repeated } = await beginChange(catalog, request, options);
  const name = requireName(request.index_name);
  if (repeated !== undefined) return { transaction_id: repeated.manifest.transaction };
  const { transaction } = await branch.dropIndex(name, writeOptions(branch, options));
  return transaction === undefined ? {} : { transaction_id: transaction };
}

/** @throws TableNotFound, TableVersionNotFound, TableIndexNotFound */
export async function prewarmTableIndex(
  catalog: Catalog,
  request: PrewarmTableIndexRequest,
  options: CallOptions = {},
): Promise<PrewarmTableIndexResponse> {
  const { table, snapshot } = await resolveTarget(catalog, request, 'version');
  const name = requireName(request.index_name);
  const bytes = snapshot && (await prewarmIndex(catalog.engine, snapshot, name, options.signal));
  if (bytes === undefined) throw missingIndex(table, name);
  return { bytes };
}

async function indexesOf(
  catalog: Catalog,
  request: ListTableIndicesRequest,
): Promise<{ readonly table: Table; readonly indexes: readonly DescribedIndex[] }> {
  const { table, snapshot } = await resolveTarget(catalog, request, 'version');
  const indexes = snapshot === undefined ? [] : await describedIndexes(catalog.engine, snapshot);
  return { table, indexes };
}

function indexContent(index: DescribedIndex): IndexContent {
  return {
    index_name: index.name,
    index_uuid: index.id,
    columns: [index.column],
    status: 'done',
    index_type: index.type,
    num_indexed_rows: index.indexedRows,
    num_unindexed_rows: index.otherRows,
    size_bytes: index.bytes,
    num_segments: index.segments,
    created_at: new Date(index.created).toISOString(),
    index_version: 1,
    index_details: JSON.stringify(index.parameters),
  };
}

function requireName(name: string | undefined): string {
  if (name !== undefined) return name;
  throw new DirspaceError(
    'InvalidInput',
    'The request names no index: give the name of one as index_name.',
    { details: { member: 'index_name' } },
  );
}

const missingIndex = ({ id }: Table, name: string): DirspaceError =>
  new DirspaceError(
    'TableIndexNotFound',
    `The table ${showId(id)} has no index ${JSON.stringify(name.slice(0, 80))}. It was not found; list the indexes to see what is there.`,
    { details: { id, index: name } },
  );
