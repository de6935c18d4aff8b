/**
 * `writeObject` writes one new file whole, under a name that nothing refers to yet, and flushes it
 * if the store is durable. The caller flushes the file's folder.
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
  await writer.write([bytes]);
  await flushing;
  await writer.finish();
}
