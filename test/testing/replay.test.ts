/** Ids that count and clocks that stand: two runs are answered by the same bytes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { tableToIPC } from '../../src/arrow/apache.ts';
import { makeArrowTable } from '../../src/sdk/index.ts';
import { type FixtureOptions, fixture } from '../../src/testing/index.ts';
import { Life, lifeOptions } from '../../src/testing/life.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const CLOCK = '2026-01-01T00:00:00Z';
const fixed: FixtureOptions = {
  ids: 'sequential',
  clock: CLOCK,
  seed: {
    namespaces: [{ path: ['prod'] }],
    tables: [{ path: ['prod'], name: 'user', rows: [{ id: 1, name: 'Ada' }], tags: ['first'] }],
  },
};

const more = [
  { id: 2, name: 'Grace' },
  { id: 3, name: 'Alan' },
];
const rows = tableToIPC(makeArrowTable(more), 'stream');
const USER = '/v1/table/prod$user';

/** Writes, reads, faults of the client, and what makes ids, times and tokens. */
const REQUESTS: readonly (readonly [string, string, (object | Uint8Array)?])[] = [
  ['POST', '/v1/namespace/prod$search/create', {}],
  ['GET', '/v1/namespace/$/list?limit=1'],
  ['POST', '/v1/table/prod$more/create', rows],
  ['POST', `${USER}/insert`, rows],
  ['POST', `${USER}/describe?load_detailed_metadata=true`, {}],
  ['POST', `${USER}/update`, { updates: [['name', "'x'"]], predicate: 'id > 1' }],
  ['POST', `${USER}/version/list`],
  ['POST', `${USER}/version/list?limit=1`],
  ['POST', `${USER}/create_index`, { column: 'id', index_type: 'BTREE' }],
  ['POST', `${USER}/index/list`, {}],
  ['POST', `${USER}/tags/create`, { tag: 'second', version: 2 }],
  ['POST', `${USER}/tags/list`],
  ['POST', `${USER}/branches/create`, { name: 'draft' }],
  ['POST', `${USER}/branches/list`],
  ['POST', `${USER}/delete`, { predicate: 'id = 2' }],
  ['POST', `${USER}/query`, { k: 10 }],
  ['POST', `${USER}/analyze_plan`, { k: 10 }],
  ['POST', `${USER}/stats`, {}],
  ['GET', '/v1/table?limit=1'],
  ['POST', '/v1/table/prod$more/drop'],
  ['POST', '/v1/dirspace/namespace/$/trash', {}],
  ['POST', '/v1/table/prod$none/describe', {}],
  ['POST', '/v1/table/prod$none/describe', { odd: 1 }],
  ['GET', '/v1/dirspace/requests'],
];

/** Status, headers and bodies of all answers, as they are sent. */
async function answers(url: string): Promise<string> {
  const agent = new Agent({ keepAlive: true });
  let all = '';
  for (const [method, path, body] of REQUESTS) {
    const isArrow = body instanceof Uint8Array;
    const type = isArrow ? 'application/vnd.apache.arrow.stream' : 'application/json';
    const headers = body === undefined ? {} : { 'content-type': type };
    const sent = request(url + path, { agent, method, headers });
    sent.end(isArrow ? body : body === undefined ? '' : JSON.stringify(body));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    all += `${method} ${path} ${answer.statusCode}\n${answer.rawHeaders.join('\n')}\n`;
    for await (const piece of answer) all += (piece as Buffer).toString('latin1');
    all += '\n';
  }
  agent.destroy();
  return all;
}

