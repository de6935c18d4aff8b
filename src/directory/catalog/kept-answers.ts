/**
 * What was answered under an idempotency key, kept with the catalog, so that a request that is sent again
 * gets the same answer after a restart too, and another one under its key is refused. Kept for a day at
 * least. What a write committed is found without it, by the transaction of its version: see rows.ts.
 *
 * That a request was begun is written down before it changes anything, so that a crash between the
 * change and its answer leaves no key that another request may use. The same request is done again.
 */
import { createHash } from 'node:crypto';
import { isDirspaceError } from '../../errors.ts';
import {
  decodeKey,
  encodeKey,
  isKeysFolder,
  joinPath,
  KEYS_FOLDER,
  type KeyRecord,
  keyFile,
  keysFolder,
} from '../../format/index.ts';
import { type AnyOperation, type CallOptions, EVERY_OPERATION } from '../../protocol/index.ts';
import { beginWrite, type Catalog } from './catalog.ts';

/** Answers of so many milliseconds lie in one folder; those of three folders are found. */
const PERIOD = 12 * 3_600_000;
const KEPT_PERIODS = 3;

/** Longer answers are not kept, in bytes. */
const LONGEST = 1024 * 1024;

/**
 * The answer of an earlier request under the same key, or that of `work`, which is kept. Calls without
 * what tells requests apart are made as they are. @throws IdempotencyKeyReused, Corrupt
 */
export async function answeredOnce<Answer>(
  catalog: Catalog,
  operation: AnyOperation,
  { idempotencyStamp: stamp }: CallOptions,
  work: () => Promise<Answer>,
): Promise<Answer> {
  if (stamp === undefined || catalog.readOnly || !EVERY_OPERATION[operation].changes) return work();
  const name = createHash('sha256').update(stamp.scope).digest('hex').slice(0, 48);
  const found = await findAnswer(catalog, name);
  if (found?.begun === true) stamp.checkRequest(found.stamp);
  else if (found !== undefined) {
    await stamp.check(found.stamp);
    return found.answer as Answer;
  } else {
    await beginWrite(catalog);
    await write(catalog, name, { stamp: stamp.request, operation, begun: true, answer: undefined });
  }
  try {
    const answer = await work();
    await keep(catalog, name, { stamp: stamp.made(), operation, answer: withoutSecrets(answer) });
    return answer;
  } catch (error) {
    // Refused: the key may be used for what is right. Another failure may have changed something.
    if (found === undefined && isRefusal(error)) await forget(catalog, name);
    throw error;
  }
}

const isRefusal = (error: unknown): boolean =>
  isDirspaceError(error) && !isDirspaceError(error, 'CommitStateUnknown', 'ServiceUnavailable');

/** Credentials of the storage are not written down; they would have expired, too. */
function withoutSecrets(answer: unknown): KeyRecord['answer'] {
  if (answer === undefined) return undefined;
  const { storage_options: _, ...kept } = answer as Record<string, unknown>;
  return kept;
}

const periodOf = (catalog: Catalog): number => Math.floor(catalog.env.now() / PERIOD);

async function findAnswer(catalog: Catalog, name: string): Promise<KeyRecord | undefined> {
  const { store } = catalog;
  const now = periodOf(catalog);
  for (let period = now; period > now - KEPT_PERIODS; period--) {
    const file = keyFile(period, name);
    if ((await store.head(file)) === undefined) continue;
    const bytes = await store.get(file);
    if (bytes !== undefined) return decodeKey(bytes, file);
  }
  return undefined;
}

/** The change is made by then: what keeps its answer from being kept does not undo it. */
async function keep(catalog: Catalog, name: string, record: KeyRecord): Promise<void> {
  try {
    await write(catalog, name, record);
  } catch {
    // Asked again, the request is done again.
  }
}

async function write(catalog: Catalog, name: string, record: KeyRecord): Promise<void> {
  const bytes = encodeKey(record);
  if (bytes.length > LONGEST) return;
  const { store } = catalog;
  const period = periodOf(catalog);
  const folder = keysFolder(period);
  if (!(await store.enter(folder))) {
    await store.createFolder(folder);
    await removeOld(catalog);
  }
  await store.put(keyFile(period, name), bytes);
}

async function forget(catalog: Catalog, name: string): Promise<void> {
  const now = periodOf(catalog);
  try {
    // It may have been begun just before the period ended.
    for (const period of [now, now - 1]) await catalog.store.delete(keyFile(period, name));
  } catch {
    // The key stays taken for a day.
  }
}

/** Folders whose answers are not found any more. */
async function removeOld(catalog: Catalog): Promise<void> {
  const oldest = periodOf(catalog) - KEPT_PERIODS + 1;
  for (const { name, kind } of (await catalog.store.list(KEYS_FOLDER)) ?? []) {
    if (kind !== 'folder' || !isKeysFolder(name) || Number(name) >= oldest) continue;
    await catalog.store.deleteFolder(joinPath(KEYS_FOLDER, name));
  }
}
