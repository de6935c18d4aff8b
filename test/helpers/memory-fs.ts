/** Fresh file systems in memory. */
import type nodeFs from 'node:fs';
import { createFsFromVolume, Volume } from 'memfs';
import type { FileSystem } from '../../src/store/disk/file-system.ts';

/** What the engine takes, with the rest of node:fs to look behind it. */
export type TestFs = FileSystem & typeof nodeFs;

export const memoryFs = (): TestFs => createFsFromVolume(new Volume()) as unknown as TestFs;
