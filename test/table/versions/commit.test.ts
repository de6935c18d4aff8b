/**
 * Commits one call at a time: what each writes, what it does when somebody is faster, what it makes
 * of calls that fail or lie, and how it gets past batches that nobody decided.
 */
import { expect, test, vi } from 'vitest';
import { DirspaceError } from '../../../src/errors.ts';
import {
  decodeVersion,
  encodeManifest,
  encodeTombstone,
} from '../../../src/format/catalog/manifest.ts';
import { encodeTable } from '../../../src/format/catalog/records.ts';
import { deletedRunFile, versionFile } from '../../../src/paths.ts';
import { deleteVersions } from '../../../src/table/history/delete-versions.ts';
import { publishUnchanged } from '../../../src/table/staged/publish-staged.ts';
import {
  commit,
  type Draft,
  incarnationOfTransaction,
  newTransaction,
  nextManifest,
  notNextVersion,
} from '../../../src/table/versions/commit.ts';
import { EMPTY_FRAGMENTS } from '../../../src/table/versions/fragment-list.ts';
import { resolveHead, type TableBranch } from '../../../src/table/versions/head.ts';
import {
  decideMultiTable,
  multiTableDecision,
} from '../../../src/table/versions/multi-table-commit.ts';
import { stands } from '../../../src/table/versions/publish.ts';
import { settleUndecided } from '../../../src/table/versions/settle-undecided.ts';
import type { Snapshot } from '../../../src/table/versions/snapshot.ts';
import {
  highestListed,
  listedVersions,
  readManifest,
} from '../../../src/table/versions/version-files.ts';
import type { Queue } from '../../../src/table/work/index.ts';
import {
  declared,
  draftOf,
  entry,
  INCARNATION,
  land,
  outcomeOf,
  ROOT,
  settled,
  type TestEngine,
  testEngine,
} from '../../helpers/engines.ts';

const BATCH = '0000abcd-0000';

interface Both {
  /** The writer looked at. */
  readonly one: TestEngine;
  /** Another process on the same files. */
  readonly two: TestEngine;
  readonly branch: TableBranch;
}

async function both(limits: { commitTimeout?: number } = {}): Promise<Both> {
  const one = testEngine({ limits });
  const two = testEngine({ fs: one.fs, firstId: 1000 });
  return { one, two, branch: await declared(one) };
}

/** A builder that lets `meddle` happen before each of its drafts; `bases` are the versions it saw. */
function meddledBuild(
  meddle: (attempt: number) => Promise<unknown>,
  draft: Draft = draftOf('append'),
) {
  const bases: (number | undefined)[] = [];
  const build = async (base: Snapshot | undefined): Promise<Draft> => {
    bases.push(base?.version);
    await meddle(bases.length);
    return draft;
  };
  return { bases, build };
}

const kindsOf = async ({ one, branch }: Both): Promise<string[]> => {
  const kinds: string[] = [];
  for (const version of await listedVersions(one.engine, branch)) {
    kinds.push((await readManifest(one.engine, branch, version))?.operation.kind ?? 'tombstone');
  }
  return kinds;
};

/** A version of a multi-table commit that is not decided yet. */
async function prepare({ engine }: TestEngine, branch: TableBranch, batch = BATCH): Promise<void> {
  const head = await resolveHead(engine, branch);
  const slot = head?.slot ?? (await highestListed(engine, branch)) ?? 0;
  const at = { slot, snapshot: head?.snapshot };
  const manifest = {
    ...nextManifest(engine, branch, draftOf('update'), at, `batched ${batch}`),
    batch,
  };
  const file = versionFile(branch.folder, slot + 1);
  expect(await engine.store.putIfAbsent(file, encodeManifest(manifest).bytes)).toBe(true);
}

test('the first version of a table', async () => {
  const { one, branch } = await both();
  const now = one.clock.time;
  const draft = draftOf('create', {
    summary: { added_rows: 20 },
    schema: { fields: [{ name: 'n', nullable: true, type: { type: 'int32' } }] },
    fieldIds: [0],
    nextFieldId: 1,
    nextFragmentId: 2,
    metadata: { a: 'b' },
    fragments: {
      chunks: [],
      tail: [entry(0), entry(1)],
      totals: { rows: 20, deletedRows: 0, bytes: 200, fragments: 2 },
    },
  });
  const { snapshot, transaction } = await land(one, branch, draft);
  const bytes = one.fs.readFileSync(`${ROOT}/${versionFile(branch.folder, 1)}`);
  const found = decodeVersion(bytes as Uint8Array, 'v1');
  expect(found).toEqual({
    manifest: {
      table: INCARNATION,
      branch: 'main',
      version: 1,
      parent: undefined,
      timestamp: now,
      transaction,
      batch: undefined,
      operation: { kind: 'create', summary: { added_rows: 20 } },
      schema: draft.schema,
      fieldIds: [0],
      nextFieldId: 1,
      nextFragmentId: 2,
      metadata: { a: 'b' },
      lance: true,
      annotations: undefined,
      totals: draft.fragments.totals,
      chunks: [],
      fragments: draft.fragments.tail,
    },
    checksum: snapshot.checksum,
    bytes: snapshot.manifestBytes,
  });
  expect(snapshot.manifest).toEqual((found as { manifest: unknown }).manifest);
  expect(transaction).toMatch(/^11111111-2222\.[0-9a-f-]{36}$/);
  expect(incarnationOfTransaction(transaction as string)).toBe(INCARNATION);
  expect(one.committed).toEqual([snapshot]);
  expect(one.engine.heads.head(branch)).toEqual({ slot: 1, snapshot });
  expect(one.clock.sleeps).toEqual([]);
});

