/**
 * This package's side of run.mjs: `own.mjs PACKAGE ROOT SEED` answers each line of its input, as JSON. `write` changes
 * rows, tags and branches, and compacts; `list` says which versions, tags and branches there are; `read` gives digests
 * of versions; `clean` removes old versions.
 */
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { Field, Int64, Schema, Utf8 } from 'apache-arrow';
import { changedBy, digest, LASTING, MAIN, numbers, rowsText } from './model.mjs';

const [entry, root, seed] = process.argv.slice(2);
const { connect } = await import(pathToFileURL(entry).href);
const db = await connect(root, { lance: 'write' });
const pick = numbers(Number(seed));
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const tell = (line) => say({ who: 'dirspace', ...line });
const changed = changedBy(tell);
const stored = (rows) => rows.map(([id, name, v]) => ({ id: BigInt(id), name, v: BigInt(v) }));

let next = 2_000_000;
let named = 0;
/** Ids of its own, by branch. */
const mine = new Map();

const onBranch = async (branch) => {
  const table = await db.openTable('history');
  return branch === MAIN ? table : (await table.branches()).checkout(branch);
};

const branchNames = async () =>
  Object.keys(await (await (await db.openTable('history')).branches()).list()).filter(
    (name) => name !== MAIN,
  );

/** Main, or a branch of these names as often as `odds` in 100 say. */
async function anyBranch(odds, like = /./) {
  const names = (await branchNames()).filter((name) => like.test(name));
  return names.length === 0 || pick(100) >= odds ? MAIN : names[pick(names.length)];
}

const anyVersion = async (branch) => {
  const versions = await (await onBranch(branch)).listVersions();
  return versions[pick(versions.length)].version;
};

const rowsOfOwn = (branch, count) => {
  const rows = Array.from({ length: count }, () => [next++, `own ${next}`, 0]);
  mine.set(branch, [...(mine.get(branch) ?? []), ...rows.map(([id]) => id)]);
  return rows;
};

const ROWS = {
  add: async (table, branch) => {
    const rows = rowsOfOwn(branch, 1 + pick(3));
    await changed(branch, { does: 'put', rows }, () => table.add(stored(rows)));
  },
  delete: async (table, branch) => {
    const own = mine.get(branch) ?? [];
    const ids = own.length > 0 && pick(2) === 0 ? [own[pick(own.length)]] : [100 + pick(300)];
    const where = `id = ${ids[0]}`;
    if ((await table.countRows(where)) === 0) return ROWS.add(table, branch);
    const before = await table.version();
    const result = await table.delete(where);
    if (result.numDeletedRows !== 0)
      tell({ event: 'changed', branch, version: result.version, change: { does: 'delete', ids } });
    else if (result.version < before) throw new Error('a delete of nothing went back');
  },
  count: async (table, branch) => {
    const first = pick(80);
    const ids = Array.from({ length: 1 + pick(20) }, (_, at) => first + at);
    const where = `id in (${ids.join(', ')})`;
    await changed(branch, { does: 'count', ids }, () =>
      table.update({ where, valuesSql: { v: 'v + 1' } }),
    );
  },
  merge: async (table, branch) => {
    const rows = [...rowsOfOwn(branch, 1), [pick(100), `merged by dirspace ${next}`, next]];
    await changed(branch, { does: 'put', rows }, () =>
      table
        .mergeInsert('id')
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute(stored(rows)),
    );
  },
};

