/** Reports in every format, and the command that prints them. */
import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { runCli } from '../../src/cli/run.ts';
import { EXIT } from '../../src/cli/terminal/exit-codes.ts';
import {
  type CaseResult,
  formatReport,
  REPORT_FORMATS,
  reportOf,
  VERDICTS,
} from '../../src/conformance.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { unsupported } from '../../src/protocol/index.ts';
import { startServer } from '../../src/server.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { codeOf, readPage } from '../helpers/documents.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const limits = { maxEventLoopDelayMs: 0 };
const openCatalog = (): ReturnType<typeof openDirectoryNamespace> =>
  openDirectoryNamespace({ root: '/c', fs: memoryFs() });

/** One result of each verdict, with characters that the formats have uses of their own for. */
const results: CaseResult[] = VERDICTS.map((verdict, at) => ({
  operation: 'CreateTable',
  name: `case <${at}> & "#${at}"`,
  verdict,
  basis: 'A sentence of the protocol.',
  milliseconds: 1500,
  ...(verdict === 'failed' || verdict === 'differs'
    ? { expected: 'status 200', got: 'status 500 # \u0000 \ud800 "x"\n<y>' }
    : {}),
  ...(verdict.startsWith('not') ? { reason: 'because' } : {}),
  request: 'POST http://x',
  answer: '500',
  exchanges: [],
}));
const report = reportOf('http://x', results, 9000);

describe('the formats', () => {
  test('pretty says what failed, with the request, the answer and the sentence', () => {
    const text = formatReport(report, 'pretty');
    expect(text).toContain('failed          CreateTable: case <1> & "#1" (1500 ms)\n');
    expect(text).toContain('    protocol  A sentence of the protocol.\n    expected  status 200\n');
    expect(text).toContain('    request   POST http://x\n    answer    500\n');
    expect(text.trimEnd().split('\n').at(-1)).toBe(
      'http://x: 1 passed, 1 failed, 1 not implemented, 1 not decidable, 1 not run, 1 differ from the reference, in 9.0 s',
    );
    expect(text.split('\n').filter((line) => line.startsWith('passed'))).toHaveLength(1);
  });

  test('json is the report', () => {
    expect(JSON.parse(formatReport(report, 'json'))).toEqual(JSON.parse(JSON.stringify(report)));
  });

  test('tap has a plan, one line a case, and fails by the failure alone', () => {
    const lines = formatReport(report, 'tap').split('\n');
    expect(lines.slice(0, 2)).toEqual(['TAP version 14', '1..6']);
    const points = lines.filter((line) => /^(not )?ok /.test(line));
    expect(points).toEqual([
      'ok 1 - CreateTable: case <0> & "\\#0"',
      'not ok 2 - CreateTable: case <1> & "\\#1"',
      'ok 3 - CreateTable: case <2> & "\\#2" # SKIP not implemented: because',
      'ok 4 - CreateTable: case <3> & "\\#3" # SKIP not decidable: because',
      'ok 5 - CreateTable: case <4> & "\\#4" # SKIP not run: because',
      'not ok 6 - CreateTable: case <5> & "\\#5" # TODO differs from the reference; the protocol leaves it open',
    ]);
  });

  test('junit is XML that a parser takes, with one failure', () => {
    const xml = formatReport(report, 'junit');
    const script =
      'import sys, json, xml.etree.ElementTree as E; r = E.fromstring(sys.stdin.buffer.read());' +
      'print(json.dumps([r.attrib, [[c.attrib["name"], [x.tag for x in c]] for c in r.iter("testcase")], r.find(".//failure").text]))';
    const python = ['python3', 'python'].find((one) => {
      try {
        return execFileSync(one, ['-c', 'print(1)'], { stdio: 'pipe' }).length > 0;
      } catch {
        return false;
      }
    });
    expect(xml).not.toMatch(/\p{Surrogate}/u);
    if (python === undefined) return;
    const found = JSON.parse(
      execFileSync(python, ['-c', script], { input: xml, encoding: 'utf8' }),
    );
    expect(found[0]).toMatchObject({ tests: '6', failures: '1', errors: '0' });
    expect(found[1][0]).toEqual(['case <0> & "#0"', []]);
    expect(found[1].map(([, tags]: [string, string[]]) => tags[0])).toEqual([
      ...[undefined, 'failure', 'skipped', 'skipped', 'skipped', 'skipped'],
    ]);
    expect(found[2]).toContain('got: status 500 # \ufffd \ufffd "x"\n<y>');
  });
});

