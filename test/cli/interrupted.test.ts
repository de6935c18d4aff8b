/** Ctrl-C in the middle of work, and what is told of work that takes long. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { runCli } from '../../src/cli/run.ts';
import { type Command, Options } from '../../src/cli/terminal/command.ts';
import { showAsTyped } from '../../src/cli/terminal/ids.ts';
import { showProgress } from '../../src/cli/terminal/progress.ts';
import type { Env } from '../../src/env.ts';
import { connect } from '../../src/sdk/connect.ts';
import { callCli } from '../helpers/cli.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

let root: string;

beforeAll(() => void compiledModule('cli/main.js'), 300_000);

beforeEach(async () => {
  root = join(temporaryFolder(), 'catalog');
  const db = await connect(root, { durability: 'relaxed' });
  const table = await db.createTable('t', [{ n: 1, text: 'a' }]);
  await table.add([{ n: 2, text: 'b' }]);
  await db.close();
});

/** An import that has read many rows of a pipe, and waits for more. */
const importing = (...args: string[]) => importingFrom('rows.ndjson', args);

/** As `importing`, where `name` matches the pipe and may match a file that is read before it. */
async function importingFrom(name: string, args: readonly string[]) {
  const folder = temporaryFolder();
  const fifo = join(folder, 'rows.ndjson');
  execFileSync('mkfifo', [fifo]);
  writeFileSync(join(folder, 'first.ndjson'), '{"n": 5, "text": "b"}\n');
  const main = fileURLToPath(compiledModule('cli/main.js'));
  const words = [main, 'import', join(folder, name), ...args, '--root', root];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { out: '', error: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.error += text;
  });
  const closed = once(child, 'close');
  const rows = createWriteStream(fifo);
  const row = `${JSON.stringify({ n: 7, text: 'x'.repeat(100) })}\n`;
  // More than a pipe holds: once it is taken, the process is reading.
  for (let group = 0; group < 100; group++) {
    if (!rows.write(row.repeat(1000))) await once(rows, 'drain');
  }
  return { child, said, closed, rows };
}

const staged = (): string[] => {
  const folder = join(root, '.dirspace', 'staging');
  return existsSync(folder) ? readdirSync(folder) : [];
};

const filesOf = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).sort();

const json = async (...args: string[]) =>
  JSON.parse((await callCli([...args, '--json', '--root', root])).out);

