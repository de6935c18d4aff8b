/** Windows of rows for the page: by offset, filtered, ordered and searched. */
import { beforeAll, describe, expect, test } from 'vitest';
import { Type } from '../../../src/arrow/index.ts';
import type { Env } from '../../../src/env.ts';
import { systemEnv } from '../../../src/env.ts';
import { Index } from '../../../src/index.ts';
import { RequestMemory, ServerMemory } from '../../../src/request-memory.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { KeptRows } from '../../../src/server/ui/kept-rows.ts';
import type { PageCaller } from '../../../src/server/ui/page-caller.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';
import { ask, type Pair, restPair } from '../../helpers/rest-pair.ts';

let pair: Pair;
const id = ['n', 't'];

beforeAll(async () => {
  const db = await connect('/c', { fs: memoryFs() });
  await db.createNamespace(['n']);
  const rows = Array.from({ length: 3_000 }, (_, x) => ({
    x,
    wide: 2n ** 62n + BigInt(x),
    text: x % 2 === 0 ? `even ${x}` : null,
    vector: [x, 1, 2, 3],
  }));
  const table = await db.createTable('t', rows, ['n']);
  await table.delete('x >= 1000 AND x < 1010');
  await table.createIndex('text', { config: Index.fts() });
  pair = await restPair({ namespace: db.namespace, ui: true });
});

const rows = async (body: object) => {
  const answer = await ask(pair, 'POST', '/ui/api/rows', { id, version: 3, ...body });
  return answer.json;
};
const numbers = (answer: { rows: unknown[][] }): unknown[] => answer.rows.map(([x]) => x);

test('a table that is opened at a branch has the statistics of the branch', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const table = await db.createTable('t', [{ x: 1 }]);
  const branch = await (await table.branches()).create('b');
  await branch.add([{ x: 2 }, { x: 3 }]);
  const other = await restPair({ namespace: db.namespace, ui: true });
  const rowsOf = async (at: object) =>
    (await ask(other, 'POST', '/ui/api/table', { id: ['t'], ...at })).json.stats.num_rows;
  expect([await rowsOf({}), await rowsOf({ branch: 'b' })]).toEqual([1, 3]);
  await other.close();
});

describe('a window', () => {
  test('of all rows is read by its place among the live ones', async () => {
    expect(numbers(await rows({ offset: 998, limit: 4 }))).toEqual([998, 999, 1010, 1011]);
    expect(numbers(await rows({ offset: 2_988, limit: 100 }))).toEqual([2998, 2999]);
    expect(numbers(await rows({ offset: 99_999 }))).toEqual([]);
  });

  test('has cells that JSON keeps, and row ids', async () => {
    expect(await rows({ offset: 1, limit: 1 })).toEqual({
      columns: [
        { name: 'x', type: 'float64' },
        { name: 'wide', type: 'int64' },
        { name: 'text', type: 'utf8' },
        { name: 'vector', type: expect.stringContaining('float32') },
      ],
      rows: [[1, '4611686018427387905', null, '[1, 1, 2, 3]']],
      ids: ['1'],
    });
  });

  test('of a filter, an order and both has a total', async () => {
    const filtered = await rows({ where: 'x % 1000 = 7', limit: 2, offset: 1 });
    expect([numbers(filtered), filtered.total]).toEqual([[2007], 2]);
    const ordered = await rows({ order: 'x', descending: true, limit: 2 });
    expect([numbers(ordered), ordered.total]).toEqual([[2999, 2998], 2990]);
    const both = await rows({ where: 'x < 5', order: 'x', descending: true, limit: 9 });
    expect(numbers(both)).toEqual([4, 3, 2, 1, 0]);
  });

  test('of a full-text search has the best matches first', async () => {
    const found = await rows({ text: '44 even', limit: 1 });
    expect([numbers(found), found.total]).toEqual([[44], 1495]);
  });

  test('has the columns that are asked for', async () => {
    const { columns } = await rows({ columns: ['text'], limit: 1 });
    expect(columns).toEqual([{ name: 'text', type: 'utf8' }]);
  });

  test.each([
    [{ limit: 1_001 }, 'limit'],
    [{ offset: -1 }, 'offset'],
    [{ offset: 1.5 }, 'offset'],
    [{ id: 'n$t' }, 'id'],
    [{ where: 7 }, 'where'],
    [{ columns: [1] }, 'columns'],
    [{ version: '1' }, 'version'],
  ])('that cannot be is refused by name: %j', async (body, member) => {
    const { code, error } = await rows(body);
    expect([code, error]).toEqual([13, expect.stringContaining(`"${member}"`)]);
  });

  test('says where the filter is wrong', async () => {
    const { error } = await rows({ where: 'x < 3 AND y = 1' });
    expect(error).toContain('No field named y');
    expect(error).toMatch(/\n {2}x < 3 AND y = 1\n {12}\^$/);
  });
});

test('one row is shown whole', async () => {
  const { json } = await ask(pair, 'POST', '/ui/api/row', { id, version: 3, row_id: '44' });
  expect([json.rows[0][2], json.ids]).toEqual(['even 44', ['44']]);
  const gone = await ask(pair, 'POST', '/ui/api/row', { id, version: 3, row_id: '1000' });
  expect(gone.json.rows).toEqual([]);
});

