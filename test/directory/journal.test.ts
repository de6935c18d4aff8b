/** Journals of batches: what is done and undone by them, and which of those found are believed. */
import { beforeEach, describe, expect, test } from 'vitest';
import {
  decodeJournal,
  finishJournal,
  finishJournals,
  hasJournal,
  type Journal,
  writeJournal,
} from '../../src/directory/catalog/journal.ts';
import { listTrash } from '../../src/directory/catalog/trash.ts';
import { encodeTable } from '../../src/format/catalog/records.ts';
import { encodeChecksummed } from '../../src/json.ts';
import { reservedFolder } from '../../src/paths.ts';
import type { TableBranch } from '../../src/table/versions/head.ts';
import {
  decideMultiTable,
  multiTableDecision,
} from '../../src/table/versions/multi-table-commit.ts';
import { listedVersions } from '../../src/table/versions/version-files.ts';
import { declared, land, ROOT, type TestEngine, testEngine } from '../helpers/engines.ts';

const BATCH = '0000abcd-0000';
const FILE = `.dirspace/transactions/${BATCH}.journal.json`;
const HOUR = 3_600_000;
const PLACE = '.dirspace/detached/0000abcd-0001.table';

let one: TestEngine;
let kept: TableBranch;
let made: TableBranch;
let left: TableBranch;
let journal: Journal;

/** `kept` loses versions, `made` was declared by the batch, `left` is to be deregistered. */
beforeEach(async () => {
  one = testEngine();
  await one.catalog.prepareRoot();
  kept = await declared(one, 'data/kept.table', '11111111-0001');
  made = await declared(one, 'data/made.table', '11111111-0002');
  left = await declared(one, 'data/left.table', '11111111-0003');
  for (let version = 1; version <= 4; version++) await land(one, kept);
  await land(one, left);
  journal = {
    batch: BATCH,
    declares: [{ folder: made.tableFolder, incarnation: made.incarnation }],
    deletions: [{ branch: kept, versions: [1, 2] }],
    deregisters: [{ folder: left.tableFolder, incarnation: left.incarnation, place: PLACE }],
  };
});

const exists = (path: string): boolean => one.fs.existsSync(`${ROOT}/${path}`);
const state = async () => ({
  kept: await listedVersions(one.engine, kept),
  made: exists(made.tableFolder),
  left: exists(left.tableFolder),
  detached: exists(PLACE),
  journal: exists(FILE),
  trash: one.fs.readdirSync(`${ROOT}/.dirspace/trash`),
});
const BEFORE = {
  kept: [1, 2, 3, 4],
  made: true,
  left: true,
  detached: false,
  journal: true,
  trash: [],
};
const COMMITTED = { ...BEFORE, kept: [1, 3, 4], left: false, detached: true, journal: false };
const ABORTED = { ...BEFORE, made: false, journal: false };

/** Sets the age of the journal, in milliseconds. */
const aged = (age: number): void => {
  one.calls.head = async (run, file) => {
    const head = await run(file);
    if (file !== FILE || head === undefined) return head;
    return { ...head, modified: one.clock.time - age };
  };
};

test('a journal comes back as it was written, without what else its parts held', async () => {
  expect(await hasJournal(one.catalog, BATCH)).toBe(false);
  const synced: (readonly string[])[] = [];
  one.calls.syncFolders = (run, folders) => {
    synced.push(folders);
    return run(folders);
  };
  const more = { kind: 'declare', target: 'x' };
  await writeJournal(one.catalog, {
    batch: BATCH,
    declares: journal.declares.map((item) => ({ ...item, ...more })),
    deletions: journal.deletions.map((item) => ({ ...item, ...more })),
    deregisters: journal.deregisters.map((item) => ({ ...item, ...more })),
  });
  expect(synced).toEqual([['.dirspace/transactions']]);
  expect(await hasJournal(one.catalog, BATCH)).toBe(true);
  expect(await hasJournal(one.catalog, '0000abcd-0009')).toBe(false);
  const bytes = one.fs.readFileSync(`${ROOT}/${FILE}`) as Uint8Array;
  expect(decodeJournal(bytes, FILE)).toEqual(journal);
  expect(Buffer.from(bytes)).toEqual(Buffer.from(encodeChecksummed({ format: 1, journal }).bytes));
});

