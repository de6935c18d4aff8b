/**
 * `hintsOf` returns the channel on which the stores of this process announce that the entries of a
 * folder changed. Stores that share a file system object, such as memfs, share a channel, because
 * the operating system cannot watch such objects. A hint may be late, repeated, or about a change
 * that was undone.
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