describe('Ctrl-C', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    '%s ends an import that creates a table, and nothing is left of it',
    async (signal, code) => {
      const { child, said, closed, rows } = await importing('deep/in/new', '-p');
      await vi.waitFor(() => expect(staged()).toHaveLength(1), { timeout: 30_000 });
      child.kill(signal);
      expect(await closed).toEqual([code, null]);
      rows.destroy();
      expect(said).toEqual({
        out: '',
        error: expect.stringContaining(`interrupted by ${signal}\n`),
      });
      expect(staged()).toEqual([]);
      expect((await callCli(['ls', '--root', root])).out).toBe('t\n');
      expect(await json('trash', 'ls')).toEqual([]);
      expect(await json('verify')).toMatchObject({ ok: true, leftovers: [] });
    },
  );

  test.each([
    ['one file', 'rows.ndjson'],
    ['several files', '*.ndjson'],
  ])('ends an import that appends %s, and the table is as it was, to the file', async (_, name) => {
    const before = filesOf('data');
    const { child, closed, rows } = await importingFrom(name, ['t', '--mode', 'append']);
    await vi.waitFor(() => expect(filesOf('data').length).toBeGreaterThan(before.length), {
      timeout: 30_000,
    });
    child.kill('SIGINT');
    expect(await closed).toEqual([130, null]);
    rows.destroy();
    expect(filesOf('data')).toEqual(before);
    expect(await json('verify')).toMatchObject({ ok: true, leftovers: [] });
  });

  test.each([
    ['csv', 'a,b\n'],
    ['ndjson', '{"a": '],
    ['parquet', 'PAR1'],
  ])('ends an import of %s that is sent too little to begin with', async (format, begun) => {
    const args = ['import', '-', 'new', '--format', format];
    const main = fileURLToPath(compiledModule('cli/main.js'));
    const child = spawn(process.execPath, [main, ...args, '--root', root]);
    let error = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      error += text;
    });
    const closed = once(child, 'close');
    // More than a pipe holds, and less than formats and types are found out from.
    if (!child.stdin.write(begun.padEnd(300_000))) await once(child.stdin, 'drain');
    child.kill('SIGINT');
    expect(await closed).toEqual([130, null]);
    child.stdin.destroy();
    expect(error).toContain('interrupted by SIGINT\n');
    expect(staged()).toEqual([]);
  });

  test('ends a prompt whose lines do not come', async () => {
    let interrupt: (signal: 'SIGINT') => void = () => {};
    const interrupted = new Promise<'SIGINT'>((resolve) => {
      interrupt = resolve;
    });
    let out = '';
    const code = await runCli(['sql', '--root', root], {
      env: {},
      out: (data) => {
        out += String(data);
        interrupt('SIGINT');
      },
      error: () => {},
      interrupted: () => interrupted,
      lines: async function* () {
        yield 'SELECT 1 AS a;';
        await new Promise(() => {});
      },
    });
    expect({ code, out }).toEqual({ code: 130, out: 'a\n1\n' });
  });

  test.each([
    [['optimize', 't', '--older-than', '0']],
    [['drop', 't']],
    [['rename', 't', 'u']],
    [['create-namespace', 'n']],
    [['trash', 'empty']],
    [['repair', '--apply']],
  ])('before it begins, %j does nothing', async (args) => {
    const before = filesOf('.');
    let error = '';
    const code = await runCli([...args, '--root', root], {
      env: {},
      out: () => {},
      error: (text) => {
        error += text;
      },
      interrupted: async () => 'SIGINT',
    });
    expect({ code, error }).toEqual({ code: 130, error: 'dirspace: interrupted by SIGINT\n' });
    expect(filesOf('.')).toEqual(before);
  });

  test.each([
    ['query', 't'],
    ['verify', '/'],
    ['ls', '/'],
    ['log', 't'],
    ['describe', 't'],
    ['head', 't'],
  ])('%s ends although its output is not taken', async (...args) => {
    let interrupt: (signal: 'SIGINT') => void = () => {};
    const interrupted = new Promise<'SIGINT'>((resolve) => {
      interrupt = resolve;
    });
    const code = await runCli([...args, '--root', root], {
      env: {},
      out: () => {
        interrupt('SIGINT');
        return new Promise(() => {});
      },
      error: () => {},
      interrupted: () => interrupted,
    });
    expect(code).toBe(130);
  });

  test('a second one ends the process at once', async () => {
    let asked = 0;
    const abandoned = await new Promise((resolve) => {
      void runCli(['ls', '--root', root], {
        env: {},
        out: () => {},
        error: () => {},
        interrupted: async () => {
          asked++;
          return asked === 1 ? 'SIGINT' : 'SIGTERM';
        },
        abandon: resolve,
      });
    });
    expect(abandoned).toBe(143);
  });
});