test('the next version names the one before it, and time never goes back', async () => {
  const { one, branch } = await both();
  const first = (await land(one, branch, 'create')).snapshot;
  one.clock.time -= 5_000;
  const second = (await land(one, branch)).snapshot;
  expect(second.manifest).toMatchObject({
    version: 2,
    parent: { version: 1, branch: 'main', checksum: first.checksum },
    timestamp: first.manifest.timestamp,
  });
  one.clock.time += 9_000;
  const third = (await land(one, branch)).snapshot;
  expect(third.manifest.timestamp).toBe(first.manifest.timestamp + 4_000);
  expect(third.manifest.parent).toEqual({
    version: 2,
    branch: 'main',
    checksum: second.checksum,
  });
});

test('properties are those of the draft, or else those there were', async () => {
  const { one, branch } = await both();
  expect((await land(one, branch, 'create')).snapshot.manifest.properties).toBeUndefined();
  const given = await land(one, branch, draftOf('overwrite', { properties: { a: 'b' } }));
  expect(given.snapshot.manifest.properties).toEqual({ since: 2, values: { a: 'b' } });
  const kept = await land(one, branch);
  expect(kept.snapshot.manifest.properties).toEqual({ since: 2, values: { a: 'b' } });
});

test('a transaction given is the one committed; nobody needs to be told of it', async () => {
  const { one, branch } = await both();
  const engine = { ...one.engine, committed: undefined };
  const build = async () => draftOf('create');
  const made = await commit(engine, branch, { build, transaction: 'mine' });
  expect(made.transaction).toBe('mine');
  expect(made.snapshot.manifest.transaction).toBe('mine');
  expect(nextManifest(one.engine, branch, draftOf('create'), undefined, 'x')).toMatchObject({
    version: 1,
    parent: undefined,
    properties: undefined,
    transaction: 'x',
  });
  expect(newTransaction(one.engine, branch)).not.toBe(newTransaction(one.engine, branch));
});

test('the version asked for is the next one, or none is made', async () => {
  const { one, branch } = await both();
  await land(one, branch, 'create', { version: 1 });
  for (const version of [1, 3]) {
    const failure = notNextVersion(version, { slot: 1 });
    await expect(land(one, branch, 'append', { version })).rejects.toMatchObject({
      code: 'ConcurrentModification',
      message: failure.message,
      details: { version, next: 2 },
    });
  }
  expect(await listedVersions(one.engine, branch)).toEqual([1]);
  expect((await land(one, branch, 'append', { version: 2 })).snapshot.version).toBe(2);
  expect(notNextVersion(3, undefined).details).toEqual({ version: 3, next: 1 });
});

test('a version says whether clients of Lance may write it', async () => {
  for (const [own, writes] of [
    ['write', true],
    ['sync', undefined],
  ] as const) {
    const { one, branch } = await both();
    const record = { id: INCARNATION, createdAt: 1, properties: { lance: own } };
    one.fs.writeFileSync(`${ROOT}/${branch.tableFolder}/.table.json`, encodeTable(record));
    expect((await land(one, branch, 'create')).snapshot.manifest.lanceWrites).toBe(writes);
  }
});

test('ids that Lance has for fields last as long as the fields', async () => {
  const { one, branch } = await both();
  const fields = (fieldIds: number[], more: Partial<Draft> = {}) =>
    draftOf('append', { fieldIds, nextFieldId: 3, ...more });
  const lanceIds = new Map([
    [0, 5],
    [2, 4],
  ]);
  const idsAfter = async (draft: Draft) =>
    (await land(one, branch, draft)).snapshot.manifest.lanceIds;
  expect(await idsAfter(fields([0, 1, 2], { lanceIds }))).toEqual(lanceIds);
  expect(await idsAfter(fields([1, 2]))).toEqual(new Map([[2, 4]]));
  expect(await idsAfter(fields([1]))).toBeUndefined();
});

test('nothing to change: the version there is stands', async () => {
  const { one, branch } = await both();
  const nothing = { build: async () => undefined };
  await expect(commit(one.engine, branch, nothing)).rejects.toMatchObject({
    code: 'InvalidTableState',
    message: 'The table has no version to keep.',
  });
  const { snapshot } = await land(one, branch, 'create');
  expect(await commit(one.engine, branch, nothing)).toEqual({ snapshot, transaction: undefined });
  expect(await listedVersions(one.engine, branch)).toEqual([1]);
  expect(one.committed).toHaveLength(1);
});

test('writers of one process take turns', async () => {
  const { one, branch } = await both();
  const seen = meddledBuild(async () => settled());
  const all = Array.from({ length: 5 }, () => commit(one.engine, branch, { build: seen.build }));
  const versions = (await Promise.all(all)).map(({ snapshot }) => snapshot.version);
  expect(versions).toEqual([1, 2, 3, 4, 5]);
  expect(seen.bases).toEqual([undefined, 1, 2, 3, 4]);
  expect(one.clock.sleeps).toEqual([]);
});

test('writers of two branches do not wait for each other', async () => {
  const { one, branch } = await both();
  const other = await declared(one, 'data/u.table', '33333333-4444');
  let free = (): void => {};
  const held = new Promise<void>((resolve) => {
    free = resolve;
  });
  const slow = commit(one.engine, branch, {
    build: async () => {
      await held;
      return draftOf('create');
    },
  });
  expect((await land(one, other, 'create')).snapshot.version).toBe(1);
  free();
  expect((await slow).snapshot.version).toBe(1);
});

