/** Files that are written whole: after an error nothing of them is left, and none stays open. */
import { expect, test } from 'vitest';
import { deleteQuietly, writeObject } from '../../../src/table/work/write-object.ts';
import { testEngine } from '../../helpers/engines.ts';
import { FaultyFs } from '../../helpers/faulty-fs.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';
import { outcomeOf } from '../../helpers/outcome.ts';

const opened = (log: readonly string[]): number =>
  log.filter((name) => name === 'openSync').length -
  log.filter((name) => name === 'closeSync').length;

test.each([
  ['the write', 'writeSync'],
  ['the look at its size', 'fstatSync'],
  ['the end', 'closeSync'],
])('%s fails', async (_, call) => {
  const faulty = new FaultyFs(memoryFs());
  const { engine, fs } = testEngine({ fs: faulty.fs as never });
  await engine.store.createFolder('x');
  faulty.arm({ at: 1, kind: 'ENOSPC', only: [call] });
  expect(await outcomeOf(writeObject(engine.store, 'x/y', new Uint8Array(10)))).not.toBe('ok');
  expect(faulty.fired).toBe(true);
  if (call !== 'closeSync') expect(opened(faulty.log)).toBe(0);
  faulty.arm();
  expect(await engine.store.list('x')).toEqual([]);
  expect(fs).toBeDefined();
});

test('what it is to wait for fails', async () => {
  const { engine } = testEngine();
  await engine.store.createFolder('x');
  const broken = new Error('no disk');
  const work = writeObject(engine.store, 'x/y', new Uint8Array(1), Promise.reject(broken));
  await expect(work).rejects.toBe(broken);
  expect(await engine.store.list('x')).toEqual([]);
});

test('a file that cannot be deleted is left', async () => {
  const { engine, calls } = testEngine();
  await engine.store.createFolder('x');
  await writeObject(engine.store, 'x/y', new Uint8Array(1));
  calls.delete = () => {
    throw new Error('no disk');
  };
  await deleteQuietly(engine.store, 'x/y');
  expect(await engine.store.list('x')).toHaveLength(1);
});
