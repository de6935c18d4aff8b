/**
 * Exports the tools of the cases and the suite: the type of a case, targets, the `Kit` of recorded
 * calls, assertions, verdicts, rows to send, and cleanup.
 */

export { type ConformanceCase, pathOf, SAYS } from './case.ts';
export type { Exchange } from './exchange.ts';
export { httpTarget } from './http-target.ts';
export { fails, holds, Kit, PAGES_OF_ALL, pagesOf, type Run, refused, same } from './kit.ts';
export { namespaceTarget } from './namespace-target.ts';
export { removeWhatWasMade } from './remove.ts';
export { countOf, namesOf, rows, rowsWithNull, valuesIn, vectorRows } from './rows.ts';
export { later } from './signals.ts';
export type { ConformanceTarget, Rows, ServerTarget, Target } from './target.ts';
export {
  Mismatch,
  type NotRun,
  type Stop,
  Undecided,
  VERDICTS,
  type Verdict,
  WrongRefusal,
} from './verdict.ts';
