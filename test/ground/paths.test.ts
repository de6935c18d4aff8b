/** Every name on disk: build and parse are inverses, also where the disk folds case. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  chunkFile,
  decodeRef,
  deletedRunFile,
  deletionFile,
  dropName,
  dropNumber,
  encodeRef,
  fragmentFile,
  isObject,
  isRowsFolder,
  isStagedManifest,
  journalFile,
  lastName,
  NameCodec,
  parseDeletedRun,
  parseJournalFile,
  parseTagFile,
  parseTrashRecord,
  parseVersionFile,
  parseWriter,
  stagedManifestFile,
  tagFile,
  trashRecordFile,
  versionFile,
  writerFile,
} from '../../src/paths.ts';
import { SPECIAL_NAMES, shortNames } from '../helpers/names.ts';

const legal = fc.stringMatching(/^[A-Za-z0-9_.-]{1,60}$/);
const NAMES = [...shortNames(), ...SPECIAL_NAMES, 'a'.repeat(200)];

describe.each([false, true])('names where foldsCase is %s', (foldsCase) => {
  const codec = new NameCodec(foldsCase);
  const roundTrip = (name: string): string[] => {
    const folders: string[] = [];
    for (const atRoot of [true, false]) {
      for (const kind of ['namespace', 'table'] as const) {
        const folder = codec.encode(name, kind, atRoot);
        const back = codec.decode(folder, atRoot);
        const sound =
          back?.kind === kind &&
          back.name === name &&
          /^[A-Za-z0-9_%-][A-Za-z0-9_.%-]*$/.test(folder) &&
          !folder.endsWith('.') &&
          !/^(con|prn|aux|nul|conin|conout|com[0-9]|lpt[0-9])(\.|$)/i.test(folder) &&
          !(kind === 'namespace' && atRoot && folder === 'data') &&
          folder.endsWith('.table') === (kind === 'table');
        if (!sound) expect.fail(`${kind} ${name} at root ${atRoot}: ${folder}`);
        folders.push(folder);
      }
    }
    return folders;
  };

  test('every short name, device and special name comes back', () => {
    const seen = new Map<string, string>();
    for (const name of NAMES) {
      for (const [at, folder] of roundTrip(name).entries()) {
        const key = `${at} ${foldsCase ? folder.toLowerCase() : folder}`;
        if ((seen.get(key) ?? name) !== name) expect.fail(`${name} and ${seen.get(key)}: ${key}`);
        seen.set(key, name);
      }
    }
  });

  test('random names come back, and none collide', () => {
    fc.assert(
      fc.property(fc.uniqueArray(legal, { minLength: 2, maxLength: 8 }), (names) => {
        const folders = names.map((name) => roundTrip(name)[0] ?? '');
        const folded = folders.map((folder) => (foldsCase ? folder.toLowerCase() : folder));
        expect(new Set(folded).size).toBe(names.length);
      }),
      { numRuns: 500 },
    );
  });

  test('a folder that does not encode to itself is not ours', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9_.%-]{1,20}$/), fc.boolean(), (folder, atRoot) => {
        const found = codec.decode(folder, atRoot);
        if (found !== undefined) {
          expect(codec.encode(found.name, found.kind, atRoot)).toBe(folder);
        }
      }),
      { numRuns: 2000 },
    );
    for (const folder of [
      '%61',
      '%2E',
      'a%',
      'a%2',
      '%zz',
      '.',
      '..',
      '.a',
      'a.',
      '',
      'con',
      'a b',
    ]) {
      expect(codec.decode(folder, false), folder).toBeUndefined();
    }
    expect(codec.decode('data', true)).toBeUndefined();
  });

  test('names too long for the disk are refused', () => {
    const fitting = foldsCase ? 80 : 240;
    expect(codec.encode('A'.repeat(fitting), 'namespace', false)).toHaveLength(240);
    expect(() => codec.encode('A'.repeat(fitting + 1), 'namespace', false)).toThrow(/bytes/);
    expect(() => codec.encode('A'.repeat(fitting), 'table', false)).toThrow(/bytes/);
  });
});

test('tags and branches: names come back; capitals never collide', () => {
  const seen = new Map<string, string>();
  for (const name of [...shortNames(), 'x'.repeat(200)]) {
    if (name.startsWith('.')) {
      expect(() => encodeRef(name)).toThrow();
      continue;
    }
    const encoded = encodeRef(name);
    expect(decodeRef(encoded)).toBe(name);
    expect(seen.get(encoded.toLowerCase()) ?? name).toBe(name);
    seen.set(encoded.toLowerCase(), name);
  }
  for (const name of ['', '..', 'a/b', 'a b', 'é', 'x'.repeat(201), '%41']) {
    expect(() => encodeRef(name)).toThrow();
  }
  for (const folder of ['A', '%61', '%2e', '.a', '%', 'a b', '']) {
    expect(decodeRef(folder), folder).toBeUndefined();
  }
});

test('version files and deleted runs come back', () => {
  for (const version of [0, 1, 9, 10, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
    const file = versionFile('f', version);
    expect(parseVersionFile(file.slice(2))).toBe(version);
    const run = deletedRunFile('f', version, Number.MAX_SAFE_INTEGER).slice(2);
    expect(parseDeletedRun(run)).toEqual({ first: version, last: Number.MAX_SAFE_INTEGER });
  }
  for (const name of [
    '1.json',
    `${'9'.repeat(20)}.json`,
    'latest.json',
    `x${'0'.repeat(20)}.json`,
  ]) {
    expect(parseVersionFile(name)).toBeUndefined();
  }
  expect(parseDeletedRun(`deleted-${'0'.repeat(20)}.json`)).toBeUndefined();
  expect(isStagedManifest(stagedManifestFile('f', 'a-1.b').slice(2))).toBe(true);
  for (const name of ['staged-.json', 'staged-a/b.json', 'staged-A.json', '.tmp-staged-a.json']) {
    expect(isStagedManifest(name), name).toBe(false);
  }
});

test('objects are told from what others keep in their folders', () => {
  const uuid = '0b5f3c1e-8a2d-4f6b-9c7e-1a2b3c4d5e6f';
  const name = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
  const [fragment, deletion, chunk] = [fragmentFile, deletionFile, chunkFile].map((file) =>
    name(file('t', uuid)),
  ) as [string, string, string];
  expect(isObject('data', fragment)).toBe(true);
  expect(isObject('deletions', deletion)).toBe(true);
  expect(isObject('chunks', chunk)).toBe(true);
  expect(isObject('data', chunk)).toBe(false);
  expect(isObject('deletions', chunk)).toBe(false);
  expect(isObject('chunks', fragment)).toBe(false);
  for (const other of [`${uuid}.lance`, `x${uuid}.arrow`, `${uuid}.arrow.bak`, 'a.arrow', uuid]) {
    expect(isObject('data', other), other).toBe(false);
  }
});

describe('a name that is made of something tells it again, and other names tell nothing', () => {
  const uuid = '01234567-89ab-4cde-8f01-23456789abcd';
  const mark = { id: uuid, scope: '0a1b2c3d', pid: 4_242, start: 1_700_000 };

  test('of tags, trash records and journals', () => {
    expect(parseTagFile(lastName(tagFile('t.table', 'First')))).toBe('First');
    expect(parseTagFile('First')).toBeUndefined();
    expect(parseTrashRecord(trashRecordFile(uuid))).toBe(uuid);
    expect(parseTrashRecord(uuid)).toBeUndefined();
    expect(parseJournalFile(lastName(journalFile(uuid)))).toBe(uuid);
    expect(parseJournalFile(`${uuid}.json`)).toBeUndefined();
  });

  test('of drops, by the folder or by its record', () => {
    const name = dropName(17, uuid);
    expect([name, trashRecordFile(name), uuid].map(dropNumber)).toEqual([17, 17, 0]);
  });

  test('of writers', () => {
    expect(parseWriter(lastName(writerFile('t.table', mark)))).toEqual(mark);
    for (const other of [`.tmp-${uuid}`, `.tmp-writer-${uuid}`, `${uuid}.arrow`])
      expect(parseWriter(other)).toBeUndefined();
  });

  test('of folders that hold rows', () => {
    expect(['data', 'deletions', 'chunks', 'tags'].map(isRowsFolder)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('the table that lies in a folder', () => {
  const names = new NameCodec(false);
  test.each([
    [['user']],
    [['prod', 'user']],
    [['prod', 'search', 'user']],
    [['data', 'user']],
    [['prod', 'a.table', 'user']],
    [['prod', '.x.']],
  ])('%j', (id) => {
    expect(names.tableIdAt(names.tableFolder(id))).toEqual(id);
  });
  test.each([
    'data',
    'user.table',
    'prod/user',
    'data/a/user.table',
    'prod/%/user.table',
    'prod/%zz.table',
    '.dirspace/staging/1f/user.table',
    '',
  ])('%j is the folder of none', (folder) => {
    expect(names.tableIdAt(folder)).toBeUndefined();
  });
});
