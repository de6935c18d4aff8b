/** Seeds that once found something. A run replays those of its rows first, in the size for CI. */

export interface CorpusEntry {
  readonly row: string;
  readonly seed: number;
  /** What was found, as a violation would say it. */
  readonly found: string;
}

export const CORPUS: readonly CorpusEntry[] = [];
