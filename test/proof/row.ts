/** What a program of the test plan is to the runner: one row of the table that it prints. */

/** `ci` takes seconds, `short` is what the plan asks of every change, `nightly` runs until the deadline. */
export type Size = 'ci' | 'short' | 'nightly';

export interface ProofContext {
  /** Everything random in a row follows from it. */
  readonly seed: number;
  readonly size: Size;
  /** A seed that once found something: where cases have seeds of their own, only its own is run. */
  readonly known: boolean;
  /** Milliseconds of `performance.now()`: a nightly row makes rounds with seeds of its own until then. */
  readonly deadline: number;
  /** Reports a violation; `seed` where the case has one of its own that replays it alone. */
  violated(what: string, seed?: number): void;
}

export interface ProofOutcome {
  readonly cases: number;
  /** Figures worth a line beside the count. */
  readonly note?: string;
  /** Why this machine cannot run the row. */
  readonly skipped?: string;
}

export interface ProofRow {
  /** Number in the plan and a few words: `T5 power loss`. Unique. */
  readonly row: string;
  run(context: ProofContext): Promise<ProofOutcome>;
}
