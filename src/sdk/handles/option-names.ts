/**
 * Refuses unknown names of options with InvalidInput: `checkChangeOptions` in calls that change
 * something, `checkOptionNames` in calls that read, `onlyOptions` in objects within them. Otherwise
 * a misspelt `dryRun` would lose rows, and a misspelt `version` would read other rows. Lists such
 * as `OPEN_OPTIONS` have the known names of a call. `checkWhere` refuses a condition that is no
 * text. `refuseLanceFiles` and `refuseReadOptions` throw Unsupported for LanceDB's options about
 * files and caches that ask for something else than this engine does anyway.
 */
import { DirspaceError } from '../../errors.ts';
import { nearest, suggestion } from '../../known-names.ts';

/** Every call takes these; see `CallOptions`. */
const CALL_OPTIONS: readonly string[] = ['signal', 'idempotencyKey', 'onContext'];

/** Passed over, these would put a table into the root. */
const PLACES: readonly string[] = ['namespacePath', 'namespace_path', 'namespace'];

/**
 * For calls that read. `known` are the options that it has; those of every call need not be among them.
 * @throws InvalidInput for every other name that has a value, and for one without that is nearly a known one
 */
export function checkOptionNames(options: object | undefined, known: readonly string[]): void {
  refuse(options, known);
}

/**
 * For calls that change something. `known` are the options that it has beside those of every call.
 * @throws InvalidInput as `checkOptionNames`
 */
export function checkChangeOptions(
  options: object | undefined,
  known: readonly string[] = [],
): void {
  if (options !== undefined) refuse(options, [...new Set([...known, ...CALL_OPTIONS])]);
}

function refuse(options: object | undefined, known: readonly string[]): void {
  if (options === undefined) return;
  if (typeof options !== 'object' || options === null) {
    throw new DirspaceError('InvalidInput', `Options are an object; these are ${options}.`);
  }
  if (Array.isArray(options)) {
    const names = known.length === 0 ? CALL_OPTIONS : known;
    throw new DirspaceError(
      'InvalidInput',
      `Options are an object; these are an array. There is ${names.join(', ')}.`,
    );
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name) || CALL_OPTIONS.includes(name)) continue;
    if (PLACES.includes(name)) {
      throw new DirspaceError(
        'InvalidInput',
        `The namespace is no option ${JSON.stringify(name)}: it is an argument of its own, an array such as ["prod", "search"], before the options.`,
        { details: { option: name } },
      );
    }
    const meant = nearest(name, known);
    const isSet = (options as Record<string, unknown>)[name] !== undefined;
    if (meant === undefined && !isSet) continue;
    const hint = meant === undefined ? '.' : `; did you mean "${meant}"?`;
    throw new DirspaceError(
      'InvalidInput',
      `There is no option ${JSON.stringify(name)}${hint} There is ${(known.length === 0 ? CALL_OPTIONS : known).join(', ')}.`,
      { details: { option: name } },
    );
  }
}

/** Values of LanceDB's options about Lance files that describe the files of tables here as they are. */
const LANCE_FILES: Readonly<Record<string, readonly unknown[]>> = {
  dataStorageVersion: ['stable', '2.0'],
  enableV2ManifestPaths: [true],
  useLegacyFormat: [false],
};

/** @throws Unsupported for files of Lance in another form than those here have */
export function refuseLanceFiles(options: object): void {
  for (const [name, known] of Object.entries(LANCE_FILES)) {
    const value = (options as Record<string, unknown>)[name];
    if (value === undefined || known.includes(value)) continue;
    throw new DirspaceError(
      'Unsupported',
      `The option ${name} is ${JSON.stringify(value)}, and the files that Lance reads of a table here are ${JSON.stringify(known[0])}; leave it out.`,
      { details: { option: name } },
    );
  }
}

/** @throws Unsupported for options that say how LanceDB's SDK reads a table's files */
export function refuseReadOptions(options: object): void {
  const { storageOptions, indexCacheSize } = options as Record<string, unknown>;
  const isGiven =
    typeof storageOptions === 'object' && Object.keys(storageOptions ?? {}).length > 0;
  if (isGiven) {
    throw new DirspaceError(
      'Unsupported',
      'The option storageOptions is not supported by openTable: the catalog reads the files of its tables. Leave it out.',
      { details: { option: 'storageOptions' } },
    );
  }
  if (indexCacheSize === undefined) return;
  throw new DirspaceError(
    'Unsupported',
    'The option indexCacheSize is not supported: caches belong to the connection. Give connect a session, as new Session(bytes), or bufferBytes.',
    { details: { option: 'indexCacheSize' } },
  );
}

