/** Intents on disk: when they are written and removed, and which of those found are believed. */
import { beforeEach, describe, expect, test } from 'vitest';
import {
  decodeIntent,
  type Intent,
  pendingIntents,
  withIntent,
} from '../../src/directory/catalog/intents.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { encodeChecksummed } from '../../src/json.ts';
import type { FileSystem } from '../../src/store/disk/file-system.ts';
import { outcomeOf, ROOT, type TestEngine, testEngine } from '../helpers/engines.ts';
import { memoryFs } from '../helpers/memory-fs.ts';

const FOLDER = '.dirspace/intents';
const ID = '00000000-0000-4000-8000-00000000aaaa';
const drop: Intent = {
  kind: 'drop_empty_namespace',
  place: 'prod/search',
  trash: `.dirspace/trash/${ID}`,
};
const replace: Intent = {
  kind: 'replace',
  place: 'data/t.table',
  trash: `.dirspace/trash/${ID}`,
  staging: `.dirspace/staging/${ID}`,
};

let one: TestEngine;
beforeEach(async () => {
  one = testEngine();
  await one.catalog.prepareRoot();
});

const files = (): string[] => one.fs.readdirSync(`${ROOT}/${FOLDER}`) as string[];
const put = (name: string, bytes: Uint8Array | string) =>
  one.fs.writeFileSync(`${ROOT}/${FOLDER}/${name}`, bytes);
const encoded = (document: object): Uint8Array => encodeChecksummed({ ...document }).bytes;
const nothing = async (): Promise<void> => {};

describe('an operation with an intent', () => {
  test.each([drop, replace])('%j: there while it runs, gone when it is done', async (intent) => {
    const synced: (readonly string[])[] = [];
    one.calls.syncFolders = (run, folders) => {
      synced.push(folders);
      return run(folders);
    };
    const during = await withIntent(
      one.catalog,
      intent,
      async (given) => {
        expect(given).toBe(intent);
        return pendingIntents(one.catalog);
      },
      async () => {
        throw new Error('nothing failed');
      },
    );
    expect(during).toEqual([{ file: `${FOLDER}/${during[0]?.file.split('/').at(-1)}`, intent }]);
    expect(synced).toEqual([[FOLDER]]);
    expect(files()).toEqual([]);
  });

  test('does not begin before its intent is on disk', async () => {
    const broken = new Error('no disk');
    for (const name of ['syncFolders', 'create'] as const) {
      one.calls[name] = () => {
        throw broken;
      };
      const begun = withIntent(
        one.catalog,
        drop,
        async () => {
          throw new Error('begun');
        },
        nothing,
      );
      await expect(begun).rejects.toBe(broken);
      one.calls[name] = undefined;
    }
  });

  test('that fails and is recovered ends with its own error and no intent', async () => {
    const failure = new Error('failed');
    let recovered = 0;
    const failed = withIntent(
      one.catalog,
      drop,
      async () => {
        throw failure;
      },
      async () => {
        expect(files()).toHaveLength(1);
        recovered += 1;
      },
    );
    await expect(failed).rejects.toBe(failure);
    expect({ recovered, files: files() }).toEqual({ recovered: 1, files: [] });
  });

  test('that fails and cannot be recovered leaves its intent to the next opener', async () => {
    const failure = new Error('failed');
    const failed = withIntent(
      one.catalog,
      drop,
      async () => {
        throw failure;
      },
      async () => {
        throw new Error('that too');
      },
    );
    await expect(failed).rejects.toBe(failure);
    expect(await pendingIntents(one.catalog)).toMatchObject([{ intent: drop }]);
  });
});

describe('intents that are found', () => {
  test('none where there is no folder for them', async () => {
    one.fs.rmSync(`${ROOT}/${FOLDER}`, { recursive: true });
    expect(await pendingIntents(one.catalog)).toEqual([]);
  });

  test('other things, and what was cut short, are passed', async () => {
    const bytes = encoded(drop);
    put('b.json', bytes);
    put('cut.json', bytes.subarray(0, -1));
    put('empty.json', '');
    put('.tmp-1', bytes);
    put('json', bytes);
    one.fs.mkdirSync(`${ROOT}/${FOLDER}/folder.json`);
    put('gone.json', bytes);
    one.calls.get = (run, file) => (file.endsWith('gone.json') ? undefined : run(file));
    expect(await pendingIntents(one.catalog)).toEqual([{ file: `${FOLDER}/b.json`, intent: drop }]);
  });

  test('one that is whole and damaged stops the opener', async () => {
    const bytes = Buffer.from(encoded(drop));
    bytes[40] = (bytes[40] ?? 0) ^ 1;
    put('b.json', bytes);
    expect(await outcomeOf(pendingIntents(one.catalog))).toMatchObject({
      code: 'Corrupt',
      details: { file: `${FOLDER}/b.json` },
    });
  });
});

