/**
 * Lists the verdicts that a case of the conformance suite can get (`VERDICTS`), and defines the
 * exceptions by which a case reports them. `Mismatch` says that it failed; `WrongRefusal` is a
 * Mismatch in which a request was refused, as it has to be, but with another status or code.
 * `Undecided` says that it is not implemented, not decidable or not run. `NotRun` lists the
 * reasons why a case was not run, and `Stop` is the reason why a run ended early.
 */

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

/** A request was refused, as it has to be, with another status or code, or with no code. */
export class WrongRefusal extends Mismatch {}

/**
 * Why a case was not run. `left out`: by name. `no server`: the case is about HTTP and the target is a
 * catalog in process. `credentials`: the server asks for credentials, or for others. `unanswered`: the
 * server does not answer, or asks to come again without end. `other protocol`: what answers is no
 * server of the protocol. `interrupted`: the signal of the run was aborted. `closed`: the suite was.
 */
export type NotRun =
  | 'left out'
  | 'no server'
  | 'credentials'
  | 'unanswered'
  | 'other protocol'
  | 'interrupted'
  | 'closed';

/** Why a run ended before its last case. */
export interface Stop {
  readonly cause: Exclude<NotRun, 'left out' | 'no server'>;
  /** The same as a sentence, with the answer that it rests on. */
  readonly reason: string;
}

/** The case cannot be decided, failed or passed: the verdict it has instead, and why. */
export class Undecided extends Error {
  readonly verdict: Exclude<Verdict, 'passed' | 'failed' | 'differs'>;
  /** Of a case that was not run. */
  readonly notRun: NotRun | undefined;

  constructor(verdict: Exclude<Undecided['verdict'], 'not run'>, reason: string);
  constructor(verdict: 'not run', reason: string, notRun: NotRun);
  constructor(verdict: Undecided['verdict'], reason: string, notRun?: NotRun) {
    super(reason);
    this.verdict = verdict;
    this.notRun = notRun;
  }
}