test('what is written ahead is awaited: of the draft, or else of the request', async () => {
  const { one, branch } = await both();
  for (const [draft, request] of [
    [true, false],
    [false, true],
    [true, true],
  ]) {
    const before = await listedVersions(one.engine, branch);
    let durable = (): void => {};
    const after = new Promise<void>((resolve) => {
      durable = resolve;
    });
    const never = Promise.reject(new Error('not the one that is awaited'));
    never.catch(() => {});
    const done = land(one, branch, draftOf('append', draft ? { after } : {}), {
      ...(request ? { after: draft ? never : after } : {}),
    });
    await settled();
    expect(await listedVersions(one.engine, branch)).toEqual(before);
    durable();
    expect((await done).snapshot.version).toBe(before.length + 1);
  }
});

test('somebody was faster: built again on what is there now', async () => {
  const { one, two, branch } = await both();
  await land(one, branch, 'create');
  const { bases, build } = meddledBuild(async (attempt) => {
    if (attempt < 3) await land(two, branch, 'delete');
  });
  const { snapshot } = await commit(one.engine, branch, { build });
  expect(bases).toEqual([1, 2, 3]);
  expect(one.engine.counters).toMatchObject({ commits: 2, conflicts: 2 });
  expect(two.engine.counters).toMatchObject({ commits: 2, conflicts: 0 });
  expect(snapshot.manifest).toMatchObject({
    version: 4,
    operation: { kind: 'append' },
    parent: { version: 3 },
  });
  expect(await kindsOf({ one, two, branch })).toEqual(['create', 'delete', 'delete', 'append']);
  expect(one.clock.sleeps).toEqual([1, 2]);
  expect(one.locks).toEqual([]);
});

test('waits grow up to a bound, and who keeps losing asks for the lock', async () => {
  const { one, two, branch } = await both();
  await land(one, branch, 'create');
  const lockedAt: number[] = [];
  const { build } = meddledBuild(async (attempt) => {
    lockedAt.push(one.locks.length);
    if (attempt < 12) await land(two, branch);
  });
  const { snapshot } = await commit(one.engine, branch, { build });
  expect(snapshot.version).toBe(13);
  // Under the lock others are few, so the waits begin anew.
  expect(one.clock.sleeps).toEqual([1, 2, 4, 1, 2, 4, 8, 16, 25, 25]);
  expect(lockedAt).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
  expect(one.locks).toEqual([branch.folder]);
});

test.each([
  { each: [50], lockedAt: [0, 1] },
  { each: [49], lockedAt: [0, 0] },
  { each: [20, 29], lockedAt: [0, 0, 0] },
  { each: [20, 30], lockedAt: [0, 0, 1] },
])('who lost attempts of $each ms asks for the lock', async ({ each, lockedAt }) => {
  const { one, two, branch } = await both();
  await land(one, branch, 'create');
  const found: number[] = [];
  const { build } = meddledBuild(async (attempt) => {
    found.push(one.locks.length);
    one.clock.time += each[attempt - 1] ?? 0;
    if (attempt <= each.length) await land(two, branch);
  });
  await commit(one.engine, branch, { build });
  expect(found).toEqual(lockedAt);
});

test('waiting for commits of the same process counts as no attempt', async () => {
  const { one, two, branch } = await both();
  await land(one, branch, 'create');
  const queue: Pick<Queue, 'run'> = {
    run: async (_, work) => {
      one.clock.time += 1_000;
      return work();
    },
  };
  const { build } = meddledBuild(async (attempt) => {
    if (attempt === 1) await land(two, branch);
  });
  await commit({ ...one.engine, queue: queue as Queue }, branch, { build });
  expect(one.locks).toEqual([]);
});

test('who begins while the lock is held lets its holder go first, for a second at most', async () => {
  const { one, two, branch } = await both();
  await land(one, branch, 'create');
  const asked: unknown[] = [];
  const engine: typeof one.engine = {
    ...one.engine,
    isLocked: (key) => key === branch.folder,
    withLock: async (key, work, waitMs) => {
      asked.push([key, waitMs]);
      await land(two, branch);
      return work();
    },
  };
  const bases: (number | undefined)[] = [];
  await commit(engine, branch, {
    build: async (base) => {
      bases.push(base?.version);
      return draftOf('append');
    },
  });
  expect(asked).toEqual([[branch.folder, 1_000]]);
  expect(bases).toEqual([2]);
});

test('who never wins gives up once the time is over, not before', async () => {
  const { one, two, branch } = await both({ commitTimeout: 7 });
  await land(one, branch, 'create');
  const { bases, build } = meddledBuild(() => land(two, branch));
  await expect(commit(one.engine, branch, { build })).rejects.toMatchObject({
    code: 'ConcurrentModification',
    message:
      'Other writers were faster in each of 6 attempts over 7 ms. Nothing was changed; try again with fewer writers on this table.',
    details: { attempts: 6 },
  });
  // At 7 ms exactly there are more tries: 1 + 2 + 4, then under the lock at once and 1 later.
  expect(one.clock.sleeps).toEqual([1, 2, 4, 1]);
  expect(bases).toEqual([1, 2, 3, 4, 5, 6]);
  expect(one.committed).toHaveLength(1);
});

test('an aborted signal ends it before an attempt, and while it waits', async () => {
  const { one, two, branch } = await both();
  await land(one, branch, 'create');
  const reason = new Error('enough');
  const aborted = vi.fn(async () => draftOf('append'));
  await expect(
    commit(one.engine, branch, { build: aborted, signal: AbortSignal.abort(reason) }),
  ).rejects.toBe(reason);
  expect(aborted).not.toHaveBeenCalled();

  const controller = new AbortController();
  const { bases, build } = meddledBuild(() => land(two, branch));
  one.clock.onSleep = (signal) => {
    expect(signal).toBe(controller.signal);
    controller.abort(reason);
  };
  const { signal } = controller;
  await expect(commit(one.engine, branch, { build, signal })).rejects.toBe(reason);
  expect(bases).toEqual([1]);
  expect(await kindsOf({ one, two, branch })).toEqual(['create', 'append']);
});

