/**
 * Defines `Disk`, the values that the functions of a store share: the file system, the canonical
 * root, durability, open flags, the clock, the pace of long reads, and the listener for changes.
 * Reads and writes of up to `SMALL` bytes are synchronous.
 */
import type { Env } from '../../env.ts';
import type { FileSystem, OpenFlags } from './file-system.ts';
import type { Pace } from './pace.ts';

export type Durability = 'full' | 'relaxed';

/** Up to this many bytes a synchronous call beats a hop through the thread pool. */
export const SMALL = 64 * 1024;

export interface Disk {
  readonly fs: FileSystem;
  /** Canonical and absolute. */
  readonly root: string;
  /** The root with one slash behind it. */
  readonly prefix: string;
  readonly full: boolean;
  readonly readOnly: boolean;
  readonly env: Env;
  readonly flags: OpenFlags;
  readonly pace: Pace;
  /** Called after the entries of a folder changed. */
  changed(folder: string): void;
}