describe('what an intent may say', () => {
  const decode = (document: object): unknown => decodeIntent(encoded(document), 'i');

  test('members beyond its kind are not taken over', () => {
    expect(decode({ ...drop, staging: 7, more: true })).toEqual(drop);
    expect(decode({ ...replace, more: true })).toEqual(replace);
  });

  test.each(['a', 'data/t.table', 'prod/search/%64ata', '%2edirspace', 'a.dirspace/trash'])(
    'the place %j',
    (place) => {
      expect(decode({ ...drop, place })).toEqual({ ...drop, place });
      expect(decode({ ...replace, staging: place })).toEqual({ ...replace, staging: place });
    },
  );

  test.each([
    `.dirspace/trash/${ID}`,
    `.dirspace/staging/${ID}`,
    `.dirspace/detached/${ID}.table`,
    '.dirspace/trash/01234567',
    `.dirspace/trash/${'a'.repeat(64)}`,
  ])('the private folder %j', (folder) => {
    expect(decode({ ...drop, trash: folder })).toEqual({ ...drop, trash: folder });
    expect(decode({ ...replace, staging: folder })).toEqual({ ...replace, staging: folder });
  });

  const NO_PLACES = ['', '/', '/etc', '.dirspace', '.dirspace/trash/x', 'a\0b', 'a/b\0'];
  const NO_PRIVATE = [
    'x/.dirspace/trash/01234567',
    `.dirspace/trash/${ID}/x`,
    '.dirspace/trash/0123456',
    `.dirspace/trash/${'a'.repeat(65)}`,
    '.dirspace/trash/0123456X',
    '.dirspace/locks/01234567',
    '.dirspace/trash/01234567.tables',
    '.dirspace/trash/01234567xtable',
    '.dirspace/trash/',
  ];
  const forged: readonly (readonly [object, RegExp])[] = [
    ...NO_PLACES.map((place) => [{ ...drop, place }, /names other folders/] as const),
    ...[...NO_PRIVATE, 'a', ''].map(
      (trash) => [{ ...drop, trash }, /names other folders/] as const,
    ),
    ...[...NO_PLACES, '.dirspace/trash/0123456', '.dirspace/locks/01234567'].map(
      (staging) => [{ ...replace, staging }, /names other folders/] as const,
    ),
    ...[undefined, null, 7, ['a'], {}].map(
      (staging) => [{ ...replace, staging }, /names other folders/] as const,
    ),
    [{ ...drop, kind: 'erase' }, /kind is erase/],
    [{ ...drop, kind: '' }, /kind is \./],
    [{ ...drop, kind: undefined }, /kind is missing/],
    [{ ...drop, place: undefined }, /place is missing/],
    [{ ...drop, trash: 7 }, /trash is 7/],
    [{ place: 'a' }, /kind is missing/],
  ];
  test.each(forged)('%j is forged', (document, message) => {
    const failure = expect.objectContaining({
      code: 'Corrupt',
      message: expect.stringMatching(message),
      details: { file: 'i' },
    });
    expect(() => decode(document)).toThrow(failure);
  });
});

test('a namespace gives way to none whose folder lost its marker', async () => {
  const fs = memoryFs();
  const look = fs.lstatSync as (...args: unknown[]) => unknown;
  let hidden = false;
  const lstatSync = (...args: unknown[]): unknown =>
    hidden && String(args[0]).endsWith('/.namespace.pending') ? undefined : look(...args);
  const disk = { ...fs, lstatSync } as FileSystem;
  const catalog = await openDirectoryNamespace({ root: '/c', fs: disk });
  await catalog.createNamespace({ id: ['n'], properties: { is: 'old' } });
  hidden = true;
  const replacing = { id: ['n'], mode: 'overwrite', properties: { is: 'new' } };
  await expect(catalog.createNamespace(replacing)).rejects.toMatchObject({
    code: 'ConcurrentModification',
  });
  hidden = false;
  expect(await catalog.describeNamespace({ id: ['n'] })).toMatchObject({
    properties: { is: 'old' },
  });
  expect(fs.readdirSync('/c/.dirspace/staging')).toEqual([]);
  await catalog.createNamespace(replacing);
  expect(await catalog.describeNamespace({ id: ['n'] })).toMatchObject({
    properties: { is: 'new' },
  });
});
