/**
 * What an opener makes of a crash: intents at every step they can be found at, journals of batches
 * with and without a decision, and the operations themselves when somebody is beside them.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type DropOutcome,
  dropNamespaceFolder,
  finishIntents,
  isNamespaceEmpty,
  replaceFolder,
} from '../../src/directory/catalog/drop-namespace.ts';
import { type Intent, pendingIntents } from '../../src/directory/catalog/intents.ts';
import { trashEntries } from '../../src/directory/catalog/trash-entries.ts';
import { createNamespace } from '../../src/directory/operations/namespaces.ts';
import { decodeNamespace, decodeTrash, encodeNamespace } from '../../src/format/catalog/records.ts';
import { encodeChecksummed } from '../../src/json.ts';
import { filesOf } from '../helpers/catalog-files.ts';
import { outcomeOf, ROOT, type TestEngine, testEngine } from '../helpers/engines.ts';

const ID = '00000000-0000-4000-8000-00000000aaaa';
const TRASH = `.dirspace/trash/${ID}`;
const STAGING = `.dirspace/staging/${ID}`;
const INTENT = '.dirspace/intents/0.json';
const HOUR = 3_600_000;

let one: TestEngine;
beforeEach(async () => {
  one = testEngine();
  await one.catalog.prepareRoot();
});

const marker = (id: string): Uint8Array => encodeNamespace({ id, properties: {} });
const write = (file: string, bytes: Uint8Array | string = 'x'): void => {
  one.fs.mkdirSync(`${ROOT}/${file}`.replace(/\/[^/]*$/, ''), { recursive: true });
  one.fs.writeFileSync(`${ROOT}/${file}`, bytes);
};
const namespace = (folder: string): void => write(`${folder}/.namespace.json`, marker(folder));
const exists = (path: string): boolean => one.fs.existsSync(`${ROOT}/${path}`);
const read = (file: string): string => one.fs.readFileSync(`${ROOT}/${file}`, 'utf8') as string;

/** All files of the catalog. */
/** Without the marks of drops, which stay behind and say nothing but a number. */
const tree = (): string[] =>
  filesOf(one.fs, ROOT)
    .all()
    .filter((path) => !path.endsWith('/') && !path.startsWith('.dirspace/drops/'));

/** An intent that a crash left, written `age` milliseconds ago. */
function leave(intent: Intent, age = 0): void {
  write(INTENT, encodeChecksummed({ ...intent }).bytes);
  one.calls.head = async (run, file) => {
    const head = await run(file);
    if (file !== INTENT || head === undefined) return head;
    return { ...head, modified: one.clock.time - age };
  };
}

const dropping: Intent = { kind: 'drop_empty_namespace', place: 'prod/search', trash: TRASH };
const replacing: Intent = {
  kind: 'replace',
  place: 'data/t.table',
  trash: TRASH,
  staging: STAGING,
};

