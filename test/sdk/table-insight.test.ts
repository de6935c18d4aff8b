/** Profiles and comparisons through the SDK, over a directory and over a server. */
import { expect, test } from 'vitest';
import type { TableProfile } from '../../src/index.ts';
import { connect, connectNamespace } from '../../src/sdk/connect.ts';
import { createServer } from '../../src/server.ts';
import { memoryFs } from '../helpers/catalogs.ts';

test('a server answers what a directory does', async () => {
  const local = await connect('/c', { fs: memoryFs() });
  await using server = await createServer({
    namespace: local.namespace,
    limits: { maxEventLoopDelayMs: 0 },
  });
  const fetch = (url: string, init: RequestInit) => server.fetch(url, init);
  const remote = await connectNamespace('rest', { uri: 'http://x' }, { fetch } as never);
  const rows = [
    { id: 1, n: 2n ** 60n, t: new Date(0), v: Float32Array.of(3, 4), s: 'é' },
    { id: 2, n: null, t: null, v: Float32Array.of(Number.NaN, 0), s: 'é' },
  ];
  const table = await local.createTable('t', rows);
  await (await table.branches()).create('b');
  await table.update({ where: 'id = 2', values: { n: -(2n ** 62n) } });
  await table.add(rows.slice(0, 1).map((row) => ({ ...row, id: 3 })));
  const there = await remote.openTable('t');
  // Sums are rounded in the order in which batches are looked at.
  const plain = ({ columns, ...told }: TableProfile) => ({
    ...told,
    elapsedMs: 0,
    columns: columns.map(({ mean, ...column }) => ({
      ...column,
      mean: Number(mean).toPrecision(9),
    })),
  });
  const options = { where: 'id > 0', buckets: 3, top: 2, budgetMs: 60_000 };
  const told = await there.profile(options);
  expect(plain(told)).toEqual(plain(await table.profile(options)));
  expect(told.columns.map(({ name, min, max }) => [name, min, max])).toEqual([
    ['id', 1, 3],
    ['n', String(-(2n ** 62n)), String(2n ** 60n)],
    ['t', '1970-01-01T00:00:00', '1970-01-01T00:00:00'],
    ['v', null, null],
    ['s', 'é', 'é'],
  ]);
  expect(told.columns[3]?.histogram).toMatchObject({ of: 'norms', edges: [5, 5 + 2 ** -50] });
  for (const on of [undefined, 'id', ['id', 's'], []]) {
    const how = on === undefined ? {} : { on };
    expect(await there.diff(1, undefined, how)).toEqual(await table.diff(1, undefined, how));
  }
  const branch = await remote.openTable('t', [], { branch: 'b' });
  expect(await branch.profile()).toMatchObject({ version: 1, rows: 2 });
  expect(await branch.diff({ branch: 'main' })).toMatchObject({
    from: { branch: 'main', version: 3 },
    to: { branch: 'b', version: 1 },
  });
  await table.checkout(2);
  expect(await table.profile({ columns: ['id'] })).toMatchObject({ version: 2, rows: 2 });
  expect(await table.diff(1)).toMatchObject({ to: { version: 2 } });
  for (const wrong of [{ version: 9 }, { tag: 'x' }, { branch: 'x' }]) {
    await expect(table.diff(wrong)).rejects.toThrow(/not found|does not exist|no branch/);
  }
  await expect(table.diff(1, 2, { key: 'id' } as never)).rejects.toThrow('option "key"');
  await local.close();
});
