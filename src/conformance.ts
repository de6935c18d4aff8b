/** The export list of `dirspace/conformance`, nothing else. */

export type { Exchange } from './conformance/exchange.ts';
export type { ConformanceOptions } from './conformance/options.ts';
export {
  formatReport,
  REPORT_FORMATS,
  type ReportFormat,
} from './conformance/report.ts';
export {
  type CaseResult,
  type ConformanceReport,
  type ConformanceSuite,
  conformanceSuite,
  type RunnableCase,
  reportOf,
  runConformance,
} from './conformance/suite.ts';
export type { ConformanceTarget, ServerTarget } from './conformance/target.ts';
export { type NotRun, type Stop, VERDICTS, type Verdict } from './conformance/verdict.ts';
