/**
 * `hintsOf` returns the channel on which stores of this process announce that the entries of a
 * folder changed (`emit`). Listeners are called shortly afterwards, once per folder; `add` returns
 * the function that removes one. There is one channel for each file system object that a user
 * passes in, such as memfs, because the operating system cannot watch such objects. Stores on
 * node:fs announce nothing. A hint may be late, be repeated, or concern a change that was undone.
 */

export type HintListener = (absoluteFolder: string) => void;

class Hints {
  readonly #listeners = new Set<HintListener>();
  #pending = new Set<string>();

  add(listener: HintListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(folder: string): void {
    if (this.#listeners.size === 0) return;
    if (this.#pending.size === 0) void Promise.resolve().then(() => this.#flush());
    this.#pending.add(folder);
  }

  #flush(): void {
    const folders = this.#pending;
    this.#pending = new Set();
    for (const listener of [...this.#listeners]) {
      for (const folder of folders) {
        if (this.#listeners.has(listener)) listener(folder);
      }
    }
  }
}

const byFileSystem = new WeakMap<object, Hints>();

/** `fs` is the object the user gave, not a wrapper around it. */
export function hintsOf(fs: object): Hints {
  let hints = byFileSystem.get(fs);
  if (hints === undefined) {
    hints = new Hints();
    byFileSystem.set(fs, hints);
  }
  return hints;
}

export type { Hints };
