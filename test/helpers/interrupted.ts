/** A catalog whose operations are interrupted at a call of the store, for another to be done there. */
import { DirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { type OpenOptions, openCatalog } from '../../src/directory/open-catalog.ts';

/** Whether an operation is interrupted before this call of the store. */
export type Moment = (call: string, path: string, count: number) => boolean;

/** Methods of a store that callers await. */
const CALLS = [
  ...['get', 'head', 'open', 'list', 'putIfAbsent', 'put', 'delete', 'createFolder'],
  ...['syncFolders', 'moveFolder', 'deleteFolder'],
] as const;

export const everyCall =
  (at: number): Moment =>
  (_call, _path, count) =>
    count === at;

/** Right before a version is published. */
export const publication: Moment = (call, path) =>
  call === 'putIfAbsent' && /\/\d{20}\.json$/.test(path);

export class InterruptedCatalog {
  readonly namespace: DirectoryNamespace;
  /** Set once the other work was begun. */
  interrupted = false;
  #moment: Moment = () => false;
  #other: () => Promise<unknown> = async () => {};
  #count = 0;

  private constructor(opened: Awaited<ReturnType<typeof openCatalog>>) {
    const { catalog, store, autoCompaction } = opened;
    const calls = store as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const name of CALLS) {
      const call = (calls[name] as (...args: unknown[]) => unknown).bind(store);
      calls[name] = async (...args) => {
        const count = ++this.#count;
        if (!this.interrupted && this.#moment(name, String(args[0]), count)) {
          this.interrupted = true;
          await this.#other();
        }
        return call(...args);
      };
    }
    this.namespace = new DirectoryNamespace(catalog, store, autoCompaction);
  }

  static async open(options: OpenOptions): Promise<InterruptedCatalog> {
    return new InterruptedCatalog(await openCatalog(options));
  }

  /** From now on, calls are counted from 1; the first fitting one waits for all of `other`. */
  interrupt(moment: Moment, other: () => Promise<unknown>): void {
    this.interrupted = false;
    this.#count = 0;
    this.#moment = moment;
    this.#other = other;
  }
}
