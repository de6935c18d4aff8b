/**
 * Carries out DescribeTransaction (`describeTransaction`) and AlterTransaction
 * (`alterTransaction`); an unknown transaction throws TransactionNotFound. AlterTransaction sets or
 * removes properties of a transaction, which lie in a file of their own, and can cancel a
 * multi-table commit that is not decided yet. Properties that the engine derives, such as the
 * version, cannot be changed. `onSomeBranch` searches the branches of a table, main first.
 */
import { DirspaceError } from '../../errors.ts';
import { transactionPropertiesFile } from '../../format/index.ts';
import { encodeChecksummed, parseChecksummed, stringMapMember } from '../../json.ts';
import {
  type AlterTransactionAction,
  type AlterTransactionRequest,
  type AlterTransactionResponse,
  type DescribeTransactionRequest,
  type DescribeTransactionResponse,
  formatId,
  type ObjectPath,
  parseMode,
  SET_PROPERTY_MODES,
  TRANSACTION_STATUSES,
  type TransactionStatus,
  UNSET_PROPERTY_MODES,
} from '../../protocol/index.ts';
import {
  type Branch,
  decideMultiTable,
  decisionTables,
  incarnationOfTransaction,
  isMultiTableId,
  multiTableDecision,
  type Snapshot,
} from '../../table/index.ts';
import {
  allTables,
  beginWrite,
  type Catalog,
  findTable,
  hasJournal,
  storedTable,
  type Table,
} from '../catalog/index.ts';

/** @throws TransactionNotFound */
export async function describeTransaction(
  catalog: Catalog,
  request: DescribeTransactionRequest,
): Promise<DescribeTransactionResponse> {
  const transaction = transactionId(request.id);
  const found = await findTransaction(catalog, transaction);
  requireItsTable(request.id, found);
  const own = await readProperties(catalog, transaction);
  return { status: found.status, properties: { ...own, ...found.properties } };
}

/**
 * Sets properties of a transaction, and cancels one that is still being prepared. What was
 * committed stays: its status cannot be changed. @throws TransactionNotFound, InvalidInput
 */
export async function alterTransaction(
  catalog: Catalog,
  request: AlterTransactionRequest,
): Promise<AlterTransactionResponse> {
  for (const action of request.actions) checkAction(action);
  await beginWrite(catalog);
  const transaction = transactionId(request.id);
  const found = await findTransaction(catalog, transaction);
  requireItsTable(request.id, found);
  return catalog.engine.queue.run(transaction, () =>
    catalog.engine.withLock(transaction, async () => {
      let status = found.status;
      let properties: Record<string, string> = await readProperties(catalog, transaction);
      // A property that is refused must not leave the transaction canceled.
      for (const action of request.actions) {
        properties = changeProperty(action, properties, found.properties);
      }
      for (const { setStatusAction } of request.actions) {
        const wanted = setStatusAction?.status;
        if (wanted !== undefined) status = await changeStatus(catalog, transaction, status, wanted);
      }
      const { bytes } = encodeChecksummed({ format: 1, properties });
      await catalog.store.put(transactionPropertiesFile(transaction), bytes);
      return { status, properties: { ...properties, ...found.properties } };
    }),
  );
}

/** One action does one thing, so that none is left out unseen. */
function checkAction(action: AlterTransactionAction): void {
  const given = ACTIONS.filter((name) => action[name] !== undefined);
  if (given.length === 1) return;
  throw new DirspaceError(
    'InvalidInput',
    `An action has ${given.join(' and ') || 'nothing to do'}; give each exactly one of ${ACTIONS.join(', ')}.`,
  );
}

interface Transaction {
  readonly status: TransactionStatus;
  readonly properties: Readonly<Record<string, string>>;
}

const ACTIONS = ['setStatusAction', 'setPropertyAction', 'unsetPropertyAction'] as const;

const ID = /^[0-9a-z-]{8,64}(\.[0-9a-z-]{8,80})?$/;

/** The last component; Lance's clients put the id of the table before it. */
function transactionId(id: readonly string[] = []): string {
  const transaction = id.at(-1) ?? '';
  if (ID.test(transaction)) return transaction;
  throw noTransaction(id, 'ids are those that commits returned');
}

/** @throws TransactionNotFound where another table than that of the transaction is named before it */
function requireItsTable(id: readonly string[] = [], { properties }: Transaction): void {
  if (id.length <= 1) return;
  const tables = (properties.table ?? properties.tables ?? '').split(',');
  if (!tables.includes(formatId(id.slice(0, -1))))
    throw noTransaction(id, 'it is of another table, or of none');
}

const noTransaction = (id: readonly string[], why: string): DirspaceError =>
  new DirspaceError(
    'TransactionNotFound',
    `There is no transaction ${JSON.stringify(id.join('$').slice(0, 120))}: ${why}.`,
  );

