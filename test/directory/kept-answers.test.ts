/** What is kept under idempotency keys where two processes do the same request. */
import { beforeEach, expect, test } from 'vitest';
import { answeredOnce } from '../../src/directory/catalog/kept-answers.ts';
import { DirspaceError } from '../../src/errors.ts';
import { digest, stampOf } from '../../src/server/idempotency.ts';
import { type TestEngine, testEngine } from '../helpers/engines.ts';

let one: TestEngine;
beforeEach(async () => {
  one = testEngine();
  await one.catalog.prepareRoot();
});

const ask = (work: () => Promise<unknown>, request = 'r'): Promise<unknown> =>
  answeredOnce(
    one.catalog,
    'CreateNamespace',
    { idempotencyStamp: stampOf(digest('k'), digest(request), undefined) },
    work,
  );
const taken = async (): Promise<never> => {
  throw new DirspaceError('NamespaceAlreadyExists', 'It is there.');
};
const never = async (): Promise<never> => {
  throw new Error('it is done again');
};

test('a refusal does not take away the answer that another process gave meanwhile', async () => {
  const first = ask(async () => {
    expect(await ask(async () => ({ properties: { a: 'b' } }))).toEqual({ properties: { a: 'b' } });
    return taken();
  });
  await expect(first).rejects.toMatchObject({ code: 'NamespaceAlreadyExists' });
  expect(await ask(never)).toEqual({ properties: { a: 'b' } });
  await expect(ask(never, 'other')).rejects.toMatchObject({ code: 'IdempotencyKeyReused' });
});

test('a refusal by a process that came second leaves the key to the first', async () => {
  const first = ask(async () => {
    await expect(ask(taken)).rejects.toMatchObject({ code: 'NamespaceAlreadyExists' });
    await expect(ask(never, 'other')).rejects.toMatchObject({ code: 'IdempotencyKeyReused' });
    return {};
  });
  expect(await first).toEqual({});
  expect(await ask(never)).toEqual({});
});

test('a key that was refused meanwhile is begun anew', async () => {
  one.calls.putIfAbsent = async (run, ...given) => {
    one.calls.putIfAbsent = undefined;
    await expect(ask(taken)).rejects.toMatchObject({ code: 'NamespaceAlreadyExists' });
    // Taken when this process looked, and free by the time it looks again.
    expect(await run(...given)).toBe(true);
    await one.catalog.store.delete(given[0] as string);
    return false;
  };
  expect(await ask(async () => ({ properties: {} }))).toEqual({ properties: {} });
  expect(await ask(never)).toEqual({ properties: {} });
});

test.each(['Internal', 'Corrupt', 'ServiceUnavailable', 'CommitStateUnknown'] as const)(
  'after %s the key stays taken: part of the change may be done',
  async (code) => {
    const fault = async (): Promise<never> => {
      throw new DirspaceError(code, 'It failed midway.');
    };
    await expect(ask(fault)).rejects.toMatchObject({ code });
    await expect(ask(never, 'other')).rejects.toMatchObject({ code: 'IdempotencyKeyReused' });
    expect(await ask(async () => ({ properties: {} }))).toEqual({ properties: {} });
  },
);

test('a full disk refuses a request before it is done, and keeps no answer after it', async () => {
  const full = new DirspaceError('ResourceExhausted', 'The disk is full.');
  one.calls.putIfAbsent = () => {
    throw full;
  };
  await expect(ask(never)).rejects.toBe(full);
  one.calls.putIfAbsent = undefined;
  one.calls.put = () => {
    throw full;
  };
  let done = 0;
  const work = async (): Promise<object> => ({ properties: { done: String(++done) } });
  expect(await ask(work)).toEqual({ properties: { done: '1' } });
  one.calls.put = undefined;
  await expect(ask(never, 'other')).rejects.toMatchObject({ code: 'IdempotencyKeyReused' });
  expect(await ask(work)).toEqual({ properties: { done: '2' } });
  expect(await ask(never)).toEqual({ properties: { done: '2' } });
});