test.each(['overwrite', 'restore'] as const)(
  '%s rules out what was based on less',
  async (kind) => {
    const places: Both[] = [];
    // Newest, or below the newest, or above what came first.
    for (const landing of [[kind], [kind, 'append'], ['append', kind]] as const) {
      const place = await both();
      places.push(place);
      const { one, two, branch } = place;
      await land(one, branch, 'create');
      const at = landing.indexOf(kind as never) + 2;
      const { bases, build } = meddledBuild(async (attempt) => {
        if (attempt > 1) return;
        for (const each of landing) await land(two, branch, each);
      });
      await expect(commit(one.engine, branch, { build })).rejects.toMatchObject({
        code: 'ConcurrentModification',
        message: `Version ${at} replaced the table's content (${kind}) while this change was being made on version 1. Nothing was changed; look at the new content and repeat the change if it still applies.`,
        details: { version: at, base: 1 },
      });
      expect(bases).toEqual([1]);
      const survivor = meddledBuild(async (attempt) => {
        if (attempt === 1) await land(two, branch, kind);
      });
      const { snapshot } = await commit(one.engine, branch, {
        build: survivor.build,
        survivesOverwrite: true,
      });
      expect(snapshot.version).toBe(landing.length + 3);
    }
    for (const place of places) expect((await kindsOf(place)).at(-1)).toBe('append');
  },
);

test('what it is built on does not rule it out', async () => {
  const { one, two, branch } = await both();
  await land(one, branch, 'overwrite');
  const { bases, build } = meddledBuild(async (attempt) => {
    if (attempt === 1) await land(two, branch, 'append');
  });
  await commit(one.engine, branch, { build });
  expect(bases).toEqual([1, 2]);
});

test('only what landed since the attempt before is looked at', async () => {
  const { one, two, branch } = await both();
  await land(one, branch, 'create');
  // Before the first attempt: what it builds on.
  await land(two, branch, 'overwrite');
  expect((await land(one, branch)).snapshot.version).toBe(3);
  const { bases, build } = meddledBuild(async (attempt) => {
    if (attempt < 3) await land(two, branch, attempt === 1 ? 'append' : 'overwrite');
  });
  await expect(commit(one.engine, branch, { build })).rejects.toMatchObject({
    details: { version: 5, base: 4 },
  });
  expect(bases).toEqual([3, 4]);
});

test('a table that had no version: an overwrite that came first rules out too', async () => {
  const { one, two, branch } = await both();
  const lost = meddledBuild(async (attempt) => {
    if (attempt === 1) await land(two, branch, 'overwrite');
  });
  await expect(commit(one.engine, branch, { build: lost.build })).rejects.toMatchObject({
    code: 'ConcurrentModification',
    details: { version: 1, base: 0 },
  });
  const again = await both();
  const joined = meddledBuild(async (attempt) => {
    if (attempt === 1) await land(again.two, again.branch, 'create');
  });
  await commit(again.one.engine, again.branch, { build: joined.build });
  expect(joined.bases).toEqual([undefined, 1]);
  expect(await kindsOf(again)).toEqual(['create', 'append']);
});

test('compaction rules out what names rows by their ids, and nothing else', async () => {
  for (const namesRowIds of [true, false, undefined]) {
    const { one, two, branch } = await both();
    await land(one, branch, 'create');
    const { build } = meddledBuild(async (attempt) => {
      if (attempt > 1) return;
      await land(two, branch, 'append');
      await land(two, branch, 'compact');
      await land(two, branch, 'append');
    });
    const outcome = await outcomeOf(
      commit(one.engine, branch, {
        build,
        ...(namesRowIds === undefined ? {} : { namesRowIds }),
      }),
    );
    if (namesRowIds !== true) {
      expect(outcome).toMatchObject({ value: { snapshot: { version: 5 } } });
      continue;
    }
    expect(outcome).toMatchObject({
      code: 'ConcurrentModification',
      message:
        'Version 3 compacted the table while this change was being made, and gave its rows new ids. Nothing was changed; read the ids again and repeat the change.',
      details: { version: 3 },
    });
  }
});

test('other changes rule out nothing, also where names of rows are given', async () => {
  const { one, two, branch } = await both();
  await land(one, branch, 'create');
  const { build } = meddledBuild(async (attempt) => {
    if (attempt > 1) return;
    for (const kind of ['append', 'delete', 'update', 'merge', 'schema', 'metadata'] as const) {
      await land(two, branch, kind);
    }
  });
  const { snapshot } = await commit(one.engine, branch, { build, namesRowIds: true });
  expect(snapshot.version).toBe(8);
});

test('versions that were deleted since cannot clash', async () => {
  const { one, two, branch } = await both();
  await land(one, branch, 'create');
  const { bases, build } = meddledBuild(async (attempt) => {
    if (attempt > 1) return;
    await land(two, branch, 'overwrite');
    await land(two, branch, 'append');
    await land(two, branch, 'append');
    await deleteVersions(two.engine, branch, [2, 3]);
  });
  await commit(one.engine, branch, { build });
  expect(bases).toEqual([1, 4]);
});

const publishing = async (
  place: Both,
  publish: TestEngine['engine']['publish'],
  request: Partial<Parameters<typeof commit>[2]> = {},
) =>
  outcomeOf(
    commit({ ...place.one.engine, publish }, place.branch, {
      build: async () => draftOf('append'),
      ...request,
    }),
  );

