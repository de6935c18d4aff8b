/**
 * `answeredOnce` runs a change that has an idempotency key and keeps its answer in the catalog.
 * Other calls run as they are. A repeated request gets the kept answer for at least a day, also
 * after a restart, but without its `storage_options`, which are secret. An answer of more than 1
 * MiB is not kept: then a repeat throws IdempotencyKeyReused, as does a different request under the
 * same key. An error that changed nothing frees the key. A repeat that comes before there is an
 * answer, for example after a crash, runs the change again; operations/rows.ts recognises writes of
 * rows that took place.
 */
import { createHash } from 'node:crypto';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
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

/**
 * Answers of so many milliseconds lie in one folder; those of three folders, and of later ones, are
 * found.
 */
const PERIOD = 12 * 3_600_000;
const KEPT_PERIODS = 3;

/** Bytes of an answer; of longer ones only their existence is kept. */
const LONGEST = 1024 * 1024;

/**
 * The answer of an earlier request under the same key, or that of `work`, which is kept. Calls
 * without what tells requests apart, reads, and calls to a read-only catalog are made as they are.
 * An error that changed nothing frees the key. Of an answer over 1 MiB only its existence is
 * recorded; the same request is then refused. An answer that cannot be written is not kept, and
 * does not fail the change. @throws IdempotencyKeyReused, Corrupt
 */
export async function answeredOnce<Answer>(
  catalog: Catalog,
  operation: AnyOperation,
  { idempotencyStamp: stamp }: CallOptions,
  work: () => Promise<Answer>,
): Promise<Answer> {
  if (stamp === undefined || catalog.readOnly || !EVERY_OPERATION[operation].changes) return work();
  const name = createHash('sha256').update(stamp.scope).digest('hex').slice(0, 48);
  const found = await foundOrBegun(catalog, name, stamp.request, operation);
  if (found?.begun === true) {
    stamp.checkRequest(found.stamp);
    if (found.unkept !== undefined) throw notKept(found.unkept);
  } else if (found !== undefined) {
    await stamp.check(found.stamp);
    return found.answer as Answer;
  }
  try {
    const answer = await work();
    await keep(catalog, name, stamp.request, {
      stamp: stamp.made(),
      operation,
      answer: withoutSecrets(answer),
    });
    return answer;
  } catch (error) {
    // A refusal changed nothing, so the key is free again. Other failures may have changed something.
    if (found === undefined && isRefusal(error)) await forget(catalog, name);
    throw error;
  }
}

/**
 * What an earlier request left; undefined where this one is the first, which is written down by then.
 * Of several processes that ask at once exactly one is the first.
 */
async function foundOrBegun(
  catalog: Catalog,
  name: string,
  stamp: string,
  operation: AnyOperation,
): Promise<KeyRecord | undefined> {
  for (;;) {
    const found = await findAnswer(catalog, name);
    if (found !== undefined) return found;
    await beginWrite(catalog);
    const file = await newKeyFile(catalog, name);
    const begun = encodeKey({ stamp, operation, begun: true, answer: undefined });
    // The name is taken where another process began, and free again where it was refused.
    if (await catalog.store.putIfAbsent(file, begun)) return undefined;
  }
}

const notKept = (bytes: number): DirspaceError =>
  new DirspaceError(
    'IdempotencyKeyReused',
    `A request under this idempotency key was done, and its answer of ${bytes} bytes is not kept, as it has more than ${LONGEST}. Look at what the request made or changed; nothing was changed now.`,
    { details: { bytes, most: LONGEST } },
  );

/** Faults that a change can meet when part of it is done. */
const FAULTS = ['CommitStateUnknown', 'ServiceUnavailable', 'Internal', 'Corrupt'] as const;

const isRefusal = (error: unknown): boolean =>
  isDirspaceError(error) && !isDirspaceError(error, ...FAULTS);

/** Credentials of the storage are not written down; they would have expired, too. */
function withoutSecrets(answer: unknown): KeyRecord['answer'] {
  if (answer === undefined) return undefined;
  const { storage_options: _, ...kept } = answer as Record<string, unknown>;
  const { results } = kept;
  // Those of a multi-table commit are in its results, one for each table that it declared.
  return Array.isArray(results) ? { ...kept, results: results.map(withoutSecretsInside) } : kept;
}

const withoutSecretsInside = (result: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(
    Object.entries(result).map(([name, answer]) => [name, withoutSecrets(answer) ?? {}]),
  );

const periodOf = (catalog: Catalog): number => Math.floor(catalog.env.now() / PERIOD);

/** The records of a key: one, or several where the period or the clock changed while it was used. */
async function* recordsOf(
  catalog: Catalog,
  name: string,
): AsyncGenerator<{ readonly file: string; readonly record: KeyRecord }> {
  const { store } = catalog;
  const oldest = periodOf(catalog) - KEPT_PERIODS + 1;
  const periods: number[] = [];
  for (const entry of (await store.list(KEYS_FOLDER)) ?? []) {
    if (entry.kind !== 'folder' || !isKeysFolder(entry.name)) continue;
    // Later ones are of a clock that was ahead, of this process or of another one.
    if (Number(entry.name) >= oldest) periods.push(Number(entry.name));
  }
  for (const period of periods.sort((a, b) => b - a)) {
    const file = keyFile(period, name);
    if ((await store.head(file)) === undefined) continue;
    const bytes = await store.get(file);
    if (bytes !== undefined) yield { file, record: decodeKey(bytes, file) };
  }
}

async function findAnswer(catalog: Catalog, name: string): Promise<KeyRecord | undefined> {
  let begun: KeyRecord | undefined;
  for await (const { record } of recordsOf(catalog, name)) {
    if (record.begun !== true || record.unkept !== undefined) return record;
    begun ??= record;
  }
  return begun;
}

/** The change is made by then: what keeps its answer from being kept does not undo it. */
async function keep(
  catalog: Catalog,
  name: string,
  request: string,
  record: KeyRecord,
): Promise<void> {
  try {
    const whole = encodeKey(record);
    const { operation } = record;
    const bytes =
      whole.length <= LONGEST
        ? whole
        : encodeKey({
            stamp: request,
            operation,
            begun: true,
            unkept: whole.length,
            answer: undefined,
          });
    await catalog.store.put(await newKeyFile(catalog, name), bytes);
  } catch {
    // Asked again, the request is done again.
  }
}

/** The file of a key in the current period; makes the folder if needed. */
async function newKeyFile(catalog: Catalog, name: string): Promise<string> {
  const period = periodOf(catalog);
  const folder = keysFolder(period);
  if (!(await catalog.store.enter(folder))) {
    await catalog.store.createFolder(folder);
    await removeOld(catalog);
  }
  return keyFile(period, name);
}

/** Frees the key, unless another process has done the same request and kept its answer. */
async function forget(catalog: Catalog, name: string): Promise<void> {
  try {
    for await (const { file, record } of recordsOf(catalog, name)) {
      if (record.begun === true && record.unkept === undefined) await catalog.store.delete(file);
    }
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
