import { expect, test } from 'vitest';
import { type FetchedRows, RowWindows } from '../../../src/ui/views/row-windows.ts';

/** A server that is told what to answer: each request waits for `answer` or `fail`. */
function asked() {
  const requests: {
    offset: number;
    signal: AbortSignal;
    answer: () => Promise<void>;
    fail: (error: Error) => Promise<void>;
  }[] = [];
  let changes = 0;
  const windows = new RowWindows(
    (offset, limit, signal) => {
      let resolve: (rows: FetchedRows) => void = () => {};
      let reject: (error: Error) => void = () => {};
      const promise = new Promise<FetchedRows>((...both) => {
        [resolve, reject] = both;
      });
      const rows = Array.from({ length: limit }, (_, at) => [offset + at]);
      const ids = rows.map(([id]) => `r${id}`);
      const settled = (): Promise<void> => promise.then(() => {}).catch(() => {});
      requests.push({
        offset,
        signal,
        answer: () => {
          resolve({ rows, ids });
          return settled();
        },
        fail: (error) => {
          reject(error);
          return settled();
        },
      });
      return promise;
    },
    () => changes++,
  );
  return { windows, requests, changes: () => changes };
}

test('rows come in windows of 100 and are fetched once', async () => {
  const { windows, requests, changes } = asked();
  windows.show(90, 110);
  windows.show(95, 115);
  expect(requests.map(({ offset }) => offset)).toEqual([0, 100]);
  expect(windows.row(99)).toBeUndefined();
  await requests[0]?.answer();
  expect(windows.row(99)).toEqual({ cells: [99], id: 'r99' });
  expect(windows.row(100)).toBeUndefined();
  await requests[1]?.answer();
  expect(changes()).toBe(2);
  windows.show(90, 110);
  expect(requests).toHaveLength(2);
});

test('rows that could not be had are fetched again, and the failure is told until they come', async () => {
  const { windows, requests, changes } = asked();
  const failure = new Error('The server is away.');
  windows.show(0, 40);
  await requests[0]?.fail(failure);
  expect(windows.failure).toBe(failure);
  windows.show(1, 41);
  windows.show(2, 42);
  expect(requests.map(({ offset }) => offset)).toEqual([0, 0]);
  expect(windows.failure).toBe(failure);
  const again = new Error('It is away still.');
  await requests[1]?.fail(again);
  expect(windows.failure).toBe(again);
  windows.show(2, 42);
  await requests[2]?.answer();
  expect(windows.failure).toBeUndefined();
  expect(windows.row(7)?.cells).toEqual([7]);
  expect(changes()).toBe(3);
  windows.show(2, 42);
  expect(requests).toHaveLength(3);
});

test('a failure out of sight is forgotten, and drawn so', async () => {
  const { windows, requests, changes } = asked();
  windows.show(0, 40);
  await requests[0]?.fail(new Error('no'));
  windows.show(500, 540);
  expect(windows.failure).toBeUndefined();
  expect(changes()).toBe(2);
});

test('requests out of sight are aborted, and neither rows nor failures of them come', async () => {
  const { windows, requests, changes } = asked();
  windows.show(0, 40);
  windows.show(500, 540);
  windows.show(900, 940);
  expect(requests.map(({ signal }) => signal.aborted)).toEqual([true, true, false]);
  await requests[0]?.answer();
  await requests[1]?.fail(new Error('aborted'));
  expect([windows.row(0), windows.failure, changes()]).toEqual([undefined, undefined, 0]);
  windows.end();
  expect(requests[2]?.signal.aborted).toBe(true);
  await requests[2]?.fail(new Error('ended'));
  expect(changes()).toBe(0);
});

test('64 windows are kept, those shown last', async () => {
  const { windows, requests } = asked();
  for (let at = 0; at < 64; at++) {
    windows.show(at * 100, at * 100 + 1);
    await requests[at]?.answer();
  }
  windows.show(0, 1);
  windows.show(6_400, 6_401);
  expect(windows.row(0)?.cells).toEqual([0]);
  expect(windows.row(100)).toBeUndefined();
  expect(windows.row(200)?.cells).toEqual([200]);
});