test('an error after the version was there is a success, and made durable', async () => {
  const place = await both();
  const { one, branch } = place;
  await land(one, branch, 'create');
  const synced: (readonly string[])[] = [];
  one.calls.syncFolders = (run, folders) => {
    synced.push(folders);
    return run(folders);
  };
  const outcome = await publishing(place, async (...version) => {
    await one.engine.publish(...version);
    throw new Error('lost reply');
  });
  expect(outcome).toMatchObject({ value: { snapshot: { version: 2 } } });
  expect(synced).toEqual([[branch.folder]]);
  expect(one.clock.sleeps).toEqual([]);
  expect(await listedVersions(one.engine, branch)).toEqual([1, 2]);
});

test('an error before the version was there is that error', async () => {
  const place = await both();
  await land(place.one, place.branch, 'create');
  const broken = new Error('no disk');
  const outcome = await publishing(place, async () => {
    throw broken;
  });
  expect(outcome).toBe(broken);
  expect(await listedVersions(place.one.engine, place.branch)).toEqual([1]);
});

test('an error while somebody else took the number: tried again', async () => {
  const place = await both();
  const { one, two, branch } = place;
  await land(one, branch, 'create');
  let failed = false;
  const outcome = await publishing(place, async (...version) => {
    if (failed) return one.engine.publish(...version);
    failed = true;
    await land(two, branch, 'delete');
    throw new Error('lost reply');
  });
  expect(outcome).toMatchObject({ value: { snapshot: { version: 3 } } });
  expect(await kindsOf(place)).toEqual(['create', 'delete', 'append']);
});

test.each(['get', 'syncFolders'] as const)(
  'an error, and %s fails as well: nobody knows, and it says so',
  async (failing) => {
    const place = await both();
    const { one, branch } = place;
    await land(one, branch, 'create');
    const cause = new Error('no disk at all');
    const outcome = await publishing(
      place,
      async (...version) => {
        await one.engine.publish(...version);
        one.calls[failing] = () => {
          throw cause;
        };
        throw new Error('lost reply');
      },
      { transaction: 'mine' },
    );
    expect(outcome).toMatchObject({
      code: 'CommitStateUnknown',
      message:
        'It is not known whether version 2 was committed: publishing it failed and so did reading it back. Open the table again and look for transaction mine before repeating the change.',
      cause,
      details: { version: 2, transaction: 'mine' },
    });
    expect(one.committed).toHaveLength(1);
  },
);

test('a number said to be taken that holds our own version is a success', async () => {
  const place = await both();
  const { one, branch } = place;
  await land(one, branch, 'create');
  const outcome = await publishing(place, async (...version) => {
    await one.engine.publish(...version);
    return false;
  });
  expect(outcome).toMatchObject({ value: { snapshot: { version: 2 } } });
  expect(await listedVersions(one.engine, branch)).toEqual([1, 2]);
  expect(one.committed).toHaveLength(2);
});

test('a number said to be taken, and what has it cannot be read: nobody knows, and it says so', async () => {
  const place = await both();
  const { one, branch } = place;
  await land(one, branch, 'create');
  const cause = new Error('no disk at all');
  const outcome = await publishing(
    place,
    async (...version) => {
      await one.engine.publish(...version);
      one.calls.get = () => {
        throw cause;
      };
      return false;
    },
    { transaction: 'mine' },
  );
  expect(outcome).toMatchObject({
    code: 'CommitStateUnknown',
    message:
      'It is not known whether version 2 was committed: its number is taken, and what has it could not be read. Open the table again and look for transaction mine before repeating the change.',
    cause,
    details: { version: 2, transaction: 'mine' },
  });
});

test('a staged version whose number is taken, and what has it cannot be read: so with it', async () => {
  const { one, branch } = await both();
  await land(one, branch, 'create');
  const base = (await resolveHead(one.engine, branch))?.snapshot;
  const at = { slot: 1, snapshot: base };
  const manifest = nextManifest(one.engine, branch, draftOf('append'), at, 'mine');
  const cause = new Error('no disk at all');
  one.calls.putIfAbsent = async (put, ...version) => {
    await put(...version);
    one.calls.get = () => {
      throw cause;
    };
    return false;
  };
  const staged = { path: 'staged', manifest, base };
  await expect(publishUnchanged(one.engine, branch, staged)).rejects.toMatchObject({
    code: 'CommitStateUnknown',
    cause,
    details: { version: 2, transaction: 'mine' },
  });
});

test('a number that has a damaged version: the damage is told', async () => {
  const place = await both();
  const { one, branch } = place;
  await land(one, branch, 'create');
  const outcome = await publishing(place, async (_, version) => {
    one.fs.writeFileSync(`${ROOT}/${versionFile(branch.folder, version)}`, 'torn');
    return false;
  });
  expect(outcome).toMatchObject({ code: 'Corrupt' });
});

test('a number said to be taken that nobody has: tried again', async () => {
  const place = await both();
  const { one, branch } = place;
  await land(one, branch, 'create');
  let lied = false;
  const outcome = await publishing(place, async (...version) => {
    if (lied) return one.engine.publish(...version);
    lied = true;
    return false;
  });
  expect(outcome).toMatchObject({ value: { snapshot: { version: 2 } } });
});

