/** Times of versions where clocks were wrong: what a commit writes, and what may go when. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { versionsInOrder } from '../../../src/sdk/table/versions.ts';
import { cleanup } from '../../../src/table/history/cleanup.ts';
import { visibleVersions } from '../../../src/table/versions/version-files.ts';
import {
  MAX_CLOCK_SKEW,
  nextTimestamp,
  Supersession,
} from '../../../src/table/versions/version-times.ts';
import { declared, INCARNATION, land, TestClock, testEngine } from '../../helpers/engines.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';
import { people } from '../../helpers/people.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 22);
const FUTURE = Date.UTC(2036, 0, 1);

test('a timestamp follows its parent by the skew at most, and then the own clock', () => {
  expect(nextTimestamp(NOW, undefined)).toBe(NOW);
  expect(nextTimestamp(NOW, NOW - DAY)).toBe(NOW);
  expect(nextTimestamp(NOW, NOW + 1)).toBe(NOW + 1);
  expect(nextTimestamp(NOW, NOW + MAX_CLOCK_SKEW)).toBe(NOW + MAX_CLOCK_SKEW);
  expect(nextTimestamp(NOW, NOW + MAX_CLOCK_SKEW + 1)).toBe(NOW);
  expect(nextTimestamp(NOW, FUTURE)).toBe(NOW);
});

async function superseded(times: readonly (number | undefined)[], now: number) {
  const supersession = new Supersession(times.length, async (at) => times[at], now);
  const found: number[] = [];
  for (const at of times.keys()) found.push(await supersession.at(at));
  return found;
}

describe('a version was superseded', () => {
  test.each([
    ['when the next was made', [1, 5, 9], [5, 9, 100]],
    ['when the next was made that anybody saw', [1, undefined, 9], [9, 9, 100]],
    ['not before it was made itself', [50, 2, 60], [50, 60, 100]],
    ['now at the latest', [1, 100 + MAX_CLOCK_SKEW, 120], [100, 100, 100]],
  ])('%s', async (_, times, expected) => {
    expect(await superseded(times, 100)).toEqual(expected);
  });

  test('by one from the future: before the next that is not, or now', async () => {
    const day = (at: number): number => NOW + at * DAY;
    const now = day(20);
    const times = [day(1), FUTURE, FUTURE + 1, day(9), day(10)];
    expect(await superseded(times, now)).toEqual([day(9), day(9), day(9), day(10), now]);
    expect(await superseded(times.slice(0, 3), now)).toEqual([now, now, now]);
  });

  test('never earlier than truly, whatever one clock said, and in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(1000), { minLength: 2, maxLength: 20 }),
        fc.nat(19),
        fc.oneof(fc.constant(0), fc.integer({ min: 10 ** 9, max: 10 ** 12 })),
        async (gaps, wrong, said) => {
          let time = 10 ** 6;
          const truth = gaps.map((gap) => (time += gap));
          const times = truth.map((right, at) => (at === wrong % gaps.length ? said : right));
          const now = time + 10;
          const found = await superseded(times, now);
          for (const at of found.keys()) {
            expect(found[at]).toBeGreaterThanOrEqual(found[at - 1] ?? 0);
            // Of the one made by a clock that was behind, its own time is the best there is.
            const due = at + 1 === wrong % gaps.length ? truth[at] : (truth[at + 1] ?? now);
            expect(found[at]).toBeGreaterThanOrEqual(due as number);
            expect(found[at]).toBeLessThanOrEqual(now);
          }
        },
      ),
    );
  });
});

describe('asOf believes', () => {
  const of = (...times: number[]) =>
    versionsInOrder(times.map((timestamp, at) => ({ version: at + 1, timestamp }))).map(
      ({ version }) => version,
    );
  test.each([
    ['all that ascend', [1, 2, 2, 3], [1, 2, 3, 4]],
    ['none from after the newest', [1, 90, 91, 2, 3], [1, 4, 5]],
    ['the newest alone where all others are from after it', [90, 91, 92, 2], [4]],
    ['the others where one clock was behind', [5, 6, 1, 7, 8], [1, 2, 4, 5]],
    [
      'the others where one clock ran ahead, also once its time has come',
      [5, 9, 6, 7, 8, 10],
      [1, 3, 4, 5, 6],
    ],
  ])('%s', (_, times, kept) => {
    expect(of(...times)).toEqual(kept);
  });

  test('as many as can be in order, and times never step back', () => {
    const longest = (times: readonly number[]): number => {
      const best = times.map(() => 1);
      for (const [at, time] of times.entries()) {
        for (let one = 0; one < at; one++) {
          if ((times[one] as number) <= time)
            best[at] = Math.max(best[at] as number, (best[one] as number) + 1);
        }
      }
      return Math.max(0, ...best);
    };
    fc.assert(
      fc.property(fc.array(fc.nat(12), { maxLength: 14 }), (times) => {
        const kept = of(...times).map((version) => times[version - 1] as number);
        expect(kept).toEqual([...kept].sort((a, b) => a - b));
        const newest = times.at(-1) ?? 0;
        expect(kept).toHaveLength(longest(times.filter((time) => time <= newest)));
      }),
    );
  });
});

test('after one commit of 2036 the next is of now, and versions go again as they age', async () => {
  const one = testEngine();
  await one.catalog.prepareRoot();
  const branch = await declared(one);
  one.clock.time = NOW;
  await land(one, branch, 'create');
  one.clock.time = FUTURE;
  const wrong = await land(one, branch);
  expect(wrong.snapshot.manifest.timestamp).toBe(FUTURE);
  one.clock.time = NOW + 1000;
  const run = () =>
    cleanup(one.engine, branch.tableFolder, INCARNATION, {
      olderThan: 7 * DAY,
      orphanGrace: 7 * DAY,
      dryRun: false,
    });
  // The first was superseded at a time that is not known: it stays.
  one.clock.time = NOW + 30 * DAY;
  expect((await run()).versions).toBe(0);
  const next = await land(one, branch);
  expect(next.snapshot.manifest.timestamp).toBe(NOW + 30 * DAY);
  one.clock.time += 7 * DAY - 1;
  expect((await run()).versions).toBe(0);
  one.clock.time += 1;
  expect((await run()).versions).toBe(2);
  expect(await visibleVersions(one.engine, branch)).toEqual([3]);
});

test('verify takes a step back for a wrong clock put right, and a small one for damage', async () => {
  const clock = new TestClock();
  clock.time = NOW;
  const catalog = await openDirectoryNamespace({ root: '/c', fs: memoryFs(), env: clock });
  await catalog.createTable({ id: ['t'] }, people(1));
  clock.time = FUTURE;
  await catalog.insertIntoTable({ id: ['t'] }, people(1, 2));
  clock.time = NOW + 1;
  await catalog.insertIntoTable({ id: ['t'] }, people(1, 3));
  clock.time = NOW - MAX_CLOCK_SKEW + 1;
  await catalog.insertIntoTable({ id: ['t'] }, people(1, 4));
  const { versions } = await catalog.listTableVersions({ id: ['t'] });
  expect(versions.map(({ timestamp_millis }) => timestamp_millis)).toEqual([
    expect.any(Number),
    FUTURE,
    NOW + 1,
    NOW + 1,
  ]);
  expect(await catalog.verify({})).toMatchObject({ ok: true, problems: [] });
});

test('a default optimize leaves a scan of the newest version whole that began a week after it', async () => {
  const clock = new TestClock();
  clock.time = NOW;
  const fs = memoryFs();
  const limits = { batchRows: 2, fragmentRows: 2 };
  const catalog = await openDirectoryNamespace({ root: '/c', fs, env: clock, limits });
  await catalog.createTable({ id: ['t'] }, people(6));
  for (let at = 6; at < 30; at += 6) await catalog.insertIntoTable({ id: ['t'] }, people(6, at));
  clock.time = NOW + 8 * DAY;
  const reader = await openDirectoryNamespace({
    root: '/c',
    fs,
    env: clock,
    bufferBytes: 0,
    limits,
  });
  const stream = await reader.queryTable({ id: ['t'], k: 1000, version: 5 } as never);
  const rows: number[] = [];
  const batches = stream[Symbol.asyncIterator]();
  const take = async (): Promise<boolean> => {
    const { value, done } = await batches.next();
    if (done === true) return false;
    for (const row of value) rows.push(Number(row.id));
    return true;
  };
  await take();
  const week = { cleanup_older_than_millis: 7 * DAY };
  const janitor = await openDirectoryNamespace({ root: '/c', fs, env: clock });
  const report = await janitor.optimizeTable({ id: ['t'], ...week });
  expect(report).toMatchObject({ version: 6, versions_removed: 4 });
  while (await take());
  expect(rows).toEqual(Array.from({ length: 30 }, (_, at) => at));
  // A week later it goes, with all its files.
  clock.time += 7 * DAY;
  const late = await janitor.cleanupTable({ id: ['t'], older_than_millis: 7 * DAY });
  expect(late.versions_removed).toBe(1);
  expect((await janitor.verify({})).leftovers).toEqual([]);
});