describe('progress', () => {
  /** A clock that stands until it is moved, and sleepers that wake as it passes them. */
  function clock() {
    let now = 1_000_000;
    const sleepers: (() => void)[] = [];
    const env: Env = {
      now: () => now,
      uuid: () => '',
      random: () => 0,
      sleep: (_, signal) =>
        new Promise((resolve, reject) => {
          const abort = (): void => reject(signal?.reason);
          sleepers.push(() => {
            signal?.removeEventListener('abort', abort);
            resolve();
          });
          signal?.addEventListener('abort', abort);
        }),
    };
    const pass = async (ms: number): Promise<void> => {
      for (const end = now + ms; now < end; ) {
        now += 250;
        for (const wake of sleepers.splice(0)) wake();
        await Promise.resolve();
        await Promise.resolve();
        await Promise.resolve();
      }
    };
    return { env, pass };
  }

  const told = (isTerminal: boolean) => {
    const { env, pass } = clock();
    const texts: string[] = [];
    let state: string | undefined = 'nothing';
    const line = showProgress(
      'import',
      () => state,
      { error: (text) => void texts.push(text) },
      isTerminal,
      env,
    );
    const set = (next: string | undefined): void => {
      state = next;
    };
    return { pass, texts, line, set };
  };

  test('is told of work that takes more than a second, and only of that', async () => {
    const { pass, texts, line } = told(true);
    await pass(750);
    expect(texts).toEqual([]);
    line.end();
    await pass(5000);
    expect(texts).toEqual([]);
  });

  test('on a terminal it is one line, which gives way to what is written and goes at the end', async () => {
    const { pass, texts, line, set } = told(true);
    await pass(1000);
    set('2 rows');
    await pass(250);
    expect(texts).toEqual(['\r\u001b[Kimport: nothing, 1 s', '\r\u001b[Kimport: 2 rows, 1 s']);
    line.aside(() => void texts.push('note\n'));
    expect(texts.slice(2)).toEqual(['\r\u001b[K', 'note\n']);
    line.end();
    expect(texts).toHaveLength(4);
  });

  test('elsewhere it is a line every ten seconds', async () => {
    const { pass, texts, set } = told(false);
    await pass(5000);
    expect(texts).toEqual(['import: nothing, 1 s\n']);
    set('7 rows');
    await pass(10_000);
    expect(texts).toEqual(['import: nothing, 1 s\n', 'import: 7 rows, 11 s\n']);
  });

  test('what has nothing to tell tells nothing', async () => {
    const { pass, texts, set } = told(false);
    set(undefined);
    await pass(30_000);
    expect(texts).toEqual([]);
  });

  test('an import says how much it has read', async () => {
    const { child, said, closed, rows } = await importing('new');
    await vi.waitFor(() => expect(said.error).toMatch(/^import: \d+ MB, \d+ MB\/s, \d+ s\n/), {
      timeout: 30_000,
    });
    rows.end();
    expect(await closed).toEqual([0, null]);
    expect(said.error).toContain('Imported into new: version 1, 100,000 rows.\n');
    expect(child.exitCode).toBe(0);
  });

  test('an import of several files says which of them it reads', async () => {
    const { said, closed, rows } = await importingFrom('*.ndjson', ['new']);
    await vi.waitFor(
      () => expect(said.error).toMatch(/^import: \d+ MB, file 2 of 2, \d+ MB\/s, \d+ s\n/),
      {
        timeout: 30_000,
      },
    );
    rows.end();
    expect(await closed).toEqual([0, null]);
    expect(said.error).toContain('Imported 2 files into new: version 1, 100,001 rows.\n');
  });

  test('errors that nobody reads do not end work that is under way', async () => {
    const main = compiledModule('cli/main.js');
    // As soon as the program listens to errors of the stream, there is one.
    const source = `process.stderr.once('newListener', (name) => {
      if (name !== 'error') return;
      setImmediate(() => process.stderr.emit('error', Object.assign(new Error('x'), { code: 'EPIPE' })));
    });
    process.argv.splice(1, 0, 'dirspace');
    await import(${JSON.stringify(main)});`;
    const args = ['create-namespace', 'n', '--root', root];
    const child = spawn(process.execPath, ['--input-type=module', '-e', source, ...args], {
      stdio: 'ignore',
    });
    expect(await once(child, 'close')).toEqual([0, null]);
    expect((await callCli(['ls', '--root', root])).out).toBe('n/\nt\n');
  });

  test.each([
    ['optimize', ['t'], {}, '2 of 2 rows rewritten'],
    ['query', ['t'], {}, '2 rows'],
    ['head', ['t'], { rows: '1' }, '1 row'],
    ['export', ['t'], { format: 'csv' }, '2 rows, 0 MB, 0 MB/s'],
    ['ls', [], { long: true }, '1 of 1 tables'],
    ['update', ['t'], { set: ['n=1'] }, 'writing'],
  ])('%s says how far it is', async (name, given, options, expected) => {
    const command = COMMANDS.find((known) => known.name === name) as Command;
    const connection = await connect(root);
    let state = (): string | undefined => undefined;
    const answer = await command.run({
      connection,
      arguments: given,
      options: new Options(options),
      terminals: { input: false, output: false, error: false },
      signal: new AbortController().signal,
      show: showAsTyped(given),
      confirm: async () => true,
      print: async () => {},
      note: () => {},
      lines: async function* () {},
      progress: (told) => {
        state = told;
      },
      write: () => {},
    });
    if (answer !== undefined && 'rows' in answer) for await (const _ of answer.rows);
    await connection.close();
    expect(state()).toBe(expected);
  });

  test('verify says how many tables and bytes it has read', async () => {
    const db = await connect(root, { readOnly: true });
    const seen: object[] = [];
    const report = await db.namespace.verify?.(
      {},
      { on_progress: (progress) => void seen.push(progress) },
    );
    await db.close();
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.at(-1)).toEqual({ tables: 1, bytes: report?.counts.bytes });
  });
});
