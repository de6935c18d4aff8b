/** The table of exit codes in docs/command-line.md: each command answers each kind of failure by it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { EXIT } from '../../src/cli/terminal/exit-codes.ts';
import { systemEnv } from '../../src/env.ts';
import { connect } from '../../src/sdk/connect.ts';
import { startServer } from '../../src/server/server.ts';
import { type CliResult, callCli } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

let folder: string;
let root: string;
let keyed: Awaited<ReturnType<typeof startServer>>;
let busy: ReturnType<typeof createServer>;
let busyUrl: string;

const KEY = 'a-key-that-may-read-0123456789';

beforeAll(async () => {
  folder = temporaryFolder();
  root = join(folder, 'catalog');
  const db = await connect(root, { durability: 'relaxed' });
  await db.createNamespace(['n']);
  const t = await db.createTable('t', [{ a: 1 }]);
  await (await t.tags()).create('v1', 1);
  await db.createTable('u', [{ a: 1 }]);
  await db.close();
  writeFileSync(join(folder, 'rows.ndjson'), '{"a": 1}\n');
  const auth = { apiKeys: [{ key: KEY, name: 'ada', grants: ['read:$'] as const }] };
  keyed = await startServer({ root, port: 0, auth });
  busy = createServer((_, response) => {
    response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '0' });
    response.end(
      '{"type":"/errors/service-unavailable","title":"x","status":503,"error":"x","code":17}',
    );
  });
  await new Promise<void>((resolve) => void busy.listen(0, '127.0.0.1', resolve));
  busyUrl = `http://127.0.0.1:${(busy.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await keyed.close();
  busy.close();
});

/** A call of each command that works on a catalog, which a server can answer. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  ls: [],
  describe: ['t'],
  'create-namespace': ['m'],
  import: ['ROWS', 'x'],
  export: ['t', '--lance', 'COPY'],
  head: ['t'],
  query: ['t', 'a > 0'],
  sql: ['SELECT a FROM t'],
  delete: ['t', 'a > 5'],
  update: ['t', 'a > 5', '--set', 'a=1'],
  'add-columns': ['t', '--set', 'b=1'],
  log: ['t'],
  diff: ['t', '1..'],
  files: ['t'],
  restore: ['t', '1'],
  tag: ['ls', 't'],
  branch: ['ls', 't'],
  clone: ['t', 'z'],
  rename: ['t', 'z'],
  drop: ['t'],
  undrop: ['t'],
  trash: ['ls'],
  optimize: ['t'],
  verify: [],
  repair: [],
  index: ['ls', 't'],
  lance: ['sync'],
};
const calls = Object.entries(CALLS);

let copies = 0;
/** What a word in these calls stands for. */
const places: Readonly<Record<string, () => string>> = {
  ROWS: () => join(folder, 'rows.ndjson'),
  COPY: () => join(folder, `${copies++}.lance`),
};

const run = (name: string, args: readonly string[], env: Record<string, string> = {}) =>
  callCli([name, ...args.map((word) => places[word]?.() ?? word)], {
    env,
  });

/** In both forms; with --json it is one line of JSON on standard error, and nothing else there. */
async function expectExit(
  exit: number,
  name: string,
  args: readonly string[],
  env?: Record<string, string>,
): Promise<void> {
  const plain: CliResult = await run(name, args, env);
  expect({ name, code: plain.code, out: plain.out }).toEqual({ name, code: exit, out: '' });
  expect(plain.error).toMatch(/^dirspace: /m);
  const json = await run(name, [...args, '--json'], env);
  expect({ name, code: json.code, out: json.out }).toEqual({ name, code: exit, out: '' });
  expect(json.error).toMatch(/^[^\n]+\n$/);
  expect(JSON.parse(json.error)).toEqual({
    error: {
      code: expect.any(String),
      message: expect.any(String),
      exit,
      details: expect.any(Object),
    },
  });
}

