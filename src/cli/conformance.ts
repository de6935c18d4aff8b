/** `dirspace conformance`: what a server of the protocol does as it should, and what it does not. */
import { readFile } from 'node:fs/promises';
import type { CaseResult, ConformanceReport } from '../rest/conformance.ts';
import { type ServiceCall, type ServiceCommand, UsageError } from './command.ts';
import { EXIT } from './exit-codes.ts';

export const conformance: ServiceCommand = {
  name: 'conformance',
  summary: 'Check a server of the protocol, operation by operation',
  arguments: [['<url>', 'the base address of the server']],
  options: [
    {
      flags: '--skip <file>',
      summary: 'a file of operations, or "operation: case", not to run, one a line',
    },
    { flags: '-H, --header <header>', summary: 'a header as "name: value"', repeated: true },
  ],
  examples: ['dirspace conformance http://127.0.0.1:2333', 'dirspace conformance $URL --json'],
  service: true,
  async run({ arguments: [url = ''], options, around }: ServiceCall): Promise<number> {
    options.refuse(['root', 'uri'], 'the address of the server is the argument.');
    const { runConformance } = await import('../rest/conformance.ts');
    const skip = await readSkips(options.text('skip'));
    const headers = Object.fromEntries(options.texts('header').map(parseHeader));
    const report = await runConformance({ uri: url, headers, skip });
    around.out(options.flag('json') ? `${JSON.stringify(report)}\n` : `${describe(report)}\n`);
    return report.totals.fail === 0 ? EXIT.ok : EXIT.failure;
  },
};

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

function describe({ results, totals }: ConformanceReport): string {
  const { pass, fail, unsupported, skipped } = totals;
  const sum = `${pass} passed, ${fail} failed, ${unsupported} unsupported, ${skipped} skipped`;
  return [...results.map(line), sum].join('\n');
}

function line({ outcome, operation, name, expected, got }: CaseResult): string {
  const text = `${outcome.padEnd(11)} ${operation}: ${name}`;
  return outcome === 'fail'
    ? `${text}\n            expected ${expected}\n            got ${got}`
    : text;
}
