/** What a fixture opens and closes. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Connection } from '../../src/sdk/index.ts';
import { EventLoopPressure } from '../../src/server/observe/index.ts';
import { fixture } from '../../src/testing/index.ts';

/** What was done to catalogs, in turn. */
let done: string[];
/** Each is of one server. */
let closedServers: number;

beforeEach(() => {
  done = [];
  closedServers = 0;
  const { createTable, close } = Connection.prototype;
  vi.spyOn(Connection.prototype, 'createTable').mockImplementation(function (
    this: Connection,
    ...given: unknown[]
  ) {
    done.push('plant');
    return Reflect.apply(createTable, this, given);
  });
  vi.spyOn(Connection.prototype, 'close').mockImplementation(function (this: Connection) {
    done.push('close');
    return close.call(this);
  });
  const closePressure = EventLoopPressure.prototype.close;
  vi.spyOn(EventLoopPressure.prototype, 'close').mockImplementation(function (
    this: EventLoopPressure,
  ) {
    closedServers += 1;
    closePressure.call(this);
  });
});
afterEach(() => vi.restoreAllMocks());

const rows = [{ id: 1 }];
const seed = { tables: [{ name: 'a', rows }] };

test('a reset closes the catalog before it, one reset after the other', async () => {
  const made = await fixture({ seed });
  const first = made.catalog;
  await Promise.all([made.reset(), made.reset(), made.reset()]);
  expect(first.isOpen()).toBe(false);
  expect(made.catalog.isOpen()).toBe(true);
  expect(done.join(' ')).toBe('plant plant close plant close plant close');
  await made.close();
  expect(made.catalog.isOpen()).toBe(false);
  expect(closedServers).toBe(1);
});

test('a fixture that is closed is not reset', async () => {
  const made = await fixture({ seed });
  await made.close();
  await expect(made.reset()).rejects.toMatchObject({ code: 'Closed' });
  expect(done).toEqual(['plant', 'close']);
  expect(made.requests()).toEqual([]);
});

test('a seed that cannot be made leaves no catalog open', async () => {
  const twice = { tables: [...seed.tables, ...seed.tables] };
  await expect(fixture({ seed: twice })).rejects.toMatchObject({
    code: 'InvalidInput',
    message: expect.stringContaining('tables[1]'),
  });
  expect(done).toEqual(['plant', 'plant', 'close']);
});

test('where the port is taken, the server and the catalog are closed', async () => {
  await using first = await fixture({ seed });
  const port = Number(new URL(first.url).port);
  await expect(fixture({ seed, port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect(done).toEqual(['plant', 'plant', 'close']);
  expect(closedServers).toBe(1);
});

test('no request is refused because the event loop is late', async () => {
  await using made = await fixture();
  const now = performance.now.bind(performance);
  // The loop does not turn between the two, and the clock says that this took ten seconds.
  let later = 10_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now() + later);
  const first = made.fetch(`${made.url}/v1/table`);
  later += 10_000;
  const second = made.fetch(`${made.url}/v1/table`);
  expect([(await first).status, (await second).status]).toEqual([200, 200]);
});
