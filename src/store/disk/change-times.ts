/**
 * `ChangeTimes.isSettled` tells whether a file or folder was last changed so long ago that its next
 * change will get another time. Only then may a cache take an equal time as a sign that nothing
 * changed. The wait is two seconds. On Linux with node:fs a tenth of a second is enough, if the
 * file lies on the volume of the root, this volume has a known local file system such as ext4, and
 * the time has a fraction of a second.
 */
import type { Env } from '../../env.ts';
import type { FileStat, FileSystem } from './file-system.ts';
import { isNodeFileSystem } from './strict-fs.ts';

/** Longer than a tick of any file system's clock: FAT's is two seconds. */
const SLOWEST_TICK = 2_000;
/** Ten ticks of the slowest clock by which Linux stamps local files: 100 a second. */
const TEN_TICKS = 100;
/**
 * ext2 to ext4, XFS, Btrfs, tmpfs, overlayfs: stamped by the kernel whose clock this process reads.
 * The numbers are those of Linux's magic.h.
 */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630]);

/**
 * Waits a tenth of a second for the root's own volume, if that is of a kind in `LOCAL` and the time
 * has a fraction of a second; elsewhere two seconds.
 */
export class ChangeTimes {
  readonly #env: Pick<Env, 'now'>;
  /** The device of a root on such a file system: another may be mounted below it. */
  readonly #device: number | undefined;

  /**
   * @param root canonical, and there unless the store only reads
   * @param env the clock of the file system: for node:fs this machine's
   */
  constructor(fs: FileSystem, root: string, env: Pick<Env, 'now'>) {
    this.#env = env;
    this.#device = isNodeFileSystem(fs) ? localDevice(fs, root) : undefined;
  }

  /** @param changed one of the times of `stat`, in milliseconds */
  isSettled(stat: FileStat, changed: number): boolean {
    // Some volumes of these kinds keep whole seconds.
    const isFine = stat.dev === this.#device && changed % 1_000 !== 0;
    return changed + (isFine ? TEN_TICKS : SLOWEST_TICK) < this.#env.now();
  }
}

/** Undefined for file systems elsewhere, and for those that are not known. */
function localDevice(fs: FileSystem, root: string): number | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return LOCAL.has(fs.statfsSync?.(root).type ?? 0) ? fs.statSync(root).dev : undefined;
  } catch {
    return undefined;
  }
}