describe('an intent to drop an empty namespace', () => {
  test('not begun and young: left to its process', async () => {
    namespace('prod');
    namespace('prod/search');
    leave(dropping, HOUR - 1);
    await finishIntents(one.catalog);
    expect(tree()).toEqual([INTENT, 'prod/.namespace.json', 'prod/search/.namespace.json']);
  });

  test('not begun and an hour old: taken back', async () => {
    namespace('prod');
    namespace('prod/search');
    leave(dropping, HOUR);
    await finishIntents(one.catalog);
    expect(tree()).toEqual(['prod/.namespace.json', 'prod/search/.namespace.json']);
  });

  test('moved away and empty: dropped', async () => {
    namespace('prod');
    namespace(TRASH);
    write(`${TRASH}.json`, 'record');
    leave(dropping);
    await finishIntents(one.catalog);
    expect(tree()).toEqual([`${TRASH}.json`, `${TRASH}/.namespace.json`, 'prod/.namespace.json']);
  });

  test('moved away and not empty: brought back, and no record stays', async () => {
    namespace('prod');
    namespace(TRASH);
    write(`${TRASH}.json`, 'record');
    write(`${TRASH}/u.table/.table.json`);
    leave(dropping);
    await finishIntents(one.catalog);
    expect(tree()).toEqual([
      'prod/.namespace.json',
      'prod/search/.namespace.json',
      'prod/search/u.table/.table.json',
    ]);
  });

  test('its parents were dropped too, because they looked empty: they are made again', async () => {
    namespace(TRASH);
    write(`${TRASH}/u.table/.table.json`);
    leave({ ...dropping, place: 'a/b/c/d' });
    namespace('a');
    await finishIntents(one.catalog);
    expect(tree()).toEqual([
      'a/.namespace.json',
      'a/b/.namespace.json',
      'a/b/c/.namespace.json',
      'a/b/c/d/.namespace.json',
      'a/b/c/d/u.table/.table.json',
    ]);
    const ids = ['a', 'a/b', 'a/b/c'].map((folder) => {
      const bytes = one.fs.readFileSync(`${ROOT}/${folder}/.namespace.json`) as Uint8Array;
      const record = decodeNamespace(bytes, folder);
      expect(record.properties).toEqual({});
      return record.id;
    });
    expect(ids[0]).toBe('a');
    expect(new Set(ids).size).toBe(3);
  });

  test('even the first of its parents is made again', async () => {
    namespace(TRASH);
    write(`${TRASH}/u.table/.table.json`);
    leave({ ...dropping, place: 'a/b' });
    await finishIntents(one.catalog);
    expect(tree()).toEqual(['a/.namespace.json', 'a/b/.namespace.json', 'a/b/u.table/.table.json']);
  });

  test.each(['right before', 'right after'])(
    'a creator takes the name of a parent %s it is made again: one namespace stays',
    async (when) => {
      namespace(TRASH);
      write(`${TRASH}/u.table/.table.json`);
      leave({ ...dropping, place: 'a/b' });
      let creator: unknown;
      const create = async (): Promise<void> => {
        one.calls.moveFolder = undefined;
        const request = { id: ['a'], properties: { owner: 'creator' } };
        creator = await outcomeOf(createNamespace(one.catalog, request));
      };
      one.calls.moveFolder = async (run, from, to) => {
        if (to !== 'a') return run(from, to);
        // Whoever finds the folder finds its marker in it.
        expect(exists(`${from}/.namespace.json`)).toBe(true);
        if (when === 'right before') await create();
        const outcome = await run(from, to);
        if (when === 'right after') await create();
        return outcome;
      };
      await finishIntents(one.catalog);
      const won = when === 'right before';
      expect(creator).toMatchObject(
        won ? { value: { properties: { owner: 'creator' } } } : { code: 'NamespaceAlreadyExists' },
      );
      expect(tree()).toEqual([
        'a/.namespace.json',
        'a/b/.namespace.json',
        'a/b/u.table/.table.json',
      ]);
      const { properties } = decodeNamespace(Buffer.from(read('a/.namespace.json')), 'a');
      expect(properties.owner).toBe(won ? 'creator' : undefined);
      expect(one.fs.readdirSync(`${ROOT}/.dirspace/staging`)).toEqual([]);
    },
  );

  test('a parent whose own parent is dropped again: told, and finished by the next opener', async () => {
    namespace('a');
    namespace(TRASH);
    write(`${TRASH}/u.table/.table.json`);
    leave({ ...dropping, place: 'a/b/c' });
    one.calls.moveFolder = async (run, from, to) => {
      if (to === 'a/b') one.fs.rmSync(`${ROOT}/a`, { recursive: true });
      return run(from, to);
    };
    expect(await outcomeOf(finishIntents(one.catalog))).toMatchObject({
      code: 'ConcurrentModification',
      details: { path: 'a/b' },
    });
    one.calls.moveFolder = undefined;
    expect(one.fs.readdirSync(`${ROOT}/.dirspace/staging`)).toEqual([]);
    await finishIntents(one.catalog);
    expect(tree()).toEqual([
      'a/.namespace.json',
      'a/b/.namespace.json',
      'a/b/c/.namespace.json',
      'a/b/c/u.table/.table.json',
    ]);
  });

  test('created again meanwhile: its children join, and none replaces another', async () => {
    namespace('prod');
    namespace('prod/search');
    write('prod/search/same.table/.table.json', 'new');
    namespace(TRASH);
    write(`${TRASH}.json`, 'record');
    write(`${TRASH}/notes.txt`);
    write(`${TRASH}/same.table/.table.json`, 'old');
    write(`${TRASH}/u.table/.table.json`);
    namespace(`${TRASH}/inner`);
    leave(dropping);
    await finishIntents(one.catalog);
    expect(tree()).toEqual([
      `${TRASH}.json`,
      `${TRASH}/.namespace.json`,
      `${TRASH}/notes.txt`,
      `${TRASH}/same.table/.table.json`,
      'prod/.namespace.json',
      'prod/search/.namespace.json',
      'prod/search/inner/.namespace.json',
      'prod/search/same.table/.table.json',
      'prod/search/u.table/.table.json',
    ]);
    expect(read('prod/search/same.table/.table.json')).toBe('new');
    expect(read('prod/search/.namespace.json')).toContain('prod/search');
  });

  test('what cannot join stays in the trash with a number and a record, if it had none', async () => {
    namespace('prod');
    namespace('prod/search');
    write('prod/search/same.table/.table.json', 'new');
    write(`${TRASH}/same.table/.table.json`, 'old');
    leave(dropping);
    await finishIntents(one.catalog);
    const [kept] = await trashEntries(one.catalog);
    expect(kept).toMatchObject({
      sequence: 1,
      record: { kind: 'namespace', id: ['prod', 'search'] },
    });
    expect(read(`${kept?.folder}/same.table/.table.json`)).toBe('old');
    expect(exists(TRASH)).toBe(false);
  });

  test('brought back by another opener at this very moment', async () => {
    namespace('prod');
    namespace(TRASH);
    write(`${TRASH}/u.table/.table.json`);
    leave(dropping);
    one.calls.moveFolder = (run, from, to) => {
      one.calls.moveFolder = undefined;
      one.fs.renameSync(`${ROOT}/${from}`, `${ROOT}/${to}`);
      return run(from, to);
    };
    await finishIntents(one.catalog);
    expect(exists('prod/search/u.table/.table.json')).toBe(true);
    expect(tree().filter((path) => path.startsWith('.dirspace'))).toEqual([]);
  });

  test('purged at this very moment: its parents are not made again for nothing', async () => {
    namespace(TRASH);
    write(`${TRASH}/u.table/.table.json`);
    leave({ ...dropping, place: 'a/b' });
    one.calls.moveFolder = (run, from, to) => {
      one.fs.rmSync(`${ROOT}/${TRASH}`, { recursive: true, force: true });
      return run(from, to);
    };
    await finishIntents(one.catalog);
    expect(tree()).toEqual([]);
  });

  test('emptied between the look and the bringing back: joins nothing', async () => {
    namespace('prod');
    namespace(TRASH);
    write(`${TRASH}/u.table/.table.json`);
    leave(dropping);
    one.calls.moveFolder = async () => {
      one.fs.rmSync(`${ROOT}/${TRASH}`, { recursive: true, force: true });
      return 'taken';
    };
    await finishIntents(one.catalog);
    expect(tree()).toEqual(['prod/.namespace.json']);
  });
});

