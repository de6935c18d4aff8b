/** Stored text on a terminal, and outputs that end early or cannot be written. */
import { spawn } from 'node:child_process';
import { existsSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { shortCell, toJson } from '../../src/cli/terminal/output.ts';
import { OutputClosed, OutputFailed, OutputStream } from '../../src/cli/terminal/output-stream.ts';
import { cut, visible } from '../../src/cli/terminal/terminal-text.ts';
import { displayWidth } from '../../src/display-width.ts';
import { connect } from '../../src/sdk/connect.ts';
import { callCli, spawnCli } from '../helpers/cli.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const HOSTILE = '\u001b[31m \u009b2J \u0007 \u007f \u202e \u2066 \u2028 \r\b';
/** What no terminal may be given, whoever has stored it. */
const RAW = /(?!\n)[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

let root: string;

beforeAll(async () => {
  compiledModule('cli/main.js');
  root = join(temporaryFolder(), 'catalog');
  const db = await connect(root, { durability: 'relaxed' });
  await db.createTable('t', [
    { id: 1, [`c${HOSTILE}`]: HOSTILE, deep: { [`k${HOSTILE}`]: [HOSTILE] } },
  ]);
  await db.createTable('wide', [
    { name: '日本語', n: 1 },
    { name: 'e\u0301', n: 2 },
    { name: '👩‍👩‍👧', n: 3 },
  ]);
  await db.createTable(
    'many',
    Array.from({ length: 50_000 }, (_, n) => ({ n, text: 'x'.repeat(20) })),
  );
  await db.createNamespace(['n'], { properties: { [`p${HOSTILE}`]: HOSTILE } });
  await db.close();
}, 300_000);

describe('text that a terminal would obey', () => {
  test.each([
    ['head', 't'],
    ['head', 't', '--json'],
    ['query', 't', '--json'],
    ['describe', 't'],
    ['describe', 't', '--json'],
    ['describe', 'n'],
    ['describe', 'n', '--json'],
    ['add-columns', 't', '--set', `${HOSTILE}=1`, '--branch', 'b'],
    ['query', 't', '-s', HOSTILE],
    ['query', 't', '-s', HOSTILE, '--json'],
    ['query', 't', '--sort', HOSTILE],
    ['query', 't', HOSTILE],
    ['head', HOSTILE],
    ['head', 't', '--at', HOSTILE],
    ['head', 't', '--branch', HOSTILE],
    [HOSTILE],
    ['head', `--${HOSTILE}`],
    ['import', `${HOSTILE}.json`, 't2'],
    ['ls', '--root', HOSTILE],
    ['conformance', HOSTILE],
    ['completion', HOSTILE],
    ['trash', HOSTILE],
  ])('does not reach it raw: %j', async (...args) => {
    const where = args.includes('--root') || args[0] === 'conformance' ? [] : ['--root', root];
    const { out, error } = await callCli([...args, ...where]);
    expect(out + error).not.toBe('');
    expect(out).not.toMatch(RAW);
    expect(error).not.toMatch(RAW);
  });

  test('does not from a file either', async () => {
    const file = join(temporaryFolder(), 'e\u001b[31m.ndjson');
    writeFileSync(file, '{"a":');
    expect((await callCli(['import', file, 'x', '--root', root])).error).toContain('e\\u001b[31m');
  });

  test('keeps its value in JSON', async () => {
    const { out } = await callCli(['head', 't', '--json', '--root', root]);
    expect(JSON.parse(out)).toEqual([
      { id: 1, [`c${HOSTILE}`]: HOSTILE, deep: { [`k${HOSTILE}`]: [HOSTILE] } },
    ]);
  });

  test('is shown by its code', () => {
    expect(visible('a\u001bb\u009bc\nd\te\u202ef')).toBe('a\\u001bb\\u009bc\\nd\\te\\u202ef');
    expect(visible('日本 👩‍👩‍👧 é שלום')).toBe('日本 👩‍👩‍👧 é שלום');
  });
});

describe('columns', () => {
  test.each([
    ['abc', 3],
    ['', 0],
    ['日本語', 6],
    ['ｆｕｌｌ', 8],
    ['한국', 4],
    ['e\u0301', 1],
    ['\u0301', 0],
    ['\u200b', 0],
    ['🎉', 2],
    ['👩‍👩‍👧', 2],
    ['❤\ufe0f', 2],
    ['€', 1],
    ['שלום', 4],
  ])('%j takes %i columns of a terminal', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  test('are aligned by what is seen', async () => {
    const { out } = await callCli(['head', 'wide', '--root', root]);
    const [, ...lines] = out.trimEnd().split('\n');
    const places = lines.map((line) => displayWidth(line.slice(0, line.search(/\d$/))));
    expect(places).toEqual([8, 8, 8]);
  });

  test('are cut between characters, wherever the text is long', () => {
    expect(cut('abcdef', 4)).toBe('abc…');
    expect(cut('abcd', 4)).toBe('abcd');
    expect(cut('日本語', 6)).toBe('日本語');
    expect(cut('日本語', 5)).toBe('日本…');
    expect(cut('日本語', 4)).toBe('日…');
    expect(cut('e\u0301e\u0301e\u0301', 2)).toBe('e\u0301…');
    // What takes no column is bounded too.
    expect(cut(`a${'\u0301'.repeat(10_000)}b${'\u0302'.repeat(10_000)}`, 10).length).toBeLessThan(
      10,
    );
    expect(shortCell('x'.repeat(1e7), 60)).toBe(`${'x'.repeat(59)}…`);
    expect(shortCell('\u200b'.repeat(1e6), 60).length).toBeLessThan(5000);
  });
});

test('a negative zero stays one, beside every text', () => {
  expect(toJson([-0, 0, 1, '-0'], 0)).toBe('[-0,0,1,"-0"]');
  const value = {
    a: -0,
    b: '\u0001-0',
    c: '\u0001',
    d: [-0, 'x'],
    '-0': 2,
    '-00': '-00',
    e: 2n ** 60n,
  };
  expect(JSON.parse(toJson(value))).toEqual({ ...value, e: (2n ** 60n).toString() });
});

describe('output', () => {
  const full = '/dev/full';
  const commands = [
    ['query', 'many'],
    ['ls', '--json'],
    ['--help'],
    ['--version'],
    ['completion', 'bash'],
  ];

  function spawnInto(args: string[], stdout: number): Promise<{ code: number; error: string }> {
    const main = fileURLToPath(compiledModule('cli/main.js'));
    const child = spawn(process.execPath, [main, ...args], {
      stdio: ['ignore', stdout, 'pipe'],
      env: { ...process.env, DIRSPACE_URI: root },
    });
    let error = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      error += text;
    });
    return new Promise((resolve) => {
      child.on('close', (code) => resolve({ code: Number(code), error }));
    });
  }

  test.skipIf(!existsSync(full)).each(commands)(
    'on a full disk is a failure: %j',
    async (...args) => {
      expect(await spawnInto(args, openSync(full, 'w'))).toEqual({
        code: 1,
        error: args.includes('--json')
          ? '{"error":{"code":"Failure","message":"cannot write the output: ENOSPC","exit":1,"details":{}}}\n'
          : 'dirspace: cannot write the output: ENOSPC\n',
      });
    },
  );

  test.each(commands)('whose reader has gone ends quietly: %j', async (...args) => {
    const { code, error } = await spawnCli(args, { env: { DIRSPACE_URI: root }, unread: true });
    // A busy machine takes longer than a second, and tells of the progress.
    const told = error.replace(/^\w+: [\d,]+ rows?, \d+ s\n/gm, '');
    expect({ code, told }).toEqual({ code: 0, told: '' });
  });

  test('whose reader has gone hides no failure', async () => {
    const own = join(temporaryFolder(), 'catalog');
    const db = await connect(own, { durability: 'relaxed' });
    await db.createTable('t', [{ a: 1 }]);
    await db.close();
    const folder = join(own, 'data', 't.table');
    const versions = readdirSync(folder).find((name) => name.startsWith('versions-')) as string;
    writeFileSync(join(folder, versions, '00000000000000000001.json'), '{');
    const { code } = await spawnCli(['verify', '--json', '--root', own], { unread: true });
    expect(code).toBe(1);
  });

  test('waits for its reader, and is told when there is none', async () => {
    const slow = new PassThrough({ highWaterMark: 1 });
    const output = new OutputStream(slow);
    const written = output.write('ab') as Promise<void>;
    slow.read();
    await written;
    const waiting = output.write('cd') as Promise<void>;
    slow.destroy(Object.assign(new Error('x'), { code: 'EPIPE' }));
    await expect(waiting).rejects.toThrow(OutputClosed);
    expect(() => output.write('e')).toThrow(OutputClosed);
    expect(await output.end()).toBeUndefined();
  });

  test('tells at the end what only shows then', async () => {
    const failing = new Writable({
      write: (_chunk, _encoding, done) =>
        setImmediate(() => done(Object.assign(new Error('x'), { code: 'ENOSPC' }))),
    });
    const output = new OutputStream(failing);
    output.write('a');
    expect(await output.end()).toBeInstanceOf(OutputFailed);
    expect(() => output.write('b')).toThrow('cannot write the output: ENOSPC');
  });

  test('outlives its readers where it is told to', async () => {
    const stream = new PassThrough();
    const output = new OutputStream(stream);
    output.outliveReaders();
    stream.destroy(Object.assign(new Error('x'), { code: 'EPIPE' }));
    await new Promise((resolve) => stream.once('close', resolve));
    output.write('a');
    expect(await output.end()).toBeUndefined();
  });
});