test('the documentation shows how a test runner takes the cases', {
  timeout: 180_000,
}, async () => {
  const example = codeOf(readPage('docs/testing-against-dirspace.md'), 'mjs');
  const file = join(temporaryFolder(), 'conformance.test.mjs');
  const module = JSON.stringify(compiledModule('conformance.js'));
  writeFileSync(file, example.replace("'dirspace/conformance'", module));
  await using server = await startServer({ namespace: await openCatalog(), limits });
  const env = { ...process.env, CATALOG_URL: server.url };
  // Not waited for in the way of execFileSync: the server is in this process.
  const { stdout } = await promisify(execFile)(process.execPath, ['--test-reporter=tap', file], {
    env,
  });
  expect(stdout).toMatch(/^# pass 1[1-9]\d$/m);
  expect(stdout).toMatch(/^# fail 0$/m);
});

describe('the command', () => {
  let env: Record<string, string> = {};
  const run = async (...argv: string[]): Promise<{ code: number; out: string; error: string }> => {
    let [out, error] = ['', ''];
    const around = {
      env,
      out: (text: string): void => {
        out += text;
      },
      error: (text: string): void => {
        error += text;
      },
    };
    return { code: await runCli(['conformance', ...argv], around), out, error };
  };

  test.each(REPORT_FORMATS)('prints %s, and exits with 0 where nothing failed', async (format) => {
    const catalog = await openCatalog();
    const lacking = Object.assign(catalog, {
      alterTableBackfillColumns: () => Promise.reject(unsupported('AlterTableBackfillColumns')),
    });
    await using server = await startServer({ namespace: lacking, limits });
    const skip = join(temporaryFolder(), 'skip.txt');
    writeFileSync(skip, '# slow\nTableExists\r\n\n');
    const args = ['--only', 'TableExists', '--only', 'AlterTableBackfillColumns', '--skip', skip];
    const { code, out } = await run(server.url, '--format', format, ...args);
    expect(code).toBe(0);
    expect(out).toContain('not implemented');
    expect(out).toContain('not run');
    expect(out.endsWith('\n')).toBe(true);
  });

  test('exits with 1 for failures only', async () => {
    const catalog = await openCatalog();
    const broken = Object.assign(catalog, { tableExists: async () => {} });
    await using server = await startServer({ namespace: broken, limits });
    const { code, out } = await run(server.url, '--json', '--only', 'TableExists');
    expect(code).toBe(1);
    expect(JSON.parse(out).totals).toMatchObject({ failed: 1, passed: 0 });
  });

  test.each([
    [['--format', 'xml'], 'give one of pretty, json, junit, tap'],
    [['--json', '--format', 'tap'], 'give one of them'],
    [['--only', 'CreateTabel'], 'Did you mean "CreateTable"?'],
    [['--skip', '/nowhere/at/all'], 'cannot be read'],
  ])('%j is refused', async (args, message) => {
    const { code, error, out } = await run('http://127.0.0.1:1', ...args);
    expect([code, out]).toEqual([EXIT.usage, '']);
    expect(error).toContain(message);
  });

  test('an address that is none is refused', async () => {
    for (const address of ['127.0.0.1:2333', 'ftp://127.0.0.1', './cat'])
      expect(await run(address)).toMatchObject({ code: EXIT.usage, out: '' });
  });

  test('sends the key of the environment, and a header given in its place', async () => {
    const auth = {
      apiKeys: [{ name: 'k', key: 'a-key-of-sixteen', grants: ['admin:$'] as const }],
    };
    await using server = await startServer({ namespace: await openCatalog(), limits, auth });
    const asked = [server.url, '--json', '--only', 'TableExists'];
    env = { DIRSPACE_API_KEY: 'a-key-of-sixteen' };
    const passed = async (...more: string[]): Promise<number> =>
      JSON.parse((await run(...asked, ...more)).out).totals.passed;
    expect(await passed()).toBeGreaterThan(0);
    expect(await passed('-H', 'x-api-key: another')).toBe(0);
    env = {};
    expect(await passed()).toBe(0);
  });
});