const REFS = {
  tag: async () => {
    const branch = await anyBranch(50, LASTING);
    const [tag, version] = [`t-${named++}`, await anyVersion(branch)];
    await (await (await onBranch(branch)).tags()).create(tag, version);
    tell({ event: 'tagged', tag, branch, version });
  },
  /** Its own, and those of clients that were adopted; not those that clients try to change by themselves. */
  'move or delete a tag': async () => {
    const tags = await (await db.openTable('history')).tags();
    const names = Object.keys(await tags.list()).filter((name) => /^[tl]-/.test(name));
    if (names.length < 4) return REFS.tag();
    const tag = names[pick(names.length)];
    if (pick(2) === 0) {
      await tags.delete(tag);
      return tell({ event: 'untagged', tag });
    }
    const branch = await anyBranch(50, LASTING);
    const version = await anyVersion(branch);
    await tags.update(tag, version, { branch });
    tell({ event: 'tagged', tag, branch, version });
  },
  'tag for clients to move or delete': async () => {
    const [tag, version] = [`${pick(2) === 0 ? 'k' : 'q'}-${named++}`, await anyVersion(MAIN)];
    await (await (await onBranch(MAIN)).tags()).create(tag, version);
    tell({ event: 'tagged', tag, branch: MAIN, version });
  },
  branch: async () => {
    const names = await branchNames();
    if (names.length >= 14) return REFS['delete a branch']();
    const branch = `${pick(2) === 0 ? 'd' : 'b'}-${named++}`;
    const table = await db.openTable('history');
    const tags = Object.entries(await (await table.tags()).list());
    const [, tagged] = tags.length > 0 && pick(2) === 0 ? tags[pick(tags.length)] : [];
    const from = tagged === undefined ? await anyBranch(30) : (tagged.branch ?? MAIN);
    const at = tagged?.version ?? (await anyVersion(from));
    const made = await (await table.branches()).create(branch, from === MAIN ? null : from, at);
    tell({ event: 'branched', branch, from, at, by: tagged === undefined ? 'version' : 'tag' });
    await ROWS.add(made, branch);
  },
  'delete a branch': async () => {
    const names = (await branchNames()).filter((name) => /^[dx]-/.test(name));
    if (names.length === 0) return;
    const branch = names[pick(names.length)];
    await (await (await db.openTable('history')).branches()).delete(branch);
    tell({ event: 'unbranched', branch });
  },
};

async function compact() {
  const branch = await anyBranch(30);
  const table = await onBranch(branch);
  await table.optimize({ cleanupOlderThan: false });
  tell({ event: 'compacted' });
}

const one = (of) => Object.values(of)[pick(Object.keys(of).length)];

const DOES = {
  make: async ({ rows }) => {
    const fields = [
      new Field('id', new Int64(), false),
      new Field('name', new Utf8(), true),
      new Field('v', new Int64(), true),
    ];
    await db.createTable('history', stored(rows), [], { schema: new Schema(fields) });
  },
  write: async ({ commits }) => {
    for (let at = 0; at < commits; at++) {
      try {
        if (at % 20 === 19) await compact();
        else if (pick(3) === 0) await one(REFS)();
        const branch = await anyBranch(35);
        await one(ROWS)(await onBranch(branch), branch);
      } catch (error) {
        tell({ event: 'refused', why: `${error.code}: ${error.message}` });
      }
    }
  },
  list: async () => {
    const table = await db.openTable('history');
    const versions = { [MAIN]: (await table.listVersions()).map(({ version }) => version) };
    for (const name of await branchNames()) {
      versions[name] = (await (await onBranch(name)).listVersions()).map(({ version }) => version);
    }
    const tags = Object.entries(await (await table.tags()).list()).map(([tag, named]) => [
      tag,
      named.branch ?? MAIN,
      named.version,
    ]);
    return { versions, tags };
  },
  read: async ({ versions, tags }) => {
    const reads = [];
    const read = async (key, open) => {
      const found = await (await open()).query().withRowId().toArrow();
      const rows = found.toArray().map((row) => [Number(row.id), row.name, Number(row.v)]);
      const ids = found.toArray().map((row) => [Number(row.id), Number(row._rowid)]);
      reads.push([key, digest(rowsText(rows)), digest(rowsText(ids))]);
    };
    for (const [branch, version] of versions) {
      await read(`${branch}/${version}`, () =>
        db.openTable('history', [], branch === MAIN ? { version } : { branch, version }),
      );
    }
    for (const tag of tags) await read(`tag ${tag}`, () => db.openTable('history', [], { tag }));
    return { reads };
  },
  sync: async () => ({ synced: await db.namespace.syncLance({ id: ['history'] }) }),
  verify: async () => ({ verified: await db.namespace.verify({}) }),
  clean: async () => {
    const table = await db.openTable('history');
    await table.optimize({ cleanupOlderThan: new Date(), compaction: false });
    return {};
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { does, ...given } = JSON.parse(line);
  try {
    say({ done: does, ...(await DOES[does](given)) });
  } catch (error) {
    say({ done: does, error: `${error.stack}` });
  }
}
await db.close();
