/**
 * When folders seem to have changed: `longAgo` moves the times back that `node:fs` tells of folders, and
 * notes what is looked at; `justNow` moves them forward, however long the test has been running; `tick`
 * waits until the next change has another time than the last one.
 */
import nodeFs from 'node:fs';
import { vi } from 'vitest';

/** Longer than the time in which a folder counts as changed just now. */
const SHIFT = 10_000;

/** The last parts of the paths looked at, from then on; `vi.restoreAllMocks()` ends it. */
export const longAgo = (): string[] => folderTimes(-SHIFT);

/** Until `vi.restoreAllMocks()`. */
export const justNow = (): string[] => folderTimes(SHIFT);

function folderTimes(shift: number): string[] {
  const looks: string[] = [];
  const lstat = nodeFs.lstatSync as (...given: unknown[]) => nodeFs.Stats | undefined;
  vi.spyOn(nodeFs, 'lstatSync').mockImplementation(((path: string, ...more: unknown[]) => {
    looks.push(path.replace(/.*\//, '').replace(/^(versions)-.*/, '$1'));
    const stat = lstat(path, ...more);
    if (stat?.isDirectory()) stat.ctimeMs += shift;
    return stat;
  }) as never);
  return looks;
}

/** In a folder of the root that is none of the catalog's. */
export function tick(root: string): void {
  const probe = `${root}/.dirspace/probe`;
  const now = (): number => {
    nodeFs.writeFileSync(probe, '');
    return nodeFs.statSync(probe).ctimeMs;
  };
  for (const before = now(); now() <= before; );
}