describe('an intent to replace', () => {
  beforeEach(() => write(`${STAGING}/.table.json`, 'new'));

  test('not begun and young: left to its process', async () => {
    write('data/t.table/.table.json', 'old');
    leave(replacing, HOUR - 1);
    await finishIntents(one.catalog);
    expect(tree()).toEqual([INTENT, `${STAGING}/.table.json`, 'data/t.table/.table.json']);
    expect(read('data/t.table/.table.json')).toBe('old');
  });

  test('not begun and an hour old: taken back with what was staged', async () => {
    write('data/t.table/.table.json', 'old');
    leave(replacing, HOUR);
    await finishIntents(one.catalog);
    expect(tree()).toEqual(['data/t.table/.table.json']);
    expect(read('data/t.table/.table.json')).toBe('old');
  });

  test('not begun: a live table that was to take the place is not staged, and stays', async () => {
    write('data/t.table/.table.json', 'old');
    write('data/u.table/.table.json', 'new');
    leave({ ...replacing, staging: 'data/u.table' }, HOUR);
    await finishIntents(one.catalog);
    expect(exists('data/u.table/.table.json')).toBe(true);
    expect(exists(INTENT)).toBe(false);
  });

  test('begun: forwarded', async () => {
    one.fs.mkdirSync(`${ROOT}/data`, { recursive: true });
    write(`${TRASH}/.table.json`, 'old');
    leave(replacing);
    await finishIntents(one.catalog);
    expect(tree()).toEqual([`${TRASH}/.table.json`, 'data/t.table/.table.json']);
    expect(read('data/t.table/.table.json')).toBe('new');
  });

  test('done but for the intent: nothing more is done', async () => {
    write(`${TRASH}/.table.json`, 'old');
    write('data/t.table/.table.json', 'new');
    one.fs.rmSync(`${ROOT}/${STAGING}`, { recursive: true });
    leave(replacing);
    await finishIntents(one.catalog);
    expect(tree()).toEqual([`${TRASH}/.table.json`, 'data/t.table/.table.json']);
  });
});