test('docs/command-line.md has the exit codes that there are', () => {
  const page = readFileSync(
    join(import.meta.dirname, '..', '..', 'docs', 'command-line.md'),
    'utf8',
  );
  const [, table = ''] = /\| Exit code \| Meaning \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(page) ?? [];
  const documented = [...table.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  expect(documented).toEqual(Object.values(EXIT));
});

test('every command is tried here', () => {
  const services = ['serve', 'ui', 'conformance', 'completion'];
  expect([...Object.keys(CALLS), ...services].sort()).toEqual(
    COMMANDS.map(({ name }) => name).sort(),
  );
});

describe('each command', () => {
  test.each(COMMANDS.map(({ name }) => [name]))(
    '%s refuses an unknown option with 2',
    async (name) => {
      await expectExit(EXIT.usage, name, ['--frobnicate']);
      const help = await callCli([name, '--help']);
      expect({ code: help.code, error: help.error }).toEqual({ code: 0, error: '' });
      expect(help.out).toContain(`Usage: dirspace ${name}`);
    },
  );

  test.each(calls)('%s answers a root that is missing with 3, or makes it', async (name, args) => {
    const missing = join(temporaryFolder(), 'missing');
    const command = COMMANDS.find((candidate) => candidate.name === name);
    const makes = command !== undefined && 'makesCatalog' in command;
    if (!makes) await expectExit(EXIT.notFound, name, [...args, '--root', missing]);
  });

  test.each(calls)('%s without a key, or with a wrong one, answers 6', async (name, args) => {
    const where = [...args, '--uri', keyed.url];
    await expectExit(EXIT.auth, name, where);
    await expectExit(EXIT.auth, name, where, { DIRSPACE_API_KEY: 'wrong' });
    expect((await run(name, where)).error).toContain('$DIRSPACE_API_KEY');
  });

  test.each(calls)('%s answers 7 where the server is not available', async (name, args) => {
    // Between its attempts the client waits for as long as chance says: not at all here.
    vi.spyOn(systemEnv, 'random').mockReturnValue(0);
    onTestFinished(() => void vi.restoreAllMocks());
    await expectExit(EXIT.unavailable, name, [...args, '--uri', busyUrl]);
  });

  test.each(calls)('%s of an address with a wrong path says so', async (name, args) => {
    const { code, error } = await run(name, [...args, '--uri', `${keyed.url}/wrong`], {
      DIRSPACE_API_KEY: KEY,
    });
    expect(code).toBe(EXIT.failure);
    expect(error).toContain('Check the path of the address');
  });
});

test('what changes is refused with 6 to a key that may read', async () => {
  const env = { DIRSPACE_API_KEY: KEY };
  for (const name of ['create-namespace', 'delete', 'rename', 'drop', 'import']) {
    await expectExit(EXIT.auth, name, [...(CALLS[name] ?? []), '--uri', keyed.url], env);
  }
});

test.each([
  ['import', ['ROWS', 't'], EXIT.alreadyExists],
  ['create-namespace', ['n'], EXIT.alreadyExists],
  ['tag', ['create', 't', 'v1'], EXIT.alreadyExists],
  ['branch', ['create', 't', 'main'], EXIT.alreadyExists],
  ['rename', ['t', 'u'], EXIT.alreadyExists],
  ['head', ['none'], EXIT.notFound],
  ['head', ['t', '--at', '9'], EXIT.notFound],
  ['undrop', ['none'], EXIT.notFound],
  ['query', ['t', 'nothing = 1'], EXIT.usage],
  ['update', ['t', '--set', 'nothing=1'], EXIT.usage],
  ['delete', ['t', 'a ='], EXIT.usage],
  ['add-columns', ['t', '--set', 'b=nothing'], EXIT.usage],
  ['tag', ['create', 't', 'v 2'], EXIT.usage],
  ['import', ['ROWS', 'x', '--lance', 'WRONG'], EXIT.usage],
] as const)('%s %j', async (name, args, exit) => {
  await expectExit(exit, name, [...args, '--root', root]);
});

test('a root that no catalog can have', async () => {
  await expectExit(EXIT.usage, 'ls', ['--root', 's3://bucket/catalog']);
});

test('a namespace that holds tables is a conflict', async () => {
  const own = join(temporaryFolder(), 'catalog');
  const db = await connect(own, { durability: 'relaxed' });
  await db.createNamespace(['full']);
  await db.createTable('t', [{ a: 1 }], ['full']);
  await db.close();
  await expectExit(EXIT.conflict, 'drop', ['full', '--root', own]);
});