test('a base that was deleted meanwhile: the version is taken back and built again', async () => {
  // The base becomes a tombstone, or it lies inside a run and is gone.
  for (const [older, doomed] of [
    [1, [2, 3]],
    [2, [2, 3, 4]],
  ] as const) {
    const place = await both();
    const { one, two, branch } = place;
    for (let version = 0; version <= older; version++) await land(one, branch, 'create');
    const { bases, build } = meddledBuild(async (attempt) => {
      if (attempt > 1) return;
      await land(two, branch, 'delete');
      await land(two, branch, 'delete');
      await deleteVersions(two.engine, branch, doomed);
    });
    const { snapshot } = await commit(one.engine, branch, { build });
    expect(bases).toEqual([older + 1, older + 3]);
    expect(snapshot.manifest).toMatchObject({
      version: older + 4,
      parent: { version: older + 3 },
    });
    const kinds = await kindsOf(place);
    expect(kinds).toEqual(['create', 'tombstone', 'delete', 'append']);
    expect(one.committed).toHaveLength(older + 2);
  }
});

test.each(['failed', 'found the number taken'])(
  'also where publishing it %s and it is there after all',
  async (how) => {
    const place = await both();
    const { one, two, branch } = place;
    await land(one, branch, 'create');
    await land(one, branch, 'append');
    let failed = false;
    const outcome = await publishing(place, async (...version) => {
      if (failed) return one.engine.publish(...version);
      failed = true;
      await land(two, branch, 'delete');
      await land(two, branch, 'delete');
      await deleteVersions(two.engine, branch, [2, 3]);
      await one.engine.publish(...version);
      if (how === 'failed') throw new Error('lost reply');
      return false;
    });
    expect(outcome).toMatchObject({ value: { snapshot: { version: 5 } } });
    expect(await kindsOf(place)).toEqual(['create', 'tombstone', 'delete', 'append']);
  },
);

test('a base that is gone with the version itself was moved: the commit stands', async () => {
  const place = await both();
  const { one, branch } = place;
  await land(one, branch, 'create');
  const outcome = await publishing(place, async (...version) => {
    const published = await one.engine.publish(...version);
    one.fs.renameSync(`${ROOT}/data/t.table`, `${ROOT}/data/moved.table`);
    return published;
  });
  expect(outcome).toMatchObject({ value: { snapshot: { version: 2 } } });
  const moved = `data/moved.table/versions-${INCARNATION}`;
  const bytes = one.fs.readFileSync(`${ROOT}/${versionFile(moved, 2)}`) as Uint8Array;
  expect(decodeVersion(bytes, 'v2')).toMatchObject({ manifest: { version: 2 } });
});

test('a base that cannot be looked at leaves the commit unknown', async () => {
  const place = await both();
  const { one, branch } = place;
  await land(one, branch, 'create');
  const cause = new Error('no disk');
  const outcome = await publishing(
    place,
    async (...version) => {
      const published = await one.engine.publish(...version);
      one.calls.head = () => {
        throw cause;
      };
      return published;
    },
    { transaction: 'mine' },
  );
  expect(outcome).toMatchObject({
    code: 'CommitStateUnknown',
    message:
      'Version 2 was published, but what it builds on could not be looked at. Open the table again and look for transaction mine before repeating the change.',
    cause,
    details: { version: 2, transaction: 'mine' },
  });
});

test('what stands is told by its base, and by the deleted run that its number is in', async () => {
  const { one, branch } = await both();
  const { snapshot } = await land(one, branch, 'create');
  const next = await land(one, branch);
  const file = next.snapshot.file;
  expect(await stands(one.engine, file, next.snapshot.manifest, undefined)).toBe(true);
  expect(await stands(one.engine, file, next.snapshot.manifest, snapshot)).toBe(true);
  await one.engine.store.put(snapshot.file, encodeTombstone({ deletedThrough: 1 }));
  const mark = (last: number): string => deletedRunFile(branch.folder, 1, last);
  await one.engine.store.put(mark(1), Buffer.from('{}'));
  // Cleanup removed its base because it is the newest.
  expect(await stands(one.engine, file, next.snapshot.manifest, snapshot)).toBe(true);
  const third = await land(one, branch);
  await one.engine.store.put(mark(2), Buffer.from('{}'));
  // Or both, after a third one was built on it.
  expect(await stands(one.engine, file, next.snapshot.manifest, snapshot)).toBe(true);
  await one.engine.store.delete(third.snapshot.file);
  expect(await stands(one.engine, file, next.snapshot.manifest, snapshot)).toBe(false);
  expect(await one.engine.store.head(file)).toBeUndefined();
});

test.each([
  // A base that is gone, and what else is there: marks of deleted runs, and the next version.
  ['no run', [], 'follows', true],
  ['a run before it', [[1, 1]], 'stranger', true],
  ['a run after it', [[3, 4]], 'stranger', true],
  ['a run that ends with it', [[1, 2]], 'stranger', false],
  ['a run that begins with it', [[2, 4]], 'stranger', false],
  [
    'a run around it, one of many',
    [
      [7, 9],
      [1, 3],
    ],
    'stranger',
    false,
  ],
  ['a run, and a tombstone after it', [[1, 2]], 'tombstone', false],
  ['a run, and one built on nothing after it', [[1, 2]], 'first', false],
  ['a run, and nothing after it', [[1, 2]], 'nothing', false],
  ['a run, and the one built on it', [[1, 2]], 'follows', true],
] as const)('version 2 with %s: %j, %s', async (_, runs, next, expected) => {
  const { one, two, branch } = await both();
  const { snapshot } = await land(one, branch, 'create');
  const { manifest, file } = (await land(one, branch)).snapshot;
  await one.engine.store.delete(snapshot.file);
  const third = versionFile(branch.folder, 3);
  if (next === 'follows') await land(two, branch);
  if (next === 'tombstone') {
    await one.engine.store.put(third, encodeTombstone({ deletedThrough: 3 }));
  }
  if (next === 'stranger' || next === 'first') {
    const at = { slot: 2, snapshot: next === 'first' ? undefined : snapshot };
    const stranger = nextManifest(one.engine, branch, draftOf('append'), at, 'another');
    await one.engine.store.put(third, encodeManifest(stranger).bytes);
  }
  for (const [first, last] of runs) {
    await one.engine.store.put(deletedRunFile(branch.folder, first, last), Buffer.from('{}\n'));
  }
  expect(await stands(one.engine, file, manifest, snapshot)).toBe(expected);
  expect((await one.engine.store.head(file)) !== undefined).toBe(expected);
});