describe('one journal', () => {
  beforeEach(() => writeJournal(one.catalog, journal));

  test('undecided: nothing is done', async () => {
    await finishJournal(one.catalog, journal);
    expect(await state()).toEqual(BEFORE);
  });

  test.each([1, 2])('committed: done, %i times', async (times) => {
    await decideMultiTable(one.engine, BATCH, 'committed');
    for (let time = 0; time < times; time++) await finishJournal(one.catalog, journal);
    expect(await state()).toEqual(COMMITTED);
  });

  test.each([1, 2])('aborted: undone, %i times', async (times) => {
    await decideMultiTable(one.engine, BATCH, 'aborted');
    for (let time = 0; time < times; time++) await finishJournal(one.catalog, journal);
    expect(await state()).toEqual(ABORTED);
  });

  test('committed: what is gone by then is not deleted again', async () => {
    await decideMultiTable(one.engine, BATCH, 'committed');
    await one.engine.store.delete(`${kept.folder}/${'1'.padStart(20, '0')}.json`);
    await finishJournal(one.catalog, journal);
    expect((await state()).kept).toEqual([2, 3, 4]);
    expect(one.fs.readdirSync(`${ROOT}/${kept.folder}`)).not.toContain(
      `deleted-${'1'.padStart(20, '0')}-${'2'.padStart(20, '0')}.json`,
    );
  });

  test.each(['committed', 'aborted'] as const)(
    '%s: another table by then in the place of one stays',
    async (decision) => {
      await decideMultiTable(one.engine, BATCH, decision);
      for (const { tableFolder } of [made, left]) {
        one.fs.rmSync(`${ROOT}/${tableFolder}`, { recursive: true });
        await declared(one, tableFolder, '22222222-0000');
      }
      await finishJournal(one.catalog, journal);
      expect(await state()).toMatchObject({ made: true, left: true, detached: false });
    },
  );

  test.each(['committed', 'aborted'] as const)('%s: tables that are gone are none', async (how) => {
    await decideMultiTable(one.engine, BATCH, how);
    one.fs.rmSync(`${ROOT}/${made.tableFolder}`, { recursive: true });
    one.fs.rmSync(`${ROOT}/${left.tableFolder}`, { recursive: true });
    await finishJournal(one.catalog, journal);
    expect(await state()).toMatchObject({ made: false, left: false, journal: false });
  });

  test('aborted: a declared table that was given data stays', async () => {
    await decideMultiTable(one.engine, BATCH, 'aborted');
    await land(one, made, 'create');
    await finishJournal(one.catalog, journal);
    expect(await state()).toEqual({ ...BEFORE, journal: false });
  });
});

describe('a declared table that is taken back, beside somebody else', () => {
  beforeEach(async () => {
    await writeJournal(one.catalog, journal);
    await decideMultiTable(one.engine, BATCH, 'aborted');
  });
  const detached = (): string[] => one.fs.readdirSync(`${ROOT}/.dirspace/detached`) as string[];
  /** Runs right before the table is moved away. */
  const meanwhile = (meddle: () => Promise<unknown>): void => {
    one.calls.moveFolder = async (run, from, to) => {
      one.calls.moveFolder = undefined;
      await meddle();
      return run(from, to);
    };
  };
  const two = () => testEngine({ fs: one.fs, firstId: 900 });

  test('who moved it away: nothing is left to do', async () => {
    meanwhile(async () =>
      one.fs.renameSync(`${ROOT}/${made.tableFolder}`, `${ROOT}/data/new.table`),
    );
    await finishJournal(one.catalog, journal);
    expect(await state()).toEqual({ ...BEFORE, made: false, journal: false });
    expect([exists('data/new.table'), detached()]).toEqual([true, []]);
  });

  test('who gave it data: it goes back', async () => {
    meanwhile(() => land(two(), made, 'create'));
    await finishJournal(one.catalog, journal);
    expect(await state()).toEqual({ ...BEFORE, journal: false });
    expect(await listedVersions(two().engine, made)).toEqual([1]);
    expect(detached()).toEqual([]);
  });

  test('who removed its record: what is left goes back', async () => {
    meanwhile(async () => one.fs.unlinkSync(`${ROOT}/${made.tableFolder}/.table.json`));
    await finishJournal(one.catalog, journal);
    expect(await state()).toEqual({ ...BEFORE, journal: false });
    expect(detached()).toEqual([]);
  });

  describe('with a place where others write', () => {
    const location = reservedFolder('11111111-0002');
    beforeEach(() => {
      const record = { id: made.incarnation, createdAt: 1, properties: {}, location };
      one.fs.writeFileSync(`${ROOT}/${made.tableFolder}/.table.json`, encodeTable(record));
    });

    test('unused: it is gone, and the place is closed', async () => {
      await finishJournal(one.catalog, journal);
      expect(await state()).toEqual(ABORTED);
      expect(one.fs.statSync(`${ROOT}/${location}`).isFile()).toBe(true);
      expect(detached()).toEqual([]);
    });

    test('who wrote there: it goes back', async () => {
      one.fs.mkdirSync(`${ROOT}/${location}/data`, { recursive: true });
      one.fs.writeFileSync(`${ROOT}/${location}/data/a.lance`, 'rows');
      await finishJournal(one.catalog, journal);
      expect(await state()).toEqual({ ...BEFORE, journal: false });
      expect(exists(`${location}/data/a.lance`)).toBe(true);
      expect(detached()).toEqual([]);
    });
  });

  test('who put another one in its place: that goes back', async () => {
    meanwhile(async () => {
      one.fs.rmSync(`${ROOT}/${made.tableFolder}`, { recursive: true });
      await declared(two(), made.tableFolder, '22222222-0000');
    });
    await finishJournal(one.catalog, journal);
    expect(await state()).toEqual({ ...BEFORE, journal: false });
    const record = one.fs.readFileSync(`${ROOT}/${made.tableFolder}/.table.json`, 'utf8');
    expect(record).toContain('22222222-0000');
    expect(detached()).toEqual([]);
  });
});

