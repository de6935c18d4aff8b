/**
 * Formats the report of a conformance run (`formatReport`, `REPORT_FORMATS`): for people (pretty),
 * programs (json) and test runners (junit, tap). Only the verdict `failed` counts as a failure. A
 * run that stopped early is marked as incomplete in each format.
 */

import { VERDICTS, type Verdict } from './kit/index.ts';
import type { CaseResult, ConformanceReport } from './suite.ts';

/** The names of the formats of a report. */
export const REPORT_FORMATS = ['pretty', 'json', 'junit', 'tap'] as const;
/** One of them. */
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** The report in the format, with a line end. Only `failed` counts as a failure in any of them. */
export function formatReport(report: ConformanceReport, format: ReportFormat): string {
  return `${FORMATS[format](report)}\n`;
}

const FORMATS: Readonly<Record<ReportFormat, (report: ConformanceReport) => string>> = {
  pretty,
  json: (report) => JSON.stringify(report),
  junit,
  tap,
};

const WORDS: Readonly<Record<Verdict, string>> = {
  passed: 'passed',
  failed: 'failed',
  'not implemented': 'not implemented',
  'not decidable': 'not decidable',
  'not run': 'not run',
  differs: 'differ from the reference',
};

/** The facts of a case that did not pass, by name. */
function factsOf({
  basis,
  expected,
  got,
  reason,
  request,
  answer,
}: CaseResult): [string, string][] {
  const facts = { protocol: basis, expected, got, reason, request, answer };
  return Object.entries(facts).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, text]],
  );
}

/** Cases that are left out by name, or kept from running all for one reason, are a line each. */
const isTold = ({ verdict, notRun }: CaseResult): boolean =>
  verdict !== 'passed' && (verdict !== 'not run' || notRun === 'credentials');

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ');

function pretty({ target, results, totals, milliseconds, stopped }: ConformanceReport): string {
  const lines = results.flatMap((result) => {
    const { verdict, operation, name, milliseconds: ms } = result;
    const head = `${verdict.padEnd(15)} ${operation}: ${name} (${Math.round(ms)} ms)`;
    const facts = isTold(result) ? factsOf(result) : [];
    return [head, ...facts.map(([fact, text]) => `    ${fact.padEnd(9)} ${oneLine(text)}`)];
  });
  const counts = VERDICTS.map((verdict) => `${totals[verdict]} ${WORDS[verdict]}`).join(', ');
  const end = `${target}: ${counts}, in ${(milliseconds / 1000).toFixed(1)} s`;
  const why = stopped === undefined ? [] : [`stopped early: ${oneLine(stopped.reason)}`];
  return [...lines, ...why, end].join('\n');
}

function tap({ results, stopped }: ConformanceReport): string {
  const lines = results.flatMap((result, at) => {
    const { verdict, operation, name, reason = verdict, milliseconds } = result;
    const title = escapeTap(`${operation}: ${name}`);
    const ok = verdict === 'failed' || verdict === 'differs' ? 'not ok' : 'ok';
    const directive =
      verdict === 'differs'
        ? ' # TODO differs from the reference; the protocol leaves it open'
        : verdict === 'passed' || verdict === 'failed'
          ? ''
          : ` # SKIP ${verdict}${reason === verdict ? '' : `: ${escapeTap(reason)}`}`;
    const facts: [string, unknown][] = [['duration_ms', milliseconds]];
    if (isTold(result)) facts.push(['verdict', verdict], ...factsOf(result));
    return [
      `${ok} ${at + 1} - ${title}${directive}`,
      '  ---',
      ...facts.map(([fact, value]) => `  ${fact}: ${JSON.stringify(value)}`),
      '  ...',
    ];
  });
  // Runners count what was skipped as done; this line tells them that the run is not whole.
  const end = stopped === undefined ? [] : [`Bail out! ${escapeTap(stopped.reason)}`];
  return ['TAP version 14', `1..${results.length}`, ...lines, ...end].join('\n');
}

/** A `#` would begin a directive, and a line end another line. */
const escapeTap = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll('\\', '\\\\').replaceAll('#', '\\#');

function junit({ target, results, totals, milliseconds, stopped }: ConformanceReport): string {
  const cases = results.map((result) => {
    const { verdict, operation, name, milliseconds: ms } = result;
    const attributes = `classname="${escapeXml(operation)}" name="${escapeXml(name)}" time="${seconds(ms)}"`;
    if (verdict === 'passed') return `    <testcase ${attributes}/>`;
    const text = escapeXml(
      factsOf(result)
        .map(([fact, value]) => `${fact}: ${value}`)
        .join('\n'),
    );
    const told =
      verdict === 'failed'
        ? `<failure message="${escapeXml(result.got ?? verdict)}">${text}</failure>`
        : `<skipped message="${escapeXml(verdict)}"/><system-out>${text}</system-out>`;
    return `    <testcase ${attributes}>${told}</testcase>`;
  });
  const { failed } = totals;
  const skipped = results.length - failed - totals.passed;
  // The format has no place of its own for a run that is not whole.
  if (stopped !== undefined) {
    const error = `<error type="${escapeXml(stopped.cause)}" message="${escapeXml(stopped.reason)}"/>`;
    cases.push(`    <testcase classname="run" name="is whole" time="0.000">${error}</testcase>`);
  }
  const counts = `tests="${cases.length}" failures="${failed}" errors="${cases.length - results.length}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts} time="${seconds(milliseconds)}">`,
    `  <testsuite name="${escapeXml(target)}" ${counts} skipped="${skipped}" time="${seconds(milliseconds)}">`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
  ].join('\n');
}

const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(3);

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
};

/** Characters that XML cannot hold are replaced. */
const escapeXml = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what XML forbids
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, '\ufffd')
    .replaceAll(/[&<>"\n]/g, (character) => ENTITIES[character] as string);