// Cleanup deletes versions that others were built on, and sweeps what was written to freed numbers.
test('of a version that is itself deleted by now, with its base, the state is unknown', async () => {
  const { one, branch } = await both();
  const { snapshot } = await land(one, branch, 'create');
  const { manifest, file } = (await land(one, branch)).snapshot;
  const judged = (): Promise<boolean> => stands(one.engine, file, manifest, snapshot);
  await one.engine.store.delete(snapshot.file);
  await one.engine.store.put(deletedRunFile(branch.folder, 1, 2), Buffer.from('{}\n'));
  await one.engine.store.put(file, encodeTombstone({ deletedThrough: 2 }));
  await expect(judged()).rejects.toMatchObject({ code: 'CommitStateUnknown' });
  expect(await one.engine.store.head(file)).toBeDefined();
  await one.engine.store.delete(file);
  await expect(judged()).rejects.toMatchObject({
    code: 'CommitStateUnknown',
    details: { version: 2, transaction: manifest.transaction },
  });
});

test('a freed number that is swept right before its writer takes it back is no commit', async () => {
  const { one, two, branch } = await both();
  const { snapshot } = await land(one, branch, 'create');
  const { manifest, file } = (await land(one, branch)).snapshot;
  await one.engine.store.delete(snapshot.file);
  await one.engine.store.put(deletedRunFile(branch.folder, 1, 2), Buffer.from('{}\n'));
  one.calls.delete = async (run, path) => {
    await two.engine.store.delete(path);
    return run(path);
  };
  await expect(stands(one.engine, file, manifest, snapshot)).rejects.toMatchObject({
    code: 'CommitStateUnknown',
    details: { version: 2, transaction: manifest.transaction },
  });
});

test('a version that cleanup deleted was valid if the newest has one of its files', async () => {
  const fragmentsOf = (...entries: ReturnType<typeof entry>[]) =>
    draftOf('append', {
      fragments: {
        ...EMPTY_FRAGMENTS,
        totals: { ...EMPTY_FRAGMENTS.totals, fragments: entries.length },
        tail: entries,
      },
    });
  const deletion = { file: `${'0'.repeat(8)}-ffff`, rows: 1, bytes: 10, checksum: 1 };
  for (const [own, newest, expected] of [
    // A fragment, or the deleted rows of one that was there before.
    [[entry(1), entry(2)], [entry(2)], true],
    [[entry(1, { deletion })], [entry(1, { deletion })], true],
    // Only what was there before, or nothing of either.
    [[entry(1), entry(2)], [entry(1)], false],
    [[entry(1), entry(2)], [], false],
    [[entry(1, { deletion })], [entry(1)], false],
  ] as const) {
    const { one, two, branch } = await both();
    const { snapshot } = await land(one, branch, fragmentsOf(entry(1)));
    const { manifest, file } = (await land(one, branch, fragmentsOf(...own))).snapshot;
    await land(two, branch, fragmentsOf(...newest));
    await deleteVersions(two.engine, branch, [1, 2]);
    const judged = stands(one.engine, file, manifest, snapshot);
    if (expected) expect(await judged).toBe(true);
    else await expect(judged).rejects.toMatchObject({ code: 'CommitStateUnknown' });
  }
});

test('an undecided batch is waited for, then aborted, and its number is not used again', async () => {
  const { one, two, branch } = await both();
  const first = (await land(one, branch, 'create')).snapshot;
  await prepare(two, branch);
  const { snapshot } = await land(one, branch);
  expect(await multiTableDecision(one.engine, BATCH)).toBe('aborted');
  // Two seconds in pauses of 5 ms and half of 20 ms, then the wait before the next attempt.
  expect(one.clock.sleeps).toEqual([...Array.from({ length: 134 }, () => 15), 1]);
  expect(snapshot.manifest).toMatchObject({ version: 3, parent: { version: 1 } });
  expect(snapshot.manifest.parent?.checksum).toBe(first.checksum);
});

test('the grace of a multi-table commit ends at two seconds exactly', async () => {
  const { one, two, branch } = await both();
  await land(one, branch, 'create');
  await prepare(two, branch);
  const random = vi.spyOn(one.clock, 'random').mockReturnValue(0.75);
  await land(one, branch);
  random.mockRestore();
  expect(one.clock.sleeps.slice(0, -1)).toEqual(Array.from({ length: 100 }, () => 20));
});

test('a multi-table commit that is committed while it is waited for is built upon', async () => {
  const { one, two, branch } = await both();
  await land(one, branch, 'create');
  await prepare(two, branch);
  one.clock.onSleep = async () => {
    if (one.clock.sleeps.length === 3) await decideMultiTable(two.engine, BATCH, 'committed');
  };
  const { bases, build } = meddledBuild(async () => {});
  const { snapshot } = await commit(one.engine, branch, { build });
  expect(bases).toEqual([2]);
  expect(snapshot.manifest).toMatchObject({ version: 3, parent: { version: 2 } });
  expect(one.clock.sleeps).toEqual([15, 15, 15, 1]);
});