describe('journals that an opener finds', () => {
  test('a table that lies where no table does is deregistered without an id', async () => {
    const odd = await declared(one, 'data/odd', '11111111-0004');
    const deregisters = [{ folder: 'data/odd', incarnation: odd.incarnation, place: PLACE }];
    await writeJournal(one.catalog, { batch: BATCH, declares: [], deletions: [], deregisters });
    await decideMultiTable(one.engine, BATCH, 'committed');
    await finishJournals(one.catalog);
    expect([exists('data/odd'), exists(PLACE), exists(FILE)]).toEqual([false, true, false]);
    const { entries } = await listTrash(one.catalog, { detached: true });
    expect(entries).toMatchObject([{ id: [], location: `${ROOT}/${PLACE}` }]);
  });

  test('none where there is no folder for them', async () => {
    one.fs.rmSync(`${ROOT}/.dirspace/transactions`, { recursive: true });
    await finishJournals(one.catalog);
    expect(exists('.dirspace/transactions')).toBe(false);
  });

  test('undecided and young: left to its process', async () => {
    await writeJournal(one.catalog, journal);
    aged(HOUR - 1);
    await finishJournals(one.catalog);
    expect(await state()).toEqual(BEFORE);
    expect(await multiTableDecision(one.engine, BATCH)).toBeUndefined();
  });

  test('undecided for an hour: aborted and undone', async () => {
    await writeJournal(one.catalog, journal);
    aged(HOUR);
    await finishJournals(one.catalog);
    expect(await state()).toEqual(ABORTED);
    expect(await multiTableDecision(one.engine, BATCH)).toBe('aborted');
  });

  test('undecided and gone at the look: as if it were old', async () => {
    await writeJournal(one.catalog, journal);
    one.calls.head = (run, file) => (file === FILE ? undefined : run(file));
    await finishJournals(one.catalog);
    expect(await multiTableDecision(one.engine, BATCH)).toBe('aborted');
  });

  test.each([
    ['committed', COMMITTED],
    ['aborted', ABORTED],
  ] as const)('%s: finished at any age', async (decision, after) => {
    await writeJournal(one.catalog, journal);
    await decideMultiTable(one.engine, BATCH, decision);
    aged(0);
    await finishJournals(one.catalog);
    expect(await state()).toEqual(after);
    expect(await multiTableDecision(one.engine, BATCH)).toBe(decision);
  });

  test('all of them, past what is none or was cut short', async () => {
    const folder = `${ROOT}/.dirspace/transactions`;
    const other = { ...journal, batch: '0000abcd-0001', declares: [], deletions: [] };
    await writeJournal(one.catalog, { ...journal, deregisters: [] });
    await writeJournal(one.catalog, other);
    await decideMultiTable(one.engine, BATCH, 'committed');
    await decideMultiTable(one.engine, other.batch, 'committed');
    const bytes = one.fs.readFileSync(`${ROOT}/${FILE}`) as Uint8Array;
    one.fs.writeFileSync(`${folder}/00.journal.json`, bytes.subarray(0, -1));
    one.fs.writeFileSync(`${folder}/01.journal.json`, '');
    one.fs.writeFileSync(`${folder}/02.journal.jsonx`, 'x\n');
    one.fs.mkdirSync(`${folder}/03.journal.json`);
    one.fs.writeFileSync(`${folder}/04.journal.json`, bytes);
    one.calls.get = (run, file) => (file.endsWith('04.journal.json') ? undefined : run(file));
    await finishJournals(one.catalog);
    expect(await state()).toEqual({ ...COMMITTED, journal: false });
    expect(await hasJournal(one.catalog, other.batch)).toBe(false);
    expect((one.fs.readdirSync(folder) as string[]).filter((name) => /^0\d\./.test(name))).toEqual([
      '00.journal.json',
      '01.journal.json',
      '02.journal.jsonx',
      '03.journal.json',
      '04.journal.json',
    ]);
  });
});

