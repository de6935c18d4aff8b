/**
 * `dirspace conformance` runs the conformance suite against a server and prints a report, even if
 * it is interrupted. The exit code is 0 only if the suite ran to its end, no case failed, and no
 * case was left out because the server did not answer or refused the credentials. A run that cannot
 * begin fails with the reason, such as missing credentials.
 */
import { readFile } from 'node:fs/promises';
import {
  type CaseResult,
  type ConformanceReport,
  type ConformanceSuite,
  REPORT_FORMATS,
  type ReportFormat,
  type Stop,
} from '../../conformance/index.ts';
import { systemEnv } from '../../env.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  EXIT,
  OtherProtocol,
  type ServiceCall,
  type ServiceCommand,
  serverHeaders,
  showProgress,
  UsageError,
  untilInterrupted,
  visibleLines,
} from '../terminal/index.ts';

export const conformance: ServiceCommand = {
  name: 'conformance',
  summary: 'Check a server of the protocol, operation by operation',
  arguments: [['<url>', 'the base address of the server']],
  options: [
    { flags: '--format <format>', summary: `${REPORT_FORMATS.join(', ')}; pretty if absent` },
    {
      flags: '--only <case>',
      summary: 'an operation, or "operation: case", to run alone',
      repeated: true,
    },
    {
      flags: '--skip <file>',
      summary: 'a file of operations, or "operation: case", not to run, one a line',
    },
    {
      flags: '--timeout <seconds>',
      summary: 'how long one answer may take; 10 if absent, 0 sets no limit',
    },
    { flags: '-H, --header <header>', summary: 'a header as "name: value"', repeated: true },
  ],
  examples: [
    'dirspace conformance http://127.0.0.1:2333',
    'dirspace conformance $URL --only CreateTable --only "DropTable: a dropped table is gone"',
    'dirspace conformance $URL --skip known.txt --format junit > conformance.xml',
  ],
  service: true,
  async run({ arguments: [url = ''], options, around }: ServiceCall): Promise<number> {
    options.refuse(['root', 'uri'], 'the address of the server is the argument.');
    const format = formatOf(options);
    const { conformanceSuite, formatReport, reportOf } = await import('../../conformance/index.ts');
    const seconds = options.count('timeout', TIMEOUT_SECONDS, 86_400);
    const skip = await readSkips(options.text('skip'));
    const given = Object.fromEntries(options.texts('header').map(parseHeader));
    const headers = { ...serverHeaders(around.env), ...given };
    const only = options.texts('only');
    const results: CaseResult[] = [];
    const begun = systemEnv.now();
    const report = (stopped?: Stop): ConformanceReport =>
      reportOf(url, results, systemEnv.now() - begun, stopped);
    // What a server answers must not reach the terminal as it is.
    const text = (stopped?: Stop): string => visibleLines(formatReport(report(stopped), format));
    let isPrinted = false;
    const abandon = (code: number): void => {
      // The process ends before this is waited for.
      if (!isPrinted) void around.out(text(ABANDONED));
      isPrinted = true;
      around.abandon?.(code);
    };
    const signal = untilInterrupted({ ...around, abandon });
    const tell = (): void => around.error(STOPPING);
    signal.addEventListener('abort', tell, { once: true });
    const selection = { skip, signal, ...(only.length === 0 ? {} : { only }) };
    const suite = suiteOf(() =>
      conformanceSuite({ uri: url, headers, timeoutMs: seconds * 1000 }, selection),
    );
    const { terminals } = around;
    let now = '';
    const state = (): string => `${results.length} of ${suite.cases.length} cases, ${now}`;
    const isSeen = terminals?.error === true;
    const line = isSeen ? showProgress('conformance', state, around, true, systemEnv) : undefined;
    try {
      for (const one of suite.cases) {
        now = one.title;
        results.push(await one.run());
      }
      now = 'removing what was made';
      await suite.close();
    } finally {
      line?.end();
    }
    // Also of a run that ended early: what was found stays true, and the report says what is missing.
    if (!isPrinted) {
      isPrinted = true;
      await around.out(text(suite.stopped));
    }
    signal.throwIfAborted();
    const kept = incomplete(report(suite.stopped));
    if (kept !== undefined) throw kept;
    return results.some(({ verdict }) => verdict === 'failed') ? EXIT.failure : EXIT.ok;
  },
};

const STOPPING =
  'dirspace: waiting for the last answer, then removing what was made; Ctrl-C again leaves it there\n';
const ABANDONED: Stop = {
  cause: 'interrupted',
  reason: 'The run was interrupted twice. What was made may be left in the server.',
};
/** How long the answer to one request may take. */
const TIMEOUT_SECONDS = 10;

function suiteOf(make: () => ConformanceSuite): ConformanceSuite {
  try {
    return make();
  } catch (error) {
    // An address or a case that is none.
    if (!isDirspaceError(error, 'InvalidInput')) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}

/** Why the report does not judge the server, or not all of it. A failure that was found counts for more. */
function incomplete({ stopped, results, totals }: ConformanceReport): Error | undefined {
  if (stopped !== undefined) return errorOf(stopped);
  if (totals.failed > 0) return undefined;
  for (const cause of ['unanswered', 'credentials'] as const) {
    const kept = results.filter(({ notRun }) => notRun === cause);
    const [first] = kept;
    if (first === undefined) continue;
    const those = kept.length === 1 ? '1 case was' : `${kept.length} cases were`;
    return errorOf({ cause, reason: `${those} not run: ${first.reason}` });
  }
  return undefined;
}

function errorOf({ cause, reason }: Stop): Error {
  if (cause === 'other protocol') return new OtherProtocol(reason);
  if (cause !== 'credentials') return new DirspaceError('ServiceUnavailable', reason);
  return new DirspaceError('Unauthenticated', `${reason}\n${CREDENTIALS}`);
}

const CREDENTIALS = 'Give them as -H "name: value", or set $DIRSPACE_API_KEY or $DIRSPACE_TOKEN.';

/** `--json`, which every command takes, is one of the formats. */
function formatOf(options: ServiceCall['options']): ReportFormat {
  if (!options.flag('json')) return options.choice('format', REPORT_FORMATS);
  if (options.text('format') === undefined) return 'json';
  throw new UsageError('--json and --format say the same thing; give one of them.');
}

/** Empty lines and those that begin with `#` say nothing. */
async function readSkips(file: string | undefined): Promise<string[]> {
  if (file === undefined) return [];
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`The file ${JSON.stringify(file)} cannot be read.`, { cause });
  });
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

function parseHeader(text: string): [string, string] {
  const at = text.indexOf(':');
  if (at > 0) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  throw new UsageError('A header is written as "name: value".');
}