export const OPEN_OPTIONS = [
  'version',
  'tag',
  'branch',
  'asOf',
  'signal',
  // LanceDB's SDK has these, which are refused with a reason of their own.
  'storageOptions',
  'indexCacheSize',
] as const;

export const CREATE_OPTIONS = [
  'mode',
  'existOk',
  'schema',
  'vectorColumns',
  'properties',
  'lance',
  'compression',
  'storageOptions',
  'embeddingFunction',
  // LanceDB's SDK has these, which choose among formats of Lance's files: only what is so anyway is taken.
  'dataStorageVersion',
  'enableV2ManifestPaths',
  'useLegacyFormat',
] as const;

/** Of the other calls of a connection. */
export const CONNECTION_OPTIONS = {
  createNamespace: ['mode', 'properties'],
  dropNamespace: ['mode', 'behavior'],
  watch: ['path', 'signal'],
  page: ['limit', 'pageToken', 'signal'],
  listTables: ['limit', 'pageToken', 'includeDeclared', 'signal'],
  tableNames: ['startAfter', 'limit', 'signal'],
  tableExists: ['version', 'signal'],
  declareTable: ['location', 'properties', 'vendCredentials'],
  registerTable: ['mode', 'properties'],
  cloneTable: [
    'targetNamespacePath',
    'sourceNamespacePath',
    'sourceBranch',
    'sourceVersion',
    'sourceTag',
    'isShallow',
    'properties',
  ],
  renameTable: ['namespacePath', 'newNamespacePath'],
  undropTable: ['trashId'],
  syncLance: [],
  sql: ['namespacePath', 'parameters'],
  listTrash: ['signal', 'detached'],
  purgeTrash: ['olderThan', 'dryRun', 'detached'],
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

export const ADD_OPTIONS = ['mode', 'schema', 'progress'] as const;

export const EXECUTE_OPTIONS = ['timeoutMs'] as const;

/** Of one run of a query. */
export const RUN_OPTIONS = ['maxBatchLength', 'timeoutMs', ...CALL_OPTIONS] as const;

export const PROFILE_OPTIONS = [
  'columns',
  'where',
  'budgetMs',
  'buckets',
  'top',
  ...CALL_OPTIONS,
] as const;

export const FILES_OPTIONS = ['version', 'tag', 'noDeletions', 'plain', ...CALL_OPTIONS] as const;

export const DIFF_OPTIONS = ['on', 'limit', ...CALL_OPTIONS] as const;

export const LIST_VERSIONS_OPTIONS = ['limit', 'descending', ...CALL_OPTIONS] as const;

/** Which version `checkout` means. */
export const SELECTION_MEMBERS = [
  'version',
  'tag',
  'branch',
  'asOf',
  // A version as it was listed names itself.
  'timestamp',
  'metadata',
] as const;

export const OPTIMIZE_OPTIONS = [
  'cleanupOlderThan',
  'dryRun',
  'deleteUnverified',
  'compaction',
  'compression',
  'onProgress',
] as const;

export const COMPACTION_OPTIONS = [
  'targetRows',
  'targetBytes',
  'maxDeletedShare',
  'plain',
] as const;

/** @throws InvalidInput for any other name: without its condition a change would hit every row */
export function onlyOptions(options: object, known: readonly string[], what: string): void {
  if (typeof options !== 'object' || options === null) {
    throw new DirspaceError(
      'InvalidInput',
      `The options of ${what} are an object with ${known.join(', ')}, and were given as ${showKind(options)}.`,
    );
  }
  for (const [name, value] of Object.entries(options)) {
    if (known.includes(name) || value === undefined) continue;
    throw new DirspaceError(
      'InvalidInput',
      `There is no option ${JSON.stringify(name)} of ${what}; there is ${known.join(', ')}.${suggestion(name, known)}`,
      { details: { option: name } },
    );
  }
}

/** For messages: the type of an argument that was given in place of another. */
export function showKind(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}

/** @throws InvalidInput unless a condition is SQL text or absent */
export function checkWhere(where: unknown): string | undefined {
  if (where === undefined || typeof where === 'string') return where;
  throw new DirspaceError(
    'InvalidInput',
    `where is an SQL predicate, such as "age > 40", and was given ${where === null ? 'null' : typeof where}.`,
  );
}