async function findTransaction(catalog: Catalog, transaction: string): Promise<Transaction> {
  if (isMultiTableId(transaction)) {
    const decision = await multiTableDecision(catalog.engine, transaction);
    if (decision !== undefined) {
      const tables = await decisionTables(catalog.engine, transaction);
      return {
        status: decision === 'committed' ? 'Succeeded' : 'Canceled',
        properties: { kind: 'batch', ...(tables.length === 0 ? {} : { tables: tables.join(',') }) },
      };
    }
    if (await hasJournal(catalog, transaction)) {
      return { status: 'Running', properties: { kind: 'batch' } };
    }
  } else if (transaction.includes('.')) {
    const table = await findIncarnation(catalog, incarnationOfTransaction(transaction));
    const snapshot =
      table &&
      (await onSomeBranch(catalog, table, (branch) => branch.findTransaction(transaction)));
    if (table !== undefined && snapshot !== undefined) {
      return { status: 'Succeeded', properties: commitProperties(table.id, snapshot) };
    }
  }
  throw new DirspaceError(
    'TransactionNotFound',
    `There is no transaction ${transaction}: it was never committed, or cleanup removed its version or its table was dropped.`,
    { details: { transaction } },
  );
}

const commitProperties = (id: ObjectPath, { manifest }: Snapshot): Record<string, string> => ({
  table: formatId(id),
  branch: manifest.branch,
  version: String(manifest.version),
  operation: manifest.operation.kind,
  timestamp_millis: String(manifest.timestamp),
});

/** Looks through all tables: asked rarely, and spares every commit an index entry. */
async function findIncarnation(catalog: Catalog, incarnation: string): Promise<Table | undefined> {
  for await (const id of allTables(catalog, undefined)) {
    const table = await findTable(catalog, id);
    if (table?.record.id === incarnation) return table;
  }
  return undefined;
}

/** What is found on main, or else on the first other branch that has it. */
export async function onSomeBranch(
  catalog: Catalog,
  table: Table,
  find: (branch: Branch) => Promise<Snapshot | undefined>,
): Promise<Snapshot | undefined> {
  const stored = storedTable(catalog, table);
  const found = await find(stored.main);
  if (found !== undefined) return found;
  for (const branch of await stored.branches()) {
    const there = await find(branch);
    if (there !== undefined) return there;
  }
  return undefined;
}

async function changeStatus(
  catalog: Catalog,
  transaction: string,
  status: TransactionStatus,
  wanted: string,
): Promise<TransactionStatus> {
  const target = parseMode(wanted, TRANSACTION_STATUSES, 'status');
  if (target === status) return status;
  if (status === 'Running' && target === 'Canceled') {
    const decision = await decideMultiTable(catalog.engine, transaction, 'aborted');
    if (decision === 'aborted') return 'Canceled';
  }
  throw new DirspaceError(
    'InvalidInput',
    `The transaction ${transaction} is ${status} and cannot become ${target}: only a running one can be canceled.`,
    { details: { transaction, status } },
  );
}

function changeProperty(
  action: AlterTransactionAction,
  properties: Record<string, string>,
  fixed: Readonly<Record<string, string>>,
): Record<string, string> {
  const { setPropertyAction: set, unsetPropertyAction: unset } = action;
  const key = set?.key ?? unset?.key;
  if (key === undefined) return properties;
  if (Object.hasOwn(fixed, key)) {
    throw new DirspaceError(
      'InvalidInput',
      `The property ${key} is the engine's own and cannot be changed. Use another key.`,
    );
  }
  const there = Object.hasOwn(properties, key);
  if (set !== undefined) {
    const mode = parseMode(set.mode, SET_PROPERTY_MODES);
    if (there && mode === 'Fail') {
      throw new DirspaceError(
        'InvalidInput',
        `The property ${key} is set already, and its mode is fail. Use mode overwrite to replace it, or skip to keep it.`,
      );
    }
    if (there && mode === 'Skip') return properties;
    return Object.fromEntries([...Object.entries(properties), [key, set.value ?? '']]);
  }
  if (!there && parseMode(unset?.mode, UNSET_PROPERTY_MODES) === 'Fail') {
    throw new DirspaceError(
      'InvalidInput',
      `The property ${key} is not set, and its mode is fail. Use mode skip to pass over it.`,
    );
  }
  return Object.fromEntries(Object.entries(properties).filter(([name]) => name !== key));
}

async function readProperties(
  catalog: Catalog,
  transaction: string,
): Promise<Record<string, string>> {
  const file = transactionPropertiesFile(transaction);
  const bytes = await catalog.store.get(file);
  if (bytes === undefined) return {};
  return stringMapMember(parseChecksummed(bytes, file).document, 'properties', file);
}
