/**
 * Names of options that were nearly right. Programs that move over bring options that mean nothing
 * here, and these pass; but a misspelt `version` must not open the newest one.
 */
import { DirspaceError } from '../errors.ts';
import { nearest } from '../known-names.ts';

/** Passed over, these would put a table into the root. */
const PLACES: readonly string[] = ['namespacePath', 'namespace_path', 'namespace'];

/** @throws InvalidInput for a name that comes near to one of `known` without being it */
export function checkOptionNames(options: object | undefined, known: readonly string[]): void {
  if (options === undefined) return;
  if (typeof options !== 'object' || options === null) {
    throw new DirspaceError('InvalidInput', `Options are an object; these are ${options}.`);
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    if (PLACES.includes(name)) {
      throw new DirspaceError(
        'InvalidInput',
        `The namespace is no option ${JSON.stringify(name)}: it is an argument of its own, an array such as ["prod", "search"], before the options.`,
        { details: { option: name } },
      );
    }
    const meant = nearest(name, known);
    if (meant === undefined) continue;
    throw new DirspaceError(
      'InvalidInput',
      `There is no option ${JSON.stringify(name)}; did you mean "${meant}"? There is ${known.join(', ')}.`,
      { details: { option: name } },
    );
  }
}

/**
 * LanceDB's SDK fills columns by this option: left out unseen, the table would lack them.
 * @throws Unsupported
 */
export function refuseEmbeddings(options: object): void {
  if (!('embeddingFunction' in options) || options.embeddingFunction === undefined) return;
  throw new DirspaceError(
    'Unsupported',
    'The option embeddingFunction is not supported: no embeddings are computed here. Put them into the data, and leave the option out.',
  );
}

export const OPEN_OPTIONS = ['version', 'tag', 'branch', 'asOf', 'signal'] as const;

export const CREATE_OPTIONS = [
  'mode',
  'existOk',
  'schema',
  'vectorColumns',
  'properties',
  'storageOptions',
  'signal',
] as const;

/** Of the other calls of a connection. */
export const CONNECTION_OPTIONS = {
  createNamespace: ['mode', 'properties', 'signal'],
  dropNamespace: ['mode', 'behavior', 'signal'],
  watch: ['path', 'signal'],
  page: ['limit', 'pageToken', 'signal'],
  listTables: ['limit', 'pageToken', 'includeDeclared', 'signal'],
  tableNames: ['startAfter', 'limit', 'signal'],
  tableExists: ['version', 'signal'],
  declareTable: ['location', 'properties', 'vendCredentials', 'signal'],
  registerTable: ['mode', 'properties', 'signal'],
  renameTable: ['namespacePath', 'newNamespacePath', 'signal'],
  undropTable: ['trashId', 'signal'],
  listTrash: ['signal'],
  purgeTrash: ['olderThan', 'dryRun', 'signal'],
} as const;

/** Members of the protocol's request, which `describeTable` passes on. */
export const DESCRIBE_MEMBERS = [
  'version',
  'tag',
  'branch',
  'with_table_uri',
  'load_detailed_metadata',
  'check_declared',
  'vend_credentials',
  'identity',
  'context',
] as const;

export const ADD_OPTIONS = ['mode', 'schema', 'progress', 'signal'] as const;

export const EXECUTE_OPTIONS = ['timeoutMs', 'signal', 'idempotencyKey'] as const;

export const OPTIMIZE_OPTIONS = [
  'cleanupOlderThan',
  'dryRun',
  'deleteUnverified',
  'compaction',
  'onProgress',
  'signal',
] as const;

export const COMPACTION_OPTIONS = ['targetRows', 'targetBytes', 'maxDeletedShare'] as const;

/** @throws InvalidInput for any other name: without its condition a change would hit every row */
export function onlyOptions(options: object, known: readonly string[], what: string): void {
  for (const [name, value] of Object.entries(options)) {
    if (known.includes(name) || value === undefined) continue;
    throw new DirspaceError(
      'InvalidInput',
      `There is no option ${JSON.stringify(name)} of ${what}; there is ${known.join(', ')}.`,
      { details: { option: name } },
    );
  }
}

/** @throws InvalidInput unless a condition is SQL text or absent */
export function checkWhere(where: unknown): string | undefined {
  if (where === undefined || typeof where === 'string') return where;
  throw new DirspaceError(
    'InvalidInput',
    `where is an SQL predicate, such as "age > 40", and was given ${where === null ? 'null' : typeof where}.`,
  );
}
