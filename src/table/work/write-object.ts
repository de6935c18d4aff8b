/**
 * `writeObject` writes one new file whole, under a name that nothing refers to yet, and flushes it
 * if the store is durable; the caller flushes the file's folder. After an error nothing of the file
 * is left. `deleteQuietly` deletes a file that nothing refers to, and ignores errors.
 */
import type { WritableStore } from '../../store/index.ts';

/**
 * Durable, as the store is set, once it resolves; its folder is the caller's to sync. It is flushed
 * after `flushing`: what is flushed at one time shares a commit of the disk's journal.
 */
export async function writeObject(
  store: WritableStore,
  path: string,
  bytes: Uint8Array,
  flushing?: Promise<unknown>,
): Promise<void> {
  const writer = await store.create(path);
  try {
    await writer.write([bytes]);
    await flushing;
    await writer.finish();
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** A file that cannot be deleted now is left to cleanup. */
export async function deleteQuietly(
  store: Pick<WritableStore, 'delete'>,
  path: string,
): Promise<void> {
  try {
    await store.delete(path);
  } catch {
    // Nothing refers to it.
  }
}
