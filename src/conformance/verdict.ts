/** What a case can come to, and the exceptions by which it says so. Knows no case and no server. */

/**
 * `failed`: the server answers otherwise than the protocol says. `not implemented`: it says that it
 * lacks the operation, which the protocol allows. `not decidable`: the check needs another operation
 * that was not shown to work. `not run`: left out, or impossible on this target. `differs`: the
 * protocol leaves the point open, and the server decides it otherwise than the reference does.
 */
export const VERDICTS = [
  'passed',
  'failed',
  'not implemented',
  'not decidable',
  'not run',
  'differs',
] as const;
/** One of the verdicts. */
export type Verdict = (typeof VERDICTS)[number];

/** The server did otherwise than the case expects. */
export class Mismatch extends Error {
  readonly expected: string;
  readonly got: string;

  constructor(expected: string, got: string) {
    super(`expected ${expected}, got ${got}`);
    this.expected = expected;
    this.got = got;
  }
}

/** The case cannot be decided, failed or passed: the verdict it has instead, and why. */
export class Undecided extends Error {
  readonly verdict: Exclude<Verdict, 'passed' | 'failed' | 'differs'>;

  constructor(verdict: Undecided['verdict'], reason: string) {
    super(reason);
    this.verdict = verdict;
  }
}
