/** The line for the memory of a server, and the answers that are broken off where it is short. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { ServerMemory, SLOW_MILLIS, type SlowAnswer } from '../../src/request-memory.ts';
import { ReaderPace } from '../../src/server/http/slow-reader.ts';
import { stepped } from '../../src/stepped.ts';

/** Lets so many rounds of the event loop go by. */
async function nextRounds(count: number): Promise<void> {
  for (let at = 0; at < count; at++) await new Promise((resolve) => setImmediate(resolve));
}

const WHAT = 'A batch';

/** Settled promises of `pass`, in the order in which they were let in. */
function line(memory: ServerMemory) {
  const entered: string[] = [];
  const enter = (name: string, bytes: number, signal?: AbortSignal): Promise<unknown> =>
    memory.pass(bytes, WHAT, signal).then(
      () => entered.push(name),
      (error: Error) => entered.push(`${name}: ${error.message.slice(0, 40)}`),
    );
  return { entered, enter };
}

describe('batches that pass through', () => {
  test('wait in line, and smaller ones do not overtake', async () => {
    const memory = new ServerMemory(200);
    const { entered, enter } = line(memory);
    await enter('a', 60);
    void enter('b', 50);
    void enter('c', 10);
    await nextRounds(2);
    expect(entered).toEqual(['a']);
    expect(memory.tryPass(1)).toBe(false);
    memory.passed(60);
    await nextRounds(2);
    expect(entered).toEqual(['a', 'b', 'c']);
    expect(memory.taken).toBe(60);
    memory.passed(50);
    memory.passed(10);
    expect(memory.taken).toBe(0);
  });

  test('one always passes, whatever else is held, so that those who hold something end', async () => {
    const memory = new ServerMemory(200);
    memory.take(200, WHAT);
    expect(memory.tryPass(40)).toBe(true);
    expect(memory.tryPass(1)).toBe(false);
    expect(memory.taken).toBe(240);
    expect(() => memory.grow(1, WHAT)).toThrow('serverMemory');
    memory.passed(40);
    expect(memory.tryPass(40)).toBe(true);
  });

  test('give up after a while, and when their request ends', async () => {
    const memory = new ServerMemory(200, 20);
    const { entered, enter } = line(memory);
    const controller = new AbortController();
    await enter('a', 100);
    const left = enter('gone', 100, controller.signal);
    controller.abort(new Error('hung up'));
    await left;
    await enter('late', 7);
    expect(entered).toEqual([
      'a',
      'gone: hung up',
      'late: A batch would take 7 bytes more, and wit',
    ]);
    await enter('before', 7, controller.signal);
    expect(entered.at(-1)).toBe('before: hung up');
    memory.passed(100);
    expect(memory.taken).toBe(0);
    expect(memory.tryPass(1)).toBe(true);
  });

  test('who leaves the line lets in those behind', async () => {
    const memory = new ServerMemory(200);
    const { entered, enter } = line(memory);
    const controller = new AbortController();
    await enter('a', 60);
    void enter('b', 60, controller.signal);
    void enter('c', 40);
    controller.abort(new Error('hung up'));
    await nextRounds(2);
    expect(entered).toEqual(['a', 'b: hung up', 'c']);
  });
});

describe('where memory is short', () => {
  const answer = (waited: number, ended: string[], name: string): SlowAnswer => ({
    waited: () => waited,
    end: () => ended.push(name),
  });

  test('the answer that has waited longest for a slow reader is broken off', async () => {
    const memory = new ServerMemory(200);
    const ended: string[] = [];
    const sent = memory.sending(answer(SLOW_MILLIS * 9, ended, 'sent'));
    memory.sending(answer(SLOW_MILLIS - 1, ended, 'quick'));
    memory.sending(answer(SLOW_MILLIS, ended, 'slow'));
    memory.sending(answer(SLOW_MILLIS + 1, ended, 'slowest'));
    sent();
    memory.take(200, WHAT);
    expect(ended).toEqual([]);
    for (let at = 0; at < 4; at++) expect(() => memory.take(1, WHAT)).toThrow('serverMemory');
    expect(ended).toEqual(['slowest', 'slow']);
  });

  test('batches in line end one as well', async () => {
    const memory = new ServerMemory(200);
    const { entered, enter } = line(memory);
    await enter('a', 100);
    memory.sending({ waited: () => SLOW_MILLIS, end: () => memory.passed(100) });
    await enter('b', 100);
    expect(entered).toEqual(['a', 'b']);
  });

  test('a reader is slow by the time that an answer waits for it, and what it takes', () => {
    let now = 0;
    const pace = new ReaderPace(
      () => {},
      () => now,
    );
    pace.wait();
    now = SLOW_MILLIS;
    expect(pace.waited()).toBe(SLOW_MILLIS);
    pace.took(1_000);
    expect(pace.waited()).toBe(0);
    // While the answer is made the reader cannot be to blame.
    now += 60_000;
    pace.wait();
    now += 7;
    expect(pace.waited()).toBe(SLOW_MILLIS + 7);
    pace.took(10_000_000);
    pace.wait();
    now += 5;
    expect(pace.waited()).toBe(5);
  });
});

describe('steps', () => {
  test('give their values, end once, and close once', async () => {
    let at = 0;
    let closed = 0;
    const items = stepped(
      async () => (at < 3 ? at++ : undefined),
      () => closed++,
    );
    expect(await Promise.all([items.next(), items.next()])).toEqual([
      { done: false, value: 0 },
      { done: false, value: 1 },
    ]);
    const rest: number[] = [];
    for await (const item of items) rest.push(item);
    expect(rest).toEqual([2]);
    await items.return(undefined);
    expect(await items.next()).toEqual({ done: true, value: undefined });
    expect(closed).toBe(1);
  });

  test('close after a failure, and wait for a step that goes on', async () => {
    const said: string[] = [];
    const failing = stepped(
      async () => {
        throw new Error('broken');
      },
      () => said.push('closed'),
    );
    await expect(failing.next()).rejects.toThrow('broken');
    expect(await failing.next()).toEqual({ done: true, value: undefined });
    let go: (value: number) => void = () => {};
    const slow = stepped(
      () =>
        new Promise<number>((resolve) => {
          go = resolve;
        }).finally(() => said.push('stepped')),
      () => said.push('closed'),
    );
    const [first, ended] = [slow.next(), slow.return(undefined)];
    go(1);
    expect(await first).toEqual({ done: false, value: 1 });
    await ended;
    expect(said).toEqual(['closed', 'stepped', 'closed']);
  });

  test('nothing of the last value is held while the next one is made', async () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    let last: WeakRef<object> | undefined;
    let freed: boolean | undefined;
    const values = stepped(async () => {
      if (last !== undefined) {
        for (let at = 0; at < 3; at++) {
          await nextRounds(1);
          gc();
        }
        freed = last.deref() === undefined;
        return undefined;
      }
      const value = { bytes: new Uint8Array(1_000) };
      last = new WeakRef(value);
      return value;
    });
    const use = async (): Promise<number | undefined> => (await values.next()).value?.bytes.length;
    expect(await use()).toBe(1_000);
    expect(await use()).toBeUndefined();
    expect(freed).toBe(true);
  });
});
