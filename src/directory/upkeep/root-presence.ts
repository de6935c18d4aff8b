/**
 * `RootPresence` checks that the root folder of an open catalog still exists. A root that was
 * deleted, unmounted or replaced looks like an empty catalog. So `checked` takes the answer of each
 * operation: before an answer or error that an empty catalog would give too, it looks at the root,
 * and throws ServiceUnavailable if the root is gone. `requireRoot` throws the same if the root has
 * no format file. It is for callers that then create folders at the root.
 */
import { isDirspaceError } from '../../errors.ts';
import { FORMAT_FILE, PRIVATE_FOLDER } from '../../format/index.ts';
import type { AnyOperation } from '../../protocol/index.ts';
import type { FileStore, ReadableStore } from '../../store/index.ts';
import { rootGone } from '../catalog/index.ts';

/** Operations that a root without content would answer as if all were well. */
const ANSWER_WITHOUT_CONTENT: ReadonlySet<AnyOperation> = new Set<AnyOperation>([
  'ListNamespaces',
  'ListTables',
  'ListAllTables',
  'ListTrash',
  'PurgeTrash',
  'SyncLance',
  'DescribeNamespace',
  'NamespaceExists',
  'Verify',
  'Repair',
]);

/** They say what is wrong with a format file that is lost. */
const MEND_FORMAT: ReadonlySet<AnyOperation> = new Set<AnyOperation>(['Verify', 'Repair']);

export class RootPresence {
  readonly #store: FileStore;
  readonly #isSetUp: () => boolean;
  /** A read-only catalog may be opened before its root is made: it is empty then, and not gone. */
  #wasThere: boolean;

  private constructor(store: FileStore, isSetUp: () => boolean, wasThere: boolean) {
    this.#store = store;
    this.#isSetUp = isSetUp;
    this.#wasThere = wasThere;
  }

  /** @param isSetUp whether the catalog was ever written to */
  static async of(store: FileStore, isSetUp: () => boolean): Promise<RootPresence> {
    return new RootPresence(store, isSetUp, await store.enter(''));
  }

  /** The answer of an operation. @throws ServiceUnavailable where the root is gone */
  async checked<Answer>(operation: AnyOperation, work: Promise<Answer>): Promise<Answer> {
    let answer: Answer;
    try {
      answer = await work;
    } catch (error) {
      const isAnswer = isDirspaceError(error) && error.code !== 'CommitStateUnknown';
      if (!isAnswer || tellsWhatIsThere(error) || (await this.#isThere(operation))) throw error;
      throw rootGone(error);
    }
    if (ANSWER_WITHOUT_CONTENT.has(operation) && !(await this.#isThere(operation))) {
      throw rootGone(undefined);
    }
    return answer;
  }

  async #isThere(operation: AnyOperation): Promise<boolean> {
    if (!(await this.#isFolder())) return false;
    // Others may make the folders anew, but not this file, which a lost root took with it.
    if (!this.#isSetUp() || MEND_FORMAT.has(operation)) return true;
    try {
      return (await this.#store.head(FORMAT_FILE)) !== undefined;
    } catch {
      // Damaged, which verify reports: something is there.
      return true;
    }
  }

  async #isFolder(): Promise<boolean> {
    try {
      const found = await this.#store.enter(this.#isSetUp() ? PRIVATE_FOLDER : '');
      if (found) this.#wasThere = true;
      return found || !this.#wasThere;
    } catch {
      // A link in its place, or a folder that may not be entered any more.
      return !this.#wasThere;
    }
  }
}

/** Such as the other incarnation of a table: then the root is there too. */
function tellsWhatIsThere(error: unknown): boolean {
  return isDirspaceError(error) && error.details.found !== undefined;
}

/**
 * For writers that make folders at the root, which an empty folder in the root's place would take.
 * @throws ServiceUnavailable where the root lost its format file
 */
export async function requireRoot(store: ReadableStore): Promise<void> {
  if ((await store.head(FORMAT_FILE)) === undefined) throw rootGone(undefined);
}
