/**
 * Exports the public names of the entry `dirspace/conformance`: the suite that checks a server or
 * catalog against the protocol, with its options and reports. The code is in conformance/.
 */

export {
  type CaseResult,
  type ConformanceOptions,
  type ConformanceReport,
  type ConformanceSuite,
  type ConformanceTarget,
  conformanceSuite,
  type Exchange,
  formatReport,
  type NotRun,
  REPORT_FORMATS,
  type ReportFormat,
  type RunnableCase,
  reportOf,
  runConformance,
  type ServerTarget,
  type Stop,
  VERDICTS,
  type Verdict,
} from './conformance/index.ts';
