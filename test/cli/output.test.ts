/** What the command line prints of many rows, in processes of its own. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { tableFromArrays } from '../../src/arrow/apache.ts';
import { connect } from '../../src/sdk/connect.ts';
import { callCli, hasTerminal, onTerminal, spawnCli } from '../helpers/cli.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const ROWS = 1_000_000;
/** More than a pipe or a batch holds. */
const SOME = 200_000;
let root: string;

beforeAll(async () => {
  root = join(temporaryFolder(), 'catalog');
  const db = await connect(root, { durability: 'relaxed' });
  const n = Int32Array.from({ length: ROWS }, (_, at) => at);
  await db.createTable('many', tableFromArrays({ n }));
  await db.createTable('some', tableFromArrays({ n: n.subarray(0, SOME) }));
  await db.createTable('few', tableFromArrays({ n: n.subarray(0, 101) }));
  await db.createTable('hundred', tableFromArrays({ n: n.subarray(0, 100) }));
  await db.close();
  compiledModule('cli/main.js');
}, 300_000);

describe('without -n', () => {
  test('all rows go into a pipe, as JSON and as columns', async () => {
    const json = await spawnCli(['query', 'some', '--json', '--root', root]);
    expect({ code: json.code, error: json.error }).toEqual({ code: 0, error: '' });
    const rows = JSON.parse(json.out) as { n: number }[];
    expect(rows).toHaveLength(SOME);
    expect(rows.every(({ n }, at) => n === at)).toBe(true);
    const text = await spawnCli(['query', 'some', '--root', root]);
    expect(text.code).toBe(0);
    const lines = text.out.trimEnd().split('\n');
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([SOME + 1, 'n', `${SOME - 1}`]);
  });

  test.skipIf(!hasTerminal)('a terminal shows 100, and is told how many more there are', () => {
    const { out, error } = onTerminal(['query', 'many', 'n >= 10', '--root', root]);
    expect(out).toHaveLength(101);
    expect(out.at(-1)).toBe('109');
    expect(error).toBe('999,890 more rows are there; give -n to see more than 100.\n');
    const json = onTerminal(['query', 'few', '--json', '--root', root]);
    expect(JSON.parse(json.out.join(''))).toHaveLength(100);
    expect(json.error).toBe('1 more row is there; give -n to see more than 100.\n');
    expect(onTerminal(['query', 'hundred', '--root', root]).error).toBe('');
  });

  test.skipIf(!hasTerminal)('-n counts on a terminal too', () => {
    const { out, error } = onTerminal(['query', 'few', '-n', '101', '--root', root]);
    expect([out.length, error]).toEqual([102, '']);
    const fewer = onTerminal(['query', 'few', '-n', '7', '--root', root]);
    expect([fewer.out.length, fewer.error]).toEqual([8, '']);
  });
});

test('memory does not grow with the rows that are printed', async () => {
  const bare = await peakMemory(['query', 'many', '-n', '1000', '--json', '--root', root]);
  const all = await peakMemory(['query', 'many', '--json', '--root', root]);
  expect(all.lines).toBe(ROWS + 2);
  // A million rows as objects take twice as much, and as one text as much again.
  expect(all.bytes - bare.bytes).toBeLessThan(64 * 2 ** 20);
});

/** Of a process whose output is read slowly: what it does not wait for lies in its memory. */
function peakMemory(args: readonly string[]): Promise<{ bytes: number; lines: number }> {
  const main = compiledModule('cli/main.js');
  const report = `process.on('exit', () => process.stderr.write(String(process.resourceUsage().maxRSS)));`;
  const source = `${report} process.argv.splice(1, 0, 'dirspace'); await import(${JSON.stringify(main)});`;
  const { DIRSPACE_URI: _, ...env } = process.env;
  const options = ['--max-semi-space-size=1', '--input-type=module', '-e', source, ...args];
  const child = spawn(process.execPath, options, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [lines, error] = [0, ''];
  child.stdout.on('data', (chunk: Buffer) => {
    for (const byte of chunk) if (byte === 10) lines++;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    error += text;
  });
  return new Promise((resolve) => {
    child.on('close', () => resolve({ bytes: Number(error) * 1024, lines }));
  });
}

test('columns are as wide as the first thousand rows need; longer values push', async () => {
  const folder = join(temporaryFolder(), 'catalog');
  const db = await connect(folder, { durability: 'relaxed' });
  const rows = Array.from({ length: 1500 }, (_, at) => ({
    a: at === 999 ? 'eleven char' : at === 1000 ? 'twelve chars' : 'x',
    b: at,
  }));
  await db.createTable('t', rows);
  await db.close();
  const { out } = await callCli(['query', 't', '--root', folder]);
  const lines = out.trimEnd().split('\n');
  expect(lines).toHaveLength(1501);
  expect([lines[0], lines[1], lines[1000], lines[1001], lines[1500]]).toEqual([
    'a            b',
    'x            0',
    'eleven char  999',
    'twelve chars  1000',
    'x            1499',
  ]);
});

test('no rows are an empty array, and the names of the columns', async () => {
  const none = ['query', 'many', 'n < 0', '--root', root];
  expect((await callCli([...none, '--json'])).out).toBe('[]\n');
  expect((await callCli(none)).out).toBe('n\n');
});