describe('the rows that are kept', () => {
  const query = { id, filter: 'x > 0' } as never;
  const withRowIds = (length: number) => {
    let asked = 0;
    const values = BigUint64Array.from({ length }, (_, at) => BigInt(at));
    const batch = { data: { children: [{ typeId: Type.Int, values, length }] } };
    const caller = {
      scope: 'ada',
      signal: new AbortController().signal,
      call: async () => {
        asked++;
        return {
          schema: { fields: [{ name: '_rowid' }] },
          [Symbol.asyncIterator]: async function* () {
            yield batch;
          },
        };
      },
    } as unknown as PageCaller;
    return { caller, asked: () => asked };
  };

  test('are found once, by each caller for himself', async () => {
    const kept = new KeptRows(systemEnv, () => new RequestMemory());
    const { caller, asked } = withRowIds(10);
    const [one, two] = await Promise.all([kept.rows(caller, query), kept.rows(caller, query)]);
    expect([one.ids.length, two === one, asked()]).toEqual([10, true, 1]);
    await kept.rows({ ...caller, scope: 'bob' }, query);
    expect(asked()).toBe(2);
    kept.close();
    expect(kept.bytes).toBe(0);
  });

  test('count against the memory of the server until they are let go', async () => {
    const server = new ServerMemory(1 << 20);
    const kept = new KeptRows(systemEnv, () => new RequestMemory(undefined, server));
    await kept.rows(withRowIds(5_000).caller, query);
    expect([server.taken, kept.bytes]).toEqual([40_000, 40_000]);
    kept.close();
    expect(server.taken).toBe(0);
    const few = new ServerMemory(10_000);
    const none = new KeptRows(systemEnv, () => new RequestMemory(undefined, few));
    await expect(none.rows(withRowIds(5_000).caller, query)).rejects.toMatchObject({
      code: 'ServiceUnavailable',
    });
    expect([few.taken, none.bytes]).toEqual([0, 0]);
  });

  test('of a search that goes on when they are dropped give their memory back at its end', async () => {
    const server = new ServerMemory(1 << 20);
    const kept = new KeptRows(systemEnv, () => new RequestMemory(undefined, server));
    const values = BigUint64Array.from({ length: 2_000 }, (_, at) => BigInt(at));
    const batch = { data: { children: [{ typeId: Type.Int, values, length: 2_000 }] } };
    let proceed = (): void => {};
    const paused = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    const rows = {
      schema: { fields: [{ name: '_rowid' }] },
      async *[Symbol.asyncIterator]() {
        yield batch;
        await paused;
        for (let times = 0; times < 4; times++) yield batch;
      },
    };
    const caller = { scope: 'ada', call: async () => rows } as unknown as PageCaller;
    const search = kept.rows(caller, query);
    await new Promise(setImmediate);
    kept.close();
    expect(server.taken).toBeGreaterThan(0);
    proceed();
    expect((await search).ids.length).toBe(10_000);
    await new Promise(setImmediate);
    expect(server.taken).toBe(0);
  });

  test('are let go two minutes after they were used', async () => {
    let now = 0;
    const wakers: (() => void)[] = [];
    const env: Env = {
      ...systemEnv,
      now: () => now,
      sleep: () => new Promise((resolve) => wakers.push(resolve)),
    };
    const kept = new KeptRows(env, () => new RequestMemory());
    await kept.rows(withRowIds(10).caller, query);
    now = 119_000;
    wakers.shift()?.();
    await Promise.resolve();
    await Promise.resolve();
    expect(kept.bytes).toBe(80);
    now = 121_000;
    await new Promise(setImmediate);
    wakers.shift()?.();
    await new Promise(setImmediate);
    expect(kept.bytes).toBe(0);
  });

  test('of a search whose caller left are found once for all that wait', async () => {
    const kept = new KeptRows(systemEnv, () => new RequestMemory());
    const { caller, asked } = withRowIds(10);
    const controller = new AbortController();
    const { signal } = controller;
    const left = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('left')));
    });
    const leaving = { ...caller, signal, call: () => left } as unknown as PageCaller;
    const first = kept.rows(leaving, query);
    const others = [1, 2, 3].map(() => kept.rows(caller, query));
    controller.abort();
    await expect(first).rejects.toThrow('left');
    for (const other of others) expect((await other).ids.length).toBe(10);
    expect(asked()).toBe(1);
  });

  test('of a search that fails are not searched for again by those that wait', async () => {
    const kept = new KeptRows(systemEnv, () => new RequestMemory());
    let asked = 0;
    const failing = {
      ...withRowIds(1).caller,
      call: async () => {
        asked++;
        throw new Error('no column y');
      },
    } as unknown as PageCaller;
    const all = [1, 2, 3].map(() => kept.rows(failing, query));
    for (const one of all) await expect(one).rejects.toThrow('no column y');
    expect(asked).toBe(1);
    await expect(kept.rows(failing, query)).rejects.toThrow('no column y');
    expect(asked).toBe(2);
  });
});
