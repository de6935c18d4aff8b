/**
 * The side of LanceDB's Node client: `lancedb.mjs URI PACKAGES SEED` answers each line of its input as own.mjs does,
 * but for what a catalog alone does. Its branches and tags are files that it writes beside the table.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { changedBy, digest, LASTING, MAIN, numbers, rowsText } from './model.mjs';

const [uri, packages, seed] = process.argv.slice(2);
const load = createRequire(join(packages, 'package.json'));
const { connectNamespace } = load('@lancedb/lancedb');
const db = await connectNamespace('rest', { uri });
const pick = numbers(Number(seed));
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const tell = (line) => say({ who: 'LanceDB', ...line });
const changed = changedBy(tell);
const stored = (rows) => rows.map(([id, name, v]) => ({ id: BigInt(id), name, v: BigInt(v) }));

let next = 1_000_000;
let named = 0;
/** Whether the handle of the change that is tried was opened for it. */
let isFresh = false;
const mine = new Map();
/** Handles that stay open, as a program holds them; undefined where one is to be opened again. */
const handles = new Map();

async function onBranch(branch) {
  let table = handles.get(branch);
  isFresh = table === undefined;
  if (table === undefined) {
    table = await db.openTable('history');
    if (branch !== MAIN) table = await (await table.branches()).checkout(branch);
    handles.set(branch, table);
  } else if (pick(3) === 0) await table.checkoutLatest();
  return table;
}

/** Lance fails where one goes while it lists them. */
async function branchNames(tries = 20) {
  try {
    const names = Object.keys(await (await (await onBranch(MAIN)).branches()).list());
    return names.filter((name) => name !== MAIN);
  } catch (error) {
    if (tries === 0 || !String(error).includes('Not found')) throw error;
    return branchNames(tries - 1);
  }
}

async function anyBranch(odds) {
  const names = await branchNames();
  return names.length === 0 || pick(100) >= odds ? MAIN : names[pick(names.length)];
}

const rowsOfOwn = (branch, count) => {
  const rows = Array.from({ length: count }, () => [next++, `lancedb ${next}`, 0]);
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
    await changed(branch, { does: 'delete', ids }, () => table.delete(`id = ${ids[0]}`));
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
    const rows = [...rowsOfOwn(branch, 1), [pick(100), `merged by LanceDB ${next}`, next]];
    await changed(branch, { does: 'put', rows }, () =>
      table
        .mergeInsert('id')
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute(stored(rows)),
    );
  },
};

const recent = async (branch) => {
  const newest = await (await onBranch(branch)).version();
  return branch === MAIN ? Math.max(1, newest - pick(30)) : newest;
};

const REFS = {
  tag: async () => {
    const [tag, version] = [`${['l', 'm'][pick(2)]}-js-${named++}`, await recent(MAIN)];
    await (await (await onBranch(MAIN)).tags()).create(tag, version);
    tell({ event: 'tagged', tag, branch: MAIN, version });
  },
  /** One that no other writer moves. */
  'move a tag': async () => {
    const tags = await (await onBranch(MAIN)).tags();
    const names = Object.keys(await tags.list()).filter((name) => name.startsWith('m-js-'));
    if (names.length === 0) return REFS.tag();
    const [tag, version] = [names[pick(names.length)], await recent(MAIN)];
    await tags.update(tag, version);
    tell({ event: 'tagged', tag, branch: MAIN, version, moved: true });
  },
  branch: async () => {
    const names = await branchNames();
    if (names.length >= 14) return;
    const branch = `${['j', 'x', 'j'][pick(3)]}-js-${named++}`;
    const lasting = names.filter((name) => LASTING.test(name));
    const from = lasting.length > 0 && pick(3) === 0 ? lasting[pick(lasting.length)] : MAIN;
    const at = await recent(from);
    const branches = await (await onBranch(MAIN)).branches();
    const made = await branches.create(branch, from, at).catch(async (error) => {
      // The catalog wrote the file that says so first, for another change of tags or branches; or another branch
      // went while Lance listed them all, after this one was made.
      const isMade =
        String(error).includes('already exists') ||
        (String(error).includes('Not found') && (await branchNames()).includes(branch));
      if (!isMade) throw error;
      tell({ event: 'made a branch that is said to be there' });
      return branches.checkout(branch);
    });
    handles.set(branch, made);
    tell({ event: 'branched', branch, from, at, by: 'version' });
    await ROWS.add(handles.get(branch), branch);
  },
};

const one = (of) => Object.values(of)[pick(Object.keys(of).length)];

const DOES = {
  write: async ({ commits }) => {
    for (let at = 0; at < commits; at++) {
      let branch = MAIN;
      try {
        if (at % 20 === 9) {
          branch = await anyBranch(30);
          await (await onBranch(branch)).optimize();
          tell({ event: 'compacted' });
        } else if (pick(4) === 0) await one(REFS)();
        branch = await anyBranch(30);
        await one(ROWS)(await onBranch(branch), branch);
      } catch (error) {
        handles.delete(branch);
        tell({ event: 'refused', branch, fresh: isFresh, why: String(error) });
      }
    }
  },
  list: async () => {
    const table = await db.openTable('history');
    return {
      branches: Object.keys(await (await table.branches()).list()),
      tags: Object.entries(await (await table.tags()).list()).map(([tag, { version }]) => [
        tag,
        version,
      ]),
    };
  },
  read: async ({ versions, tags }) => {
    const reads = [];
    const read = async (key, open) => {
      try {
        const found = await (await open()).query().withRowId().toArrow();
        const rows = found.toArray().map((row) => [Number(row.id), row.name, Number(row.v)]);
        const ids = found.toArray().map((row) => [Number(row.id), Number(row._rowid)]);
        reads.push([key, digest(rowsText(rows)), digest(rowsText(ids))]);
      } catch (error) {
        reads.push([key, String(error).slice(0, 300), '']);
      }
    };
    const main = await db.openTable('history');
    for (const [branch, version] of versions) {
      await read(`${branch}/${version}`, async () => {
        if (branch !== MAIN) return (await main.branches()).checkout(branch, version);
        await main.checkout(version);
        return main;
      });
    }
    for (const tag of tags) {
      await read(`tag ${tag}`, async () => {
        await main.checkout(tag);
        return main;
      });
    }
    return { reads };
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
process.exit(0);
