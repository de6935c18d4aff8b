/**
 * `RowWindows`: fetches rows in windows of 100 as they come into sight, keeps the 64 windows used
 * last, and aborts requests for windows that went out of sight before they were answered.
 */

export interface FetchedRows {
  readonly rows: readonly (readonly Cell[])[];
  readonly ids: readonly string[];
}

export type Cell = string | number | boolean | null;

/** The rows of one window. Rejects with an error whose text is shown in their place. */
export type FetchRows = (
  offset: number,
  limit: number,
  signal: AbortSignal,
) => Promise<FetchedRows>;

export interface RowInSight {
  readonly cells: readonly Cell[];
  readonly id: string | undefined;
}

interface Window {
  readonly controller: AbortController;
  rows: FetchedRows | undefined;
}

const WINDOW_ROWS = 100;
const MOST_WINDOWS = 64;

export class RowWindows {
  readonly #fetch: FetchRows;
  readonly #changed: () => void;
  /** Least recently used first. */
  readonly #windows = new Map<number, Window>();
  failure: unknown;

  /** @param changed called when rows arrived or could not be had */
  constructor(fetch: FetchRows, changed: () => void) {
    this.#fetch = fetch;
    this.#changed = changed;
  }

  /** The row, where it is there. */
  row(index: number): RowInSight | undefined {
    const window = this.#windows.get(Math.floor(index / WINDOW_ROWS));
    const cells = window?.rows?.rows[index % WINDOW_ROWS];
    return cells && { cells, id: window?.rows?.ids[index % WINDOW_ROWS] };
  }

  /** Fetches what is missing of the rows from `from` to before `to`, and gives up other requests. */
  show(from: number, to: number): void {
    const [first, last] = [Math.floor(from / WINDOW_ROWS), Math.floor((to - 1) / WINDOW_ROWS)];
    for (const [at, window] of this.#windows) {
      if (window.rows === undefined && (at < first || at > last)) {
        window.controller.abort();
        this.#windows.delete(at);
      }
    }
    for (let at = first; at <= last; at++) {
      const known = this.#windows.get(at);
      if (known === undefined) this.#begin(at);
      else {
        this.#windows.delete(at);
        this.#windows.set(at, known);
      }
    }
    for (const [at, window] of this.#windows) {
      if (this.#windows.size <= MOST_WINDOWS) break;
      window.controller.abort();
      this.#windows.delete(at);
    }
  }

  #begin(at: number): void {
    const window: Window = { controller: new AbortController(), rows: undefined };
    this.#windows.set(at, window);
    this.#fetch(at * WINDOW_ROWS, WINDOW_ROWS, window.controller.signal).then(
      (rows) => {
        window.rows = rows;
        this.#changed();
      },
      (error: unknown) => {
        if (window.controller.signal.aborted) return;
        this.failure = error;
        this.#changed();
      },
    );
  }

  end(): void {
    for (const { controller } of this.#windows.values()) controller.abort();
    this.#windows.clear();
  }
}
