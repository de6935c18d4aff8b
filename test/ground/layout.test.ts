/** The layout on disk, as it is written down: a catalog made by any release has these very names. */
import { describe, expect, test } from 'vitest';
import * as lancePaths from '../../src/lance-paths.ts';
import * as paths from '../../src/paths.ts';

const { NameCodec } = paths;
const plain = () => new NameCodec(false);
const folding = () => new NameCodec(true);

/** Its code and message, or what came of it. */
function outcome(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`;
  }
}

test('what an engine keeps for itself', () => {
  expect([
    paths.PRIVATE_FOLDER,
    paths.FORMAT_FILE,
    paths.STAGING_FOLDER,
    paths.TRASH_FOLDER,
    paths.DETACHED_FOLDER,
    paths.INTENTS_FOLDER,
    paths.TRANSACTIONS_FOLDER,
    paths.NAMESPACE_FILE,
    paths.TABLE_FILE,
    paths.MAIN_BRANCH,
  ]).toEqual([
    '.dirspace',
    '.dirspace/format.json',
    '.dirspace/staging',
    '.dirspace/trash',
    '.dirspace/detached',
    '.dirspace/intents',
    '.dirspace/transactions',
    '.namespace.json',
    '.table.json',
    'main',
  ]);
});

test('namespaces and tables', () => {
  const codec = plain();
  expect(codec.namespaceFolder([])).toBe('');
  expect(codec.namespaceFolder(['prod'])).toBe('prod');
  expect(codec.namespaceFolder(['prod', 'search'])).toBe('prod/search');
  expect(codec.namespaceFolder(['data', 'data'])).toBe('%64ata/data');
  expect(codec.tablesFolder([])).toBe('data');
  expect(codec.tablesFolder(['prod'])).toBe('prod');
  expect(codec.tableFolder(['user'])).toBe('data/user.table');
  expect(codec.tableFolder(['data'])).toBe('data/data.table');
  expect(codec.tableFolder(['prod', 'search', 'user'])).toBe('prod/search/user.table');
});

test('the files of a table', () => {
  const t = 'data/t.table';
  expect([
    paths.versionsFolder(t, '1111', 'main'),
    paths.versionsFolder(t, '1111', 'draft'),
    paths.branchesFolder(t),
    paths.branchFolder(t, 'Draft'),
    paths.branchFile(t, 'draft'),
    paths.tagsFolder(t),
    paths.tagFile(t, 'V1'),
    paths.versionFile('f', 3),
    paths.latestFile('f'),
    paths.deletedRunFile('f', 3, 14),
    paths.fragmentFile(t, 'abc'),
    paths.deletionFile(t, 'abc'),
    paths.chunkFile(t, 'abc'),
    paths.stagedManifestFile('f', 'abc'),
  ]).toEqual([
    'data/t.table/versions-1111',
    'data/t.table/branches/draft/versions-1111',
    'data/t.table/branches',
    'data/t.table/branches/%44raft',
    'data/t.table/branches/draft/branch.json',
    'data/t.table/tags',
    'data/t.table/tags/%561.json',
    'f/00000000000000000003.json',
    'f/latest.json',
    'f/deleted-00000000000000000003-00000000000000000014.json',
    'data/t.table/data/abc.arrow',
    'data/t.table/deletions/abc.arrow',
    'data/t.table/chunks/abc.json',
    'f/staged-abc.json',
  ]);
});

test('parents and children', () => {
  expect(['', 'abc', 'a/b', 'a/b/c', '/a'].map(paths.parentFolder)).toEqual([
    '',
    '',
    'a',
    'a/b',
    '',
  ]);
  expect(paths.joinPath('', 'b')).toBe('b');
  expect(paths.joinPath('a', 'b')).toBe('a/b');
});

describe('one component', () => {
  test.each<[string, 'namespace' | 'table', boolean, string]>([
    ['a', 'namespace', false, 'a'],
    ['a', 'table', false, 'a.table'],
    ['data', 'namespace', true, '%64ata'],
    ['data', 'namespace', false, 'data'],
    ['data', 'table', true, 'data.table'],
    ['data', 'table', false, 'data.table'],
    ['datas', 'namespace', true, 'datas'],
    ['a.table', 'namespace', false, 'a%2etable'],
    ['a.table', 'table', false, 'a.table.table'],
    ['a.tables', 'namespace', false, 'a.tables'],
    ['.', 'namespace', false, '%2e'],
    ['..', 'namespace', false, '%2e%2e'],
    ['.a', 'table', false, '%2ea.table'],
    ['a.', 'table', false, 'a%2e.table'],
    ['a.b', 'namespace', false, 'a.b'],
    ['con', 'namespace', false, '%63on'],
    ['CON', 'namespace', false, '%43ON'],
    ['con.x', 'table', false, '%63on.x.table'],
    ['lpt9', 'table', true, '%6cpt9.table'],
    ['xcon', 'namespace', false, 'xcon'],
    ['cond', 'namespace', false, 'cond'],
    ['com', 'namespace', false, 'com'],
    ['com10', 'namespace', false, 'com10'],
    ['Ab', 'namespace', false, 'Ab'],
  ])('%s, a %s, at the root %s: %s', (name, kind, atRoot, folder) => {
    expect(plain().encode(name, kind, atRoot)).toBe(folder);
    expect(plain().decode(folder, atRoot)).toEqual({ kind, name });
  });

  test.each([
    ['Ab', '%41b.table'],
    ['CON', '%43%4f%4e.table'],
    ['a.B', 'a.%42.table'],
  ])('%s where case folds: %s', (name, folder) => {
    expect(folding().encode(name, 'table', false)).toBe(folder);
    expect(folding().decode(folder, false)).toEqual({ kind: 'table', name });
  });

  test.each([
    'con',
    'con.table',
    'conout',
    'conout.table',
    'CON.table',
    'con.x.table',
    '.table',
    '..table',
    'a%2e%2etable',
    '%61.table',
    'a b.table',
    'é',
    'a\n',
    '\na',
    'a%',
    'a%2',
    '%zz',
    '%C3',
    'ab%2f',
  ])('the folder %j is not ours', (folder) => {
    expect(plain().decode(folder, false)).toBeUndefined();
  });

  test('capitals are not ours where case folds', () => {
    for (const folder of ['Ab', 'Ab.table', 'abcdefgH', `a${'B'.repeat(200)}`]) {
      expect(folding().decode(folder, false)).toBeUndefined();
    }
  });

  test('a name too long for a table names no table folder', () => {
    expect(plain().possibleTableFolder(['n', 'a'.repeat(234)])).toBe(`n/${'a'.repeat(234)}.table`);
    expect(plain().possibleTableFolder(['n', 'a'.repeat(235)])).toBeUndefined();
  });

  test('a folder name of 240 bytes is the longest written, and read', () => {
    const long = (length: number, last = 'Z') => 'a'.repeat(length - 1) + last;
    for (const [kind, length] of [
      ['namespace', 240],
      ['table', 234],
    ] as const) {
      for (const last of ['a', 'Z', '-']) {
        const folder = plain().encode(long(length, last), kind, false);
        expect(folder).toHaveLength(240);
        expect(plain().decode(folder, false)).toEqual({ kind, name: long(length, last) });
      }
      expect(outcome(() => plain().encode(long(length + 1), kind, false))).toBe(
        `InvalidInput: The ${kind} name ${'a'.repeat(40)}... needs 241 bytes on disk; at most 240 are allowed. Choose a shorter name.`,
      );
    }
    // Somebody else's folder beside ours: a list of them must not end with an error.
    for (const folder of [
      'a'.repeat(241),
      `${'a'.repeat(235)}.table`,
      `${'Z'.repeat(249)}.table`,
    ]) {
      expect(plain().decode(folder, false)).toBeUndefined();
      expect(folding().decode(folder, false)).toBeUndefined();
    }
  });
});

describe('files', () => {
  test('versions', () => {
    const name = `${'0'.repeat(19)}7.json`;
    expect(paths.parseVersionFile(name)).toBe(7);
    for (const other of [`x${name}`, `${name}x`, `0${name}`, name.slice(1), '', 'latest.json']) {
      expect(paths.parseVersionFile(other), other).toBeUndefined();
    }
    const most = `${String(Number.MAX_SAFE_INTEGER).padStart(20, '0')}.json`;
    expect(paths.parseVersionFile(most)).toBe(Number.MAX_SAFE_INTEGER);
    expect(paths.parseVersionFile('00009007199254740992.json')).toBeUndefined();
  });

  test('deleted runs', () => {
    const name = paths.deletedRunFile('f', 7, 12).slice(2);
    expect(paths.parseDeletedRun(name)).toEqual({ first: 7, last: 12 });
    for (const other of [`x${name}`, `${name}x`, name.replace('-0', '-'), 'deleted-7-12.json']) {
      expect(paths.parseDeletedRun(other), other).toBeUndefined();
    }
  });

  test('staged manifests and temporary files', () => {
    const long = 'a'.repeat(200);
    for (const name of ['staged-a.json', 'staged-0.-z.json', `staged-${long}.json`]) {
      expect(paths.isStagedManifest(name), name).toBe(true);
    }
    for (const name of [
      'xstaged-a.json',
      'staged-a.jsonx',
      'staged-.json',
      'staged-A.json',
      'staged-a/b.json',
      `staged-a${long}.json`,
    ]) {
      expect(paths.isStagedManifest(name), name).toBe(false);
    }
    expect(['.tmp-', '.tmp-a', 'a.tmp-', '.tmp', 'tmp-a'].map(paths.isTemporary)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

test('holds', () => {
  expect(paths.holdFile('f', 7, 'abc')).toBe('f/.tmp-hold-7-abc');
  for (const version of [1, 12, Number.MAX_SAFE_INTEGER]) {
    const name = paths.holdFile('f', version, 'abc').slice(2);
    expect(paths.parseHold(name)).toBe(version);
    expect(paths.isTemporary(name)).toBe(true);
  }
  for (const name of ['.tmp-7-abc', 'x.tmp-hold-7-abc', '.tmp-hold-x-abc', '.tmp-hold-7']) {
    expect(paths.parseHold(name)).toBeUndefined();
  }
});

describe('tags and branches', () => {
  test.each([
    ['a', 'a'],
    ['V1.0', '%561.0'],
    ['-_.', '-_.'],
    ['x'.repeat(200), 'x'.repeat(200)],
  ])('%s: %s', (name, encoded) => {
    expect(paths.encodeRef(name)).toBe(encoded);
    expect(paths.decodeRef(encoded)).toBe(name);
  });

  test.each(['', '.a', 'a/b', 'a b', 'é', 'a\n', '%41', 'x'.repeat(201)])(
    '%j is refused',
    (name) => {
      expect(outcome(() => paths.encodeRef(name))).toBe(
        `InvalidInput: The name ${JSON.stringify(name.slice(0, 80))} is not allowed for a tag or branch: use a non-empty name of at most 200 letters, digits, "_", "-" or ".", not starting with a period.`,
      );
    },
  );

  test.each(['', 'A', '%61', '%4A', '%2ea', 'a b', '%4', 'a/b'])(
    '%j is none of ours',
    (encoded) => {
      expect(paths.decodeRef(encoded)).toBeUndefined();
    },
  );
});

describe('names for Lance', () => {
  test('a manifest of a version, in a folder of its branch', () => {
    const folder = lancePaths.lanceManifestsFolder('t.table', 't.table/versions-1a');
    expect(folder).toBe('t.table/lance/versions-1a');
    const file = lancePaths.lanceManifestFile(folder, 7);
    expect(file).toBe('t.table/lance/versions-1a/00000000000000000007.manifest');
    expect(lancePaths.parseLanceManifest(paths.lastName(file))).toBe(7);
    for (const name of ['7.manifest', '00000000000000000007.json', 'x.manifest'])
      expect(lancePaths.parseLanceManifest(name)).toBeUndefined();
  });
  test('a deletion file', () => {
    const file = lancePaths.lanceDeletionFile('t.table', 3, 12345678901234567890n);
    expect(file).toBe('t.table/_deletions/3-0-12345678901234567890.arrow');
    expect(lancePaths.parseLanceDeletion(paths.lastName(file))).toBe(12345678901234567890n);
    const ofWriter = { kind: 'bitmap', readVersion: 8n, id: 5n };
    expect(lancePaths.lanceDeletionName(3, ofWriter)).toBe('3-8-5.bin');
    for (const name of [
      '3-1-5.arrow',
      '3-0-.arrow',
      '3-0-5.bin',
      '3-0-123456789012345678901.arrow',
    ])
      expect(lancePaths.parseLanceDeletion(name)).toBeUndefined();
  });
  test('folders in which its writers leave files', () => {
    const names = ['_indices', '_transactions', '_versions', 'data'];
    expect(names.filter(lancePaths.isLanceDebris)).toEqual(['_indices', '_transactions']);
  });
  test('a file that its object store is still writing', () => {
    for (const name of ['.tmp9VJEcK', '7.manifest#1', '1-a.txn#12', 'a%2Fb.json#1'])
      expect(lancePaths.isLanceTemporary(name)).toBe(true);
    for (const name of [
      '.tmp-VJEcK',
      '.tmp9VJEc',
      '.tmp9VJEcKx',
      'x.tmp9VJEcK',
      '#1',
      'x#',
      'x#1a',
      'x',
    ])
      expect(lancePaths.isLanceTemporary(name)).toBe(false);
  });
  test('what manifests call a file', () => {
    expect(paths.objectId('t.table/data/1f0e.arrow')).toBe('1f0e');
  });
  test('a folder of manifests also names what else they depend on', () => {
    const folder = lancePaths.lanceManifestsFolder('t.table', 't.table/versions-1a', 'abc');
    expect(folder).toBe('t.table/lance/versions-1a-abc');
  });

  const NEWEST = '18446744073709551615';
  const digitsOf = (value: bigint): string => String(value).padStart(20, '0');

  test('versions of a dataset, of main and of branches', () => {
    expect(lancePaths.lanceDataset('t.table', undefined)).toBe('t.table');
    const dataset = lancePaths.lanceDataset('t.table', 'draft');
    expect(dataset).toBe('t.table/tree/draft');
    const file = lancePaths.lanceVersionFile(dataset, 7);
    expect(file).toBe('t.table/tree/draft/_versions/18446744073709551608.manifest');
    expect(lancePaths.parseLanceVersionFile(paths.lastName(file))).toBe(7);
    expect(lancePaths.lanceVersionFiles('t.table', 7)).toEqual([
      't.table/_versions/18446744073709551608.manifest',
      't.table/_versions/7.manifest',
    ]);
    const most = digitsOf(2n ** 64n - 2n ** 53n);
    expect(lancePaths.parseLanceVersionFile(`${NEWEST}.manifest`)).toBe(0);
    expect(lancePaths.parseLanceVersionFile(`${most}.manifest`)).toBe(Number.MAX_SAFE_INTEGER);
    for (const name of [
      '7.manifest',
      `${NEWEST}.json`,
      `x${NEWEST}.manifest`,
      `${NEWEST}.manifest-x`,
      // Above any safe integer, and below nought.
      `${digitsOf(2n ** 64n - 1n - 2n ** 53n)}.manifest`,
      `${digitsOf(0n)}.manifest`,
      '18446744073709551616.manifest',
      '99999999999999999999.manifest',
    ]) {
      expect(lancePaths.parseLanceVersionFile(name), name).toBeUndefined();
    }
  });

  test('versions by either scheme of names', () => {
    const parsed = lancePaths.parseLanceVersionName;
    expect(parsed('18446744073709551608.manifest')).toEqual({ version: 7, scheme: 'V2' });
    expect(parsed('7.manifest')).toEqual({ version: 7, scheme: 'V1' });
    expect(parsed('9007199254740991.manifest')).toEqual({
      version: Number.MAX_SAFE_INTEGER,
      scheme: 'V1',
    });
    for (const name of [
      `${NEWEST}.manifest`,
      '0.manifest',
      '07.manifest',
      '9007199254740992.manifest',
      '12345678901234567.manifest',
      'd7.manifest',
      '7.manifest.aside-12345678',
    ]) {
      expect(parsed(name), name).toBeUndefined();
    }
  });

  test('manifests of no version of ours', () => {
    const strange = ['7.manifest', `${digitsOf(0n)}.manifest`, '99999999999999999999.manifest'];
    expect(strange.filter(lancePaths.isStrangeLanceManifest)).toEqual(strange);
    const others = [
      '18446744073709551608.manifest',
      'x.manifest',
      '.manifest',
      `0${NEWEST}.manifest`,
    ];
    expect(others.filter(lancePaths.isStrangeLanceManifest)).toEqual([]);
  });

  test('manifests that a writer has staged', () => {
    const uuid = '01234567-89ab-4cde-8f01-23456789abcd';
    const name = `18446744073709551608.manifest-${uuid}`;
    expect(lancePaths.parseStagedLanceManifest(name)).toBe(7);
    for (const other of [
      '18446744073709551608.manifest',
      `7.manifest-${uuid}`,
      `x${name}`,
      `${name}x`,
      name.toUpperCase(),
      `${digitsOf(0n)}.manifest-${uuid}`,
    ]) {
      expect(lancePaths.parseStagedLanceManifest(other), other).toBeUndefined();
    }
  });

  test('what is put aside', () => {
    const aside = lancePaths.lanceAsideFile('t.table/_versions/7.manifest', '01234567-89ab');
    expect(aside).toBe('t.table/_versions/7.manifest.aside-01234567-89ab');
    const names = [paths.lastName(aside), 'main.json.aside-01234567'];
    expect(names.filter(lancePaths.isLanceAside)).toEqual(names);
    const others = ['7.manifest', '7.txt.aside-01234567', '7.manifest.aside-0', `${names[0]}.x`];
    expect(others.filter(lancePaths.isLanceAside)).toEqual([]);
  });

  test('the table that Lance knows a catalog by', () => {
    const digest = '0123456789abcdef'.repeat(2);
    const uuid = '01234567-89ab-4cde-8f01-23456789abcd';
    const name = `${lancePaths.lanceCatalogObject(digest, uuid)}.arrow`;
    expect(lancePaths.parseLanceCatalogObject(name)).toBe(digest);
    for (const other of [
      `x${name}`,
      `${name}x`,
      name.slice(1),
      `${digest}-.arrow`,
      `${uuid}.arrow`,
    ]) {
      expect(lancePaths.parseLanceCatalogObject(other), other).toBeUndefined();
    }
  });

  test('tags and branches', () => {
    const folder = lancePaths.lanceTagsFolder('t.table');
    expect([folder, lancePaths.lanceBranchesFolder('t.table')]).toEqual([
      't.table/_refs/tags',
      't.table/_refs/branches',
    ]);
    const file = lancePaths.lanceRefFile(folder, 'v1.0');
    expect(file).toBe('t.table/_refs/tags/v1.0.json');
    expect(lancePaths.parseLanceRef(paths.lastName(file))).toBe('v1.0');
    expect(lancePaths.parseLanceRef('v1.0')).toBeUndefined();
    expect(['a', 'a.b', 'a.lock.b', 'lock', 'a-lock'].every(lancePaths.isLanceRef)).toBe(true);
    expect(['a.', 'a..b', 'a.lock'].filter(lancePaths.isLanceRef)).toEqual([]);
  });

  test('files that a writer makes, by the folder that they lie in', () => {
    expect(lancePaths.lanceWriterFolders('t.table')).toEqual([
      't.table/data',
      't.table/_versions',
      't.table/_deletions',
      't.table/_transactions',
    ]);
    const uuid = '01234567-89ab-4cde-8f01-23456789abcd';
    const made = [
      ['data', `${'a'.repeat(120)}.lance`],
      ['_versions', `18446744073709551608.manifest-${uuid}`],
      ['_versions', 'd9223372036854775808.manifest'],
      ['_versions', 'd18446744073709551615.manifest'],
      ['_versions', `d16300104219804632016.manifest-${uuid}`],
      ['_deletions', '3-1-18446744073709551615.arrow'],
      ['_deletions', '3-0-5.bin'],
      ['_transactions', `0-${uuid}.txn`],
    ] as const;
    const never = [
      ['data', `${uuid}.arrow`],
      ['data', `${'a'.repeat(121)}.lance`],
      ['data', 'a.b.lance'],
      ['_versions', '18446744073709551608.manifest'],
      ['_versions', 'd7.manifest'],
      ['_versions', 'd8223372036854775808.manifest'],
      ['_versions', 'd16300104219804632016.manifest.x'],
      ['_versions', 'xd16300104219804632016.manifest'],
      ['_transactions', 'd16300104219804632016.manifest'],
      // The engine's own.
      ['_deletions', '3-0-5.arrow'],
      ['_deletions', '3-5.bin'],
      ['_transactions', uuid],
      ['lance', 'a.lance'],
      ['tags', 'a.lance'],
      ['constructor', 'a.lance'],
    ] as const;
    const isMade = ([folder, name]: readonly [string, string]): boolean =>
      lancePaths.isLanceWriterFile(`t.table/${folder}`, name);
    expect(made.filter(isMade)).toEqual(made);
    expect(never.filter(isMade)).toEqual([]);
  });

  test('data files and transactions as writers name theirs', () => {
    const data = `${'01'.repeat(12)}${'a0'.repeat(13)}.lance`;
    expect([data, `2${data.slice(1)}`, `${data}x`].map(lancePaths.isLanceData)).toEqual([
      true,
      false,
      false,
    ]);
    expect([data, 'a_B-9.lance', '.lance', 'a.arrow'].map(lancePaths.isLanceFile)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(['a.lance', 'lance'].map(lancePaths.isLanceFragment)).toEqual([true, false]);
    const transaction = '12-01234567-89ab-4cde-8f01-23456789abcd.txn';
    expect(
      [transaction, `x${transaction}`, `${transaction}x`].map(lancePaths.isLanceTransaction),
    ).toEqual([true, false, false]);
    expect(lancePaths.lanceTransactionsFolder('t.table')).toBe('t.table/_transactions');
  });

  test('places of tables that others write', () => {
    const folder = paths.reservedFolder('01234567-89ab');
    expect(folder).toBe('.dirspace/lance/01234567-89ab');
    expect(
      [folder, `${folder}/x`, `x/${folder}`, '.dirspace/lance/../x'].map(paths.isReservedFolder),
    ).toEqual([true, false, false, false]);
  });
});