test('every intent is looked at; one whose file vanished counts as old', async () => {
  namespace('prod');
  const trash = `.dirspace/trash/${ID.replace('a', 'b')}`;
  namespace(trash);
  leave(dropping, 0);
  const other = '.dirspace/intents/1.json';
  write(other, encodeChecksummed({ ...dropping, trash }).bytes);
  write(`${STAGING}/x`);
  const gone = '.dirspace/intents/2.json';
  write(gone, encodeChecksummed({ ...replacing, trash: `${TRASH}0` }).bytes);
  const aged = one.calls.head;
  one.calls.head = (run, file) => (file === gone ? undefined : aged?.(run, file));
  await finishIntents(one.catalog);
  expect(await pendingIntents(one.catalog)).toMatchObject([{ file: INTENT }]);
  expect(exists(STAGING)).toBe(false);
});

describe('dropping', () => {
  const drop = (behavior: 'Restrict' | 'Cascade'): Promise<DropOutcome> =>
    dropNamespaceFolder(one.catalog, ['prod', 'search'], behavior, 'n');
  const trashed = (): string[] =>
    (one.fs.readdirSync(`${ROOT}/.dirspace/trash`) as string[]).sort();

  test('a namespace is empty when it holds no folder', async () => {
    const isEmpty = () => isNamespaceEmpty(one.catalog, ['prod', 'search']);
    expect(await isEmpty()).toBe(true);
    namespace('prod/search');
    expect(await isEmpty()).toBe(true);
    one.fs.mkdirSync(`${ROOT}/prod/search/u.table`);
    expect(await isEmpty()).toBe(false);
  });

  test('Cascade: to the trash, with a record', async () => {
    namespace('prod/search');
    write('prod/search/u.table/.table.json');
    expect(await drop('Cascade')).toBe('dropped');
    const [folder, record] = trashed();
    expect(record).toBe(`${folder}.json`);
    const bytes = one.fs.readFileSync(`${ROOT}/.dirspace/trash/${record}`) as Uint8Array;
    expect(decodeTrash(bytes, 'r')).toEqual({
      kind: 'namespace',
      id: ['prod', 'search'],
      droppedAt: one.clock.time,
    });
    expect(exists(`.dirspace/trash/${folder}/.namespace.json`)).toBe(true);
    expect(exists('prod/search')).toBe(false);
    expect(await pendingIntents(one.catalog)).toEqual([]);
  });

  test('Restrict: nothing stays of an empty one, which has no table to bring back', async () => {
    namespace('prod/search');
    expect(await drop('Restrict')).toBe('dropped');
    expect(trashed()).toEqual([]);
    expect(exists('prod/search')).toBe(false);
    expect(await pendingIntents(one.catalog)).toEqual([]);
  });

  test('Restrict: an empty one gets no number and no record, only its intent', async () => {
    namespace('prod/search');
    const made: string[] = [];
    one.calls.create = (run, file) => {
      made.push(file);
      return run(file);
    };
    one.calls.mark = (run, file) => {
      made.push(file);
      return run(file);
    };
    expect(await drop('Restrict')).toBe('dropped');
    expect(made).toEqual([expect.stringMatching(/^\.dirspace\/intents\//)]);
  });

  test('Restrict: what came into it in the moment of its move stays in the trash', async () => {
    namespace('prod/search');
    one.calls.deleteEmptyFolder = (run, folder) => {
      one.calls.deleteEmptyFolder = undefined;
      write(`${folder}/u.table/.table.json`);
      return run(folder);
    };
    expect(await drop('Restrict')).toBe('dropped');
    const [folder, record] = trashed();
    expect(record).toBe(`${folder}.json`);
    expect(exists(`.dirspace/trash/${folder}/u.table/.table.json`)).toBe(true);
  });

  test('Restrict: what a sweep removes in that moment leaves no record', async () => {
    namespace('prod/search');
    one.calls.deleteEmptyFolder = async (_, folder) => {
      one.calls.deleteEmptyFolder = undefined;
      one.fs.rmSync(`${ROOT}/${folder}`, { recursive: true });
      return false;
    };
    expect(await drop('Restrict')).toBe('dropped');
    expect(trashed()).toEqual([]);
  });

  test('Restrict: what cannot be removed stays in the trash, and the drop is done', async () => {
    namespace('prod/search');
    one.calls.deleteEmptyFolder = () => {
      throw new Error('the disk says no');
    };
    expect(await drop('Restrict')).toBe('dropped');
    expect(trashed()).toHaveLength(2);
  });

  test.each(['Restrict', 'Cascade'] as const)(
    '%s of none: missing, and no trace',
    async (behavior) => {
      namespace('prod');
      expect(await drop(behavior)).toBe('missing');
      expect(tree()).toEqual(['prod/.namespace.json']);
    },
  );

  test('what was created in it between the look and the move comes back', async () => {
    namespace('prod/search');
    one.calls.moveFolder = (run, from, to) => {
      one.calls.moveFolder = undefined;
      write('prod/search/u.table/.table.json');
      return run(from, to);
    };
    expect(await drop('Restrict')).toBe('not empty');
    expect(tree()).toEqual(['prod/search/.namespace.json', 'prod/search/u.table/.table.json']);
  });

  test('finished by an opener at this very moment: missing', async () => {
    namespace('prod/search');
    one.calls.moveFolder = async (run, from, to) => {
      one.calls.moveFolder = undefined;
      const moved = await run(from, to);
      one.fs.rmSync(`${ROOT}/${to}`, { recursive: true });
      return moved;
    };
    expect(await drop('Restrict')).toBe('missing');
  });

  test('a record that cannot be written: nothing is moved', async () => {
    namespace('prod/search');
    const broken = new Error('no disk');
    one.calls.create = (run, file) => {
      if (/^\.dirspace\/(trash|intents)\//.test(file)) throw broken;
      return run(file);
    };
    expect(await outcomeOf(drop('Restrict'))).toBe(broken);
    expect(await outcomeOf(drop('Cascade'))).toBe(broken);
    expect(tree()).toEqual(['prod/search/.namespace.json']);
  });

  test('an error after the move: settled at once', async () => {
    namespace('prod/search');
    write('prod/search/u.table/.table.json');
    const broken = new Error('lost reply');
    one.calls.moveFolder = async (run, from, to) => {
      one.calls.moveFolder = undefined;
      await run(from, to);
      throw broken;
    };
    expect(await outcomeOf(drop('Restrict'))).toBe(broken);
    expect(exists('prod/search/u.table/.table.json')).toBe(true);
    expect(await pendingIntents(one.catalog)).toEqual([]);
  });
});

describe('replacing', () => {
  const replace = (staging = STAGING) =>
    replaceFolder(one.catalog, { kind: 'table', id: ['t'], place: 'data/t.table', staging });

  beforeEach(() => {
    write(`${STAGING}/.table.json`, 'new');
    write('data/t.table/.table.json', 'old');
  });

  test('what is there goes to the trash, with a record', async () => {
    await replace();
    expect(read('data/t.table/.table.json')).toBe('new');
    const [record, old] = tree();
    expect(tree()).toEqual([record, old, 'data/t.table/.table.json']);
    expect(old).toBe(record?.replace('.json', '/.table.json'));
    expect(read(old as string)).toBe('old');
    const bytes = one.fs.readFileSync(`${ROOT}/${record}`) as Uint8Array;
    expect(decodeTrash(bytes, 'r')).toMatchObject({ kind: 'table', id: ['t'] });
  });

  test('nothing is there: nothing is replaced, and what was to take the place is left', async () => {
    one.fs.rmSync(`${ROOT}/data/t.table`, { recursive: true });
    expect(await replace()).toBe(false);
    expect(read(`${STAGING}/.table.json`)).toBe('new');
    expect(one.fs.existsSync(`${ROOT}/data/t.table`)).toBe(false);
    expect(one.fs.readdirSync(`${ROOT}/.dirspace/trash`)).toEqual([]);
    expect(await pendingIntents(one.catalog)).toEqual([]);
  });

  test.each([
    [STAGING, false],
    ['data/u.table', true],
  ])('somebody took the place meanwhile: %s is left: %s', async (staging, left) => {
    write(`${staging}/.table.json`, 'new');
    const move = one.engine.store.moveFolder.bind(one.engine.store);
    one.calls.moveFolder = async (_, from, to) => {
      one.calls.moveFolder = undefined;
      const moved = await move(from, to);
      write('data/t.table/.table.json', 'theirs');
      return moved;
    };
    expect(await outcomeOf(replace(staging))).toMatchObject({
      code: 'ConcurrentModification',
      message:
        'Another writer changed the table t while it was being replaced. Look at it and try again.',
      details: { id: ['t'] },
    });
    expect(read('data/t.table/.table.json')).toBe('theirs');
    expect(exists(`${staging}/.table.json`)).toBe(left);
    expect(await pendingIntents(one.catalog)).toEqual([]);
  });

  test('a disk that denies what it lists: unknown, and the next opening finishes it', async () => {
    one.calls.moveFolder = async (run, from, to) =>
      to === 'data/t.table' ? 'missing' : run(from, to);
    expect(await outcomeOf(replace())).toMatchObject({
      code: 'CommitStateUnknown',
      details: { place: 'data/t.table', staging: STAGING },
    });
    expect(exists(`${STAGING}/.table.json`)).toBe(true);
    one.calls.moveFolder = undefined;
    await finishIntents(one.catalog);
    expect(read('data/t.table/.table.json')).toBe('new');
    expect(await pendingIntents(one.catalog)).toEqual([]);
  });

  test('the folder above went with its namespace meanwhile: a clash', async () => {
    one.calls.moveFolder = async (run, from, to) => {
      one.calls.moveFolder = undefined;
      const outcome = await run(from, to);
      one.fs.rmSync(`${ROOT}/data`, { recursive: true });
      return outcome;
    };
    expect(await outcomeOf(replace())).toMatchObject({ code: 'ConcurrentModification' });
    expect(exists(STAGING)).toBe(false);
  });

  test('an opener that found the intent was faster: done', async () => {
    one.calls.moveFolder = async (run, from, to) => {
      one.calls.moveFolder = undefined;
      const moved = await run(from, to);
      await finishIntents(testEngine({ fs: one.fs, firstId: 500 }).catalog);
      return moved;
    };
    await replace();
    expect(read('data/t.table/.table.json')).toBe('new');
  });

  test('an error before the first step: all as before, nothing staged', async () => {
    const broken = new Error('no disk');
    one.calls.moveFolder = async () => {
      throw broken;
    };
    expect(await outcomeOf(replace())).toBe(broken);
    expect(read('data/t.table/.table.json')).toBe('old');
    expect(exists(STAGING)).toBe(false);
    expect(await pendingIntents(one.catalog)).toEqual([]);
  });

  test('an error after the first step: the new one is there', async () => {
    const broken = new Error('lost reply');
    one.calls.moveFolder = async (run, from, to) => {
      one.calls.moveFolder = undefined;
      await run(from, to);
      throw broken;
    };
    expect(await outcomeOf(replace())).toBe(broken);
    expect(read('data/t.table/.table.json')).toBe('new');
    expect(await pendingIntents(one.catalog)).toEqual([]);
  });
});