describe('what a journal may say', () => {
  const decode = (document: object): unknown =>
    decodeJournal(encodeChecksummed({ ...document }).bytes, 'j');
  const branch = { tableFolder: 'a', incarnation: 'b', branch: 'c', folder: 'd' };
  const whole = {
    batch: BATCH,
    declares: [{ folder: 'a', incarnation: 'b' }],
    deletions: [{ branch, versions: [1, 2] }],
    deregisters: [{ folder: 'a', incarnation: 'b', place: 'c' }],
  };

  test('all of it', () => {
    expect(decode({ format: 1, journal: whole })).toEqual(whole);
  });

  test.each<[object, RegExp]>([
    [{ format: 1 }, /journal is not an object/],
    [{ format: 1, journal: [] }, /journal is not an object/],
    [{ format: 1, journal: { ...whole, batch: 7 } }, /batch is 7/],
    [{ format: 1, journal: { ...whole, declares: {} } }, /declares is \{\}/],
    [{ format: 1, journal: { ...whole, declares: [7] } }, /declares is not an object/],
    [{ format: 1, journal: { ...whole, declares: [{ folder: 'a' }] } }, /incarnation is missing/],
    [{ format: 1, journal: { ...whole, declares: [{ incarnation: 'a' }] } }, /folder is missing/],
    [{ format: 1, journal: { ...whole, deletions: 7 } }, /deletions is 7/],
    [{ format: 1, journal: { ...whole, deletions: [null] } }, /deletions is not an object/],
    [
      { format: 1, journal: { ...whole, deletions: [{ versions: [] }] } },
      /branch is not an object/,
    ],
    [{ format: 1, journal: { ...whole, deletions: [{ branch }] } }, /versions is missing/],
    [
      { format: 1, journal: { ...whole, deletions: [{ branch, versions: ['1'] }] } },
      /version is "1", not a whole number/,
    ],
    ...Object.keys(branch).map((name): [object, RegExp] => [
      {
        format: 1,
        journal: {
          ...whole,
          deletions: [{ branch: { ...branch, [name]: undefined }, versions: [] }],
        },
      },
      new RegExp(`${name} is missing`),
    ]),
    [{ format: 1, journal: { ...whole, deregisters: '' } }, /deregisters is ""/],
    [{ format: 1, journal: { ...whole, deregisters: [''] } }, /deregisters is not an object/],
    ...['folder', 'incarnation', 'place'].map((name): [object, RegExp] => [
      {
        format: 1,
        journal: { ...whole, deregisters: [{ ...whole.deregisters[0], [name]: undefined }] },
      },
      new RegExp(`${name} is missing`),
    ]),
    [{ journal: whole }, /format is missing/],
  ])('%j is damaged', (document, message) => {
    const failure = expect.objectContaining({
      code: 'Corrupt',
      message: expect.stringMatching(message),
      details: { file: 'j' },
    });
    expect(() => decode(document)).toThrow(failure);
  });

  test('a newer format is refused as such', () => {
    expect(() => decode({ format: 2, journal: whole })).toThrow(
      expect.objectContaining({ code: 'UnsupportedFormat' }),
    );
  });

  test('one that is whole and damaged stops the opener', async () => {
    one.fs.writeFileSync(`${ROOT}/${FILE}`, 'x\n');
    await expect(finishJournals(one.catalog)).rejects.toMatchObject({ code: 'Corrupt' });
  });
});