describe('two runs of the same requests', () => {
  test('in two processes are answered by the same bytes', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'seed.json'), JSON.stringify(fixed.seed));
    const main = fileURLToPath(compiledModule('cli/main.js'));
    const run = async (): Promise<string> => {
      const args = ['--seed', 'seed.json', '--ids', 'sequential', '--clock', CLOCK, '--json'];
      const child = spawn(
        process.execPath,
        [main, 'serve', '--memory', '--port', '0', '--stop-with-stdin', ...args],
        { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] },
      );
      const ended = once(child, 'exit');
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      const all = await answers((JSON.parse(line.toString()) as { url: string }).url);
      child.stdin.end();
      await ended;
      return all;
    };
    const first = await run();
    expect(first).toContain('00000000-0000-4000-8000-0000000000');
    const refused = [...first.matchAll(/^(?:GET|POST) (\S+) [45]\d\d$/gm)].map(([, path]) => path);
    const none = '/v1/table/prod$none/describe';
    expect(refused).toEqual([none, none]);
    expect(await run()).toBe(first);
  });

  test('are the same after a reset, whatever was asked before it', async () => {
    await using made = await fixture(fixed);
    const first = await answers(made.url);
    await answers(made.url);
    await made.reset();
    expect(await answers(made.url)).toBe(first);
  });

  test('of a folder and of a catalog too', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'prod'));
    writeFileSync(join(folder, 'prod', 'user.csv'), 'id,name\n1,Ada\n');
    await using one = await fixture({ ...fixed, seed: folder });
    await using other = await fixture({ ...fixed, seed: folder });
    expect(await answers(one.url)).toBe(await answers(other.url));
  });

  test('differ where neither is asked for', async () => {
    const { seed = {} } = fixed;
    await using made = await fixture({ seed });
    const first = await answers(made.url);
    await made.reset();
    expect(await answers(made.url)).not.toBe(first);
  });
});

describe('the clock', () => {
  test('stands while the seed is made, and moves on by a second with each operation', async () => {
    await using made = await fixture(fixed);
    const versions = async (): Promise<number[]> => {
      const listed = await made.fetch(`${made.url}${USER}/version/list`, { method: 'POST' });
      const { versions } = (await listed.json()) as { versions: { timestamp_millis: number }[] };
      return versions.map(({ timestamp_millis: at }) => at - Date.parse(CLOCK));
    };
    expect(await versions()).toEqual([0]);
    await made.fetch(`${made.url}/health`);
    await made.fetch(`${made.url}/v1/dirspace/requests`);
    await made.fetch(`${made.url}${USER}/delete`, {
      method: 'POST',
      body: '{"predicate": "id = 1"}',
      headers: { 'content-type': 'application/json' },
    });
    expect(await versions()).toEqual([0, 2_000]);
    await made.reset();
    expect(await versions()).toEqual([0]);
  });

  test('keeps nobody from the event loop while a program asks on and on', async () => {
    await using made = await fixture(fixed);
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
    }, 1);
    for (let at = 0; at < 300_000 && !isOver; at++) await made.catalog.namespaceExists(['prod']);
    clearTimeout(timer);
    expect(isOver).toBe(true);
  });

  test('is the real one where none is given, and answers have no other', async () => {
    await using made = await fixture({ ids: 'sequential' });
    const answer = await made.fetch(`${made.url}/v1/table`);
    expect(answer.headers.get('date')).toBeNull();
  });

  test.each([
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01 02:00:00.5 +02:00', '2026-01-01T00:00:00.500Z'],
    ['2026-01-01', '2026-01-01T00:00:00.000Z'],
    [new Date(5), '1970-01-01T00:00:00.005Z'],
  ])('%j is a time', (given, expected) => {
    const { clock } = lifeOptions(undefined, given);
    expect(new Date(clock ?? Number.NaN).toISOString()).toBe(expected);
  });

  test.each([
    [
      '2026-01-01T00:00:00',
      'is "2026-01-01T00:00:00"; it is a time from 1970 to 9999 with its zone',
    ],
    ['1969-12-31', 'from 1970'],
    ['10000-01-01', 'from 1970'],
    ['soon', 'is "soon"'],
    [new Date(Number.NaN), 'is Invalid Date'],
    [5, 'is 5'],
  ])('%j is none', async (clock, message) => {
    await expect(fixture({ clock: clock as string })).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining(message),
    });
  });
});

test('ids of a kind that there is not are refused', async () => {
  await expect(fixture({ ids: 'sequentiel' as 'sequential' })).rejects.toThrow(
    'The option ids is "sequentiel"; it is random or sequential. Did you mean "sequential"?',
  );
});

test('random numbers are the same in each run, and nothing goes on in the background', async () => {
  const [one, other] = [0, 1].map(() => new Life({ clock: undefined, isSequential: true }).env);
  if (one === undefined || other === undefined) throw new Error();
  const numbers = Array.from({ length: 5 }, () => one.random());
  expect(Array.from({ length: 5 }, () => other.random())).toEqual(numbers);
  expect(new Set(numbers).size).toBe(5);
  expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
  const ended = new AbortController();
  let over = '';
  const background = one.sleep(0, ended.signal, true).then(
    () => (over = 'done'),
    () => (over = 'ended'),
  );
  await one.sleep(1);
  await one.sleep(1);
  expect(over).toBe('');
  ended.abort();
  await background;
  expect(over).toBe('ended');
});
