/**
 * Temporary folders on the real disk. The files of a worker share this module, so that a hook of its
 * own would be that of the first file alone: remove-temporary.ts removes them after each file.
 */
import nodeFs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];

/** A fresh folder, its path canonical. */
export function temporaryFolder(): string {
  const folder = nodeFs.realpathSync(nodeFs.mkdtempSync(join(tmpdir(), 'dirspace-')));
  made.push(folder);
  return folder;
}

/** Removes the folders made so far. */
export function removeTemporaryFolders(): void {
  for (const folder of made.splice(0)) nodeFs.rmSync(folder, { recursive: true, force: true });
}
