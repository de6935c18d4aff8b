/**
 * `RowWindows` fetches rows in windows of 100 as they come into sight (`show`), and keeps the 64
 * windows used last. `row` returns a row, or undefined if it has not arrived, and `failure` tells
 * why rows could not be had. A window that goes out of sight before it is answered has its request
 * aborted. A window that failed is fetched again when its rows are shown again. `end` aborts all
 * requests.
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
  /** What the last request that was answered failed with. */
  failure: unknown;
  /** Whether a request is under way. */
  isAsked: boolean;
}

const WINDOW_ROWS = 100;
const MOST_WINDOWS = 64;

export class RowWindows {
  readonly #fetch: FetchRows;
  readonly #changed: () => void;
  /** Least recently used first. */
  readonly #windows = new Map<number, Window>();

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

  /** Why rows that were shown last could not be had; undefined where all could or are awaited. */
  get failure(): unknown {
    for (const { failure } of this.#windows.values()) if (failure !== undefined) return failure;
    return undefined;
  }

  /**
   * Fetches what is missing of the rows from `from` to before `to`, also what could not be had
   * before, and gives up other requests.
   */
  show(from: number, to: number): void {
    const [first, last] = [Math.floor(from / WINDOW_ROWS), Math.floor((to - 1) / WINDOW_ROWS)];
    const hadFailed = this.failure !== undefined;
    for (const [at, window] of this.#windows) {
      if (window.rows === undefined && (at < first || at > last)) {
        window.controller.abort();
        this.#windows.delete(at);
      }
    }
    for (let at = first; at <= last; at++) {
      const known = this.#windows.get(at);
      this.#windows.delete(at);
      if (known !== undefined && (known.rows !== undefined || known.isAsked)) {
        this.#windows.set(at, known);
      } else this.#begin(at, known?.failure);
    }
    for (const [at, window] of this.#windows) {
      if (this.#windows.size <= MOST_WINDOWS) break;
      window.controller.abort();
      this.#windows.delete(at);
    }
    if (hadFailed && this.failure === undefined) this.#changed();
  }

  /** @param failure of the request before this one, which is told until this one is answered */
  #begin(at: number, failure: unknown): void {
    const controller = new AbortController();
    const window: Window = { controller, rows: undefined, failure, isAsked: true };
    this.#windows.set(at, window);
    const answered = (rows: FetchedRows | undefined, failed: unknown): void => {
      if (controller.signal.aborted) return;
      Object.assign(window, { rows, failure: failed, isAsked: false });
      this.#changed();
    };
    this.#fetch(at * WINDOW_ROWS, WINDOW_ROWS, controller.signal).then(
      (rows) => answered(rows, undefined),
      (error: unknown) => answered(undefined, error),
    );
  }

  end(): void {
    for (const { controller } of this.#windows.values()) controller.abort();
    this.#windows.clear();
  }
}
