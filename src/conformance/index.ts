/**
 * Exports the conformance suite, which runs cases against a server or a catalog. Also exports its
 * options and the formatting of its reports.
 */

export {
  type ConformanceTarget,
  type Exchange,
  type NotRun,
  type ServerTarget,
  type Stop,
  VERDICTS,
  type Verdict,
} from './kit/index.ts';
export type { ConformanceOptions } from './options.ts';
export { formatReport, REPORT_FORMATS, type ReportFormat } from './report.ts';
export {
  type CaseResult,
  type ConformanceReport,
  type ConformanceSuite,
  conformanceSuite,
  type RunnableCase,
  reportOf,
  runConformance,
} from './suite.ts';