test('versions of aborted batches are passed without a wait', async () => {
  const { one, two, branch } = await both();
  // Also below the first version that counts.
  await prepare(two, branch);
  await decideMultiTable(two.engine, BATCH, 'aborted');
  const first = (await land(one, branch, 'create')).snapshot;
  expect(first.manifest).toMatchObject({ version: 2, parent: undefined });
  for (const batch of ['0000abcd-0001', '0000abcd-0002']) {
    await prepare(two, branch, batch);
    await decideMultiTable(two.engine, batch, 'aborted');
  }
  const { snapshot } = await land(one, branch);
  expect(snapshot.manifest).toMatchObject({ version: 5, parent: { version: 2 } });
  expect(one.clock.sleeps).toEqual([]);
  expect(await settleUndecided(one.engine, branch, 2, 4)).toBe(false);
  // The one above them came since 2 was the newest.
  expect(await settleUndecided(one.engine, branch, 2, 5)).toBe(true);
});

test('a first version that lands while its place is looked for is built upon', async () => {
  for (let at = 1; ; at++) {
    const { one, two, branch } = await both();
    let [lists, met] = [0, false];
    one.calls.list = async (list, folder) => {
      lists++;
      if (lists === at) {
        met = true;
        await land(two, branch, 'create');
      }
      return list(folder);
    };
    const { snapshot } = await land(one, branch);
    one.calls.list = undefined;
    if (!met) break;
    expect(snapshot.manifest).toMatchObject({ version: 2, parent: { version: 1 } });
    expect(await listedVersions(one.engine, branch)).toEqual([1, 2]);
  }
});

test('every undecided batch in the way is settled, and nothing else is', async () => {
  const { one, two, branch } = await both();
  await land(one, branch, 'create');
  await prepare(two, branch, '0000abcd-0001');
  await prepare(two, branch, '0000abcd-0002');
  await prepare(two, branch, '0000abcd-0003');
  expect(await settleUndecided(one.engine, branch, 2, 3)).toBe(true);
  const decisions = [];
  for (const at of [1, 2, 3])
    decisions.push(await multiTableDecision(one.engine, `0000abcd-000${at}`));
  expect(decisions).toEqual([undefined, 'aborted', undefined]);
  expect(await settleUndecided(one.engine, branch, 4, 4)).toBe(false);
  // Versions that vanished meanwhile are in nobody's way.
  expect(await settleUndecided(one.engine, branch, 4, 9)).toBe(false);
});

test('a multi-table commit that takes the number while we build is settled too', async () => {
  const { one, two, branch } = await both();
  await land(one, branch, 'create');
  const { bases, build } = meddledBuild(async (attempt) => {
    if (attempt === 1) await prepare(two, branch);
  });
  const { snapshot } = await commit(one.engine, branch, { build });
  expect(bases).toEqual([1, 1]);
  expect(snapshot.manifest).toMatchObject({ version: 3, parent: { version: 1 } });
  // Settled at once when it was met, so that the next attempt finds it decided: one wait between.
  expect(one.clock.sleeps.filter((ms) => ms === 15)).toHaveLength(134);
  expect(one.clock.sleeps.filter((ms) => ms !== 15)).toEqual([1]);
});

test.each([
  ['a text', `${INCARNATION}.given`],
  ['a function, asked once it is known what is written', () => `${INCARNATION}.given`],
])('the id of a transaction may be given as %s', async (_, transaction) => {
  const { one, branch } = await both();
  const committed = await land(one, branch, 'append', { transaction });
  expect(committed.transaction).toBe(`${INCARNATION}.given`);
  expect((await land(one, branch)).transaction).not.toBe(`${INCARNATION}.given`);
});

test('what fails while a version is built is thrown, unless its base is gone', async () => {
  const { one, two, branch } = await both();
  await land(one, branch, 'create');
  const failed = new DirspaceError('TableVersionNotFound', 'removed while it was read');
  const failing = (): Promise<Draft> => Promise.reject(failed);
  expect(await land(one, branch, 'append', { build: failing }).catch((error) => error)).toBe(
    failed,
  );
  const bases: (number | undefined)[] = [];
  const build = async (base: Snapshot | undefined): Promise<Draft> => {
    bases.push(base?.version);
    if (bases.length > 1) return draftOf('append');
    await land(two, branch);
    await deleteVersions(two.engine, branch, [1]);
    throw failed;
  };
  expect((await land(one, branch, 'append', { build })).snapshot.version).toBe(3);
  expect(bases).toEqual([1, 2]);
});

test('what fails while a version is completed is thrown, unless its base is gone', async () => {
  const { one, two, branch } = await both();
  const file = `${ROOT}/${branch.tableFolder}/.table.json`;
  const damaged = 'no record of a table';
  const whole = encodeTable({ id: INCARNATION, createdAt: 1, properties: {} });
  one.fs.writeFileSync(file, whole);
  await land(one, branch, 'create');
  const harmed = (): Promise<Draft> => {
    one.fs.writeFileSync(file, damaged);
    return Promise.resolve(draftOf('append'));
  };
  expect(await outcomeOf(land(one, branch, 'append', { build: harmed }))).toMatchObject({
    code: 'Corrupt',
  });
  one.fs.writeFileSync(file, whole);
  const bases: (number | undefined)[] = [];
  const build = async (base: Snapshot | undefined): Promise<Draft> => {
    bases.push(base?.version);
    if (bases.length === 1) {
      await land(two, branch);
      await deleteVersions(two.engine, branch, [1]);
    }
    one.fs.writeFileSync(file, bases.length === 1 ? damaged : whole);
    return draftOf('append');
  };
  expect((await land(one, branch, 'append', { build })).snapshot.version).toBe(3);
  expect(bases).toEqual([1, 2]);
});
