/**
 * `LostFolders` tracks databases whose folder disappeared while they were open. Databases reports
 * with `opened` and `note`, and asks with `missing` and `checkFound`, which throw
 * ServiceUnavailable while a folder is missing. A new folder in its place becomes a new database,
 * unless it may be the empty mount point of an unmounted disk. `rootGone` makes the error of a
 * catalog whose folder is gone, and `isRootGone` recognises it.
 */
import { DirspaceError, isDirspaceError } from '../errors.ts';
import { deviceOf, isSetUp } from './root-folders.ts';

interface Lost {
  /** Whether it was a plain folder, and no disk of its own that may come back. */
  isPlain: boolean;
  /** Whether nothing was found in its place since. */
  wasMissed: boolean;
}

export class LostFolders {
  readonly #lost = new Map<string, Lost>();
  /** The devices of the folders of databases, when they were opened. */
  readonly #devices = new Map<string, number | undefined>();

  /** The catalog in the folder was opened. */
  async opened(database: string, folder: string): Promise<void> {
    this.#lost.delete(database);
    this.#devices.set(database, await deviceOf(folder).catch(() => undefined));
  }

  /** The folder of an open catalog, in `around`, is gone. */
  async note(database: string, folder: string, around: string): Promise<void> {
    // At once: what is found there meanwhile may be no more than the place of the disk.
    const lost: Lost = { isPlain: false, wasMissed: false };
    this.#lost.set(database, lost);
    const [device, now] = await Promise.all(
      [around, folder].map((path) => deviceOf(path).catch(() => undefined)),
    );
    lost.isPlain = device !== undefined && this.#devices.get(database) === device;
    lost.wasMissed ||= device !== undefined && now === undefined;
  }

  /** There is no folder of that name. @throws ServiceUnavailable where there was one */
  missing(database: string): void {
    const lost = this.#lost.get(database);
    if (lost === undefined) return;
    lost.wasMissed = true;
    throw rootGone();
  }

  /** @throws ServiceUnavailable where what is there may be no more than the place of what was lost */
  checkFound(database: string, folder: string): void {
    const lost = this.#lost.get(database);
    if (lost === undefined || lost.isPlain || lost.wasMissed || isSetUp(folder)) return;
    throw rootGone();
  }
}

/** Whether a catalog says that its root is gone. */
export const isRootGone = (failure: unknown): boolean =>
  isDirspaceError(failure, 'ServiceUnavailable') && failure.details.root === 'gone';

export const rootGone = (): DirspaceError =>
  new DirspaceError(
    'ServiceUnavailable',
    'The folder of the catalog is gone, or an empty one is in its place. Bring it back, such as by mounting its disk again; where a new catalog is wanted there, start the server anew.',
    { details: { root: 'gone' } },
  );
