/** Temporary folders on the real disk, removed after each test file. */
import nodeFs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const made: string[] = [];

afterAll(() => {
  for (const folder of made.splice(0)) nodeFs.rmSync(folder, { recursive: true, force: true });
});

/** A fresh folder, its path canonical. */
export function temporaryFolder(): string {
  const folder = nodeFs.realpathSync(nodeFs.mkdtempSync(join(tmpdir(), 'dirspace-')));
  made.push(folder);
  return folder;
}
