/**
 * One of two writers that commit to the main branch of a table while each makes, moves and deletes tags and branches
 * of its own and commits to these branches: `references.mjs SIDE write TABLE STEPS SEED` prints what it knows at the
 * end, as JSON. `references.mjs SIDE read TABLE` prints what each version, tag and branch holds. SIDE is
 * `own,PACKAGE,ROOT` or `lancedb,PACKAGES,URI`: the calls of both are the same.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { randomFrom } from './random.mjs';

const [given, task, name, steps, seed] = process.argv.slice(2);
const [side, packages, place] = given.split(',');

async function connection() {
  if (side === 'own') return (await import(pathToFileURL(packages).href)).connect(place);
  const load = createRequire(join(packages, 'package.json'));
  return load('@lancedb/lancedb').connectNamespace('rest', { uri: place });
}

const row = (id) => ({ id: BigInt(id), name: `name ${id}` });

/** The ids that a table has where it is checked out; every name has to be that of its id. */
async function idsOf(table) {
  const found = await table.query().select(['id', 'name']).toArray();
  for (const { id, name } of found) {
    if (name !== `name ${id}`) throw new Error(`Row ${id} has the name ${name}.`);
  }
  return found.map(({ id }) => Number(id)).sort((one, other) => one - other);
}

/** What a table has at a version or tag. */
async function idsAt(table, version) {
  await table.checkout(version);
  try {
    return await idsOf(table);
  } finally {
    await table.checkoutLatest();
  }
}

/** What a client is told where it has to look again: another was faster, or a prune took the version away. */
const AGAIN = /ncompatible|onflict|retry|not found|preempted|does not exist|no longer/i;

async function write(db) {
  const table = await db.openTable(name);
  const [tags, branches] = [await table.tags(), await table.branches()];
  const random = randomFrom(seed);
  const below = (limit) => Math.floor(random() * limit);
  const first = side === 'own' ? 2_000_000 : 1_000_000;
  let next = first;
  const known = { main: new Set(), tags: new Map(), branches: new Map() };
  const counts = {};
  const anyOf = (map) => [...map.keys()][below(map.size)];

  const add = async (target, ids) => {
    const some = Array.from({ length: 1 + below(3) }, () => next++);
    await target.add(some.map(row));
    for (const id of some) ids.add(id);
  };
  const remove = async (target, ids) => {
    const own = [...ids].filter((id) => id >= first && id < next);
    const id = own[below(own.length)];
    if (id === undefined) return;
    await target.delete(`id = ${id}`);
    ids.delete(id);
  };
  const DOES = {
    add: [40, () => add(table, known.main)],
    delete: [8, () => remove(table, known.main)],
    compact: [3, () => table.optimize()],
    prune: [
      2,
      async () => {
        try {
          await table.optimize({ cleanupOlderThan: new Date() });
        } catch (error) {
          // LanceDB's client has no option for it; prune.py does it.
          if (!/tagged version/.test(String(error))) throw error;
        }
      },
    ],
    tag: [
      8,
      async () => {
        await table.checkoutLatest();
        const [tag, version] = [`${side}-${next++}`, await table.version()];
        const ids = await idsAt(table, version);
        await tags.create(tag, version);
        known.tags.set(tag, { version, ids });
      },
    ],
    'move a tag': [
      5,
      async () => {
        const tag = anyOf(known.tags);
        if (tag === undefined) return;
        await table.checkoutLatest();
        const version = await table.version();
        const ids = await idsAt(table, version);
        await tags.update(tag, version);
        known.tags.set(tag, { version, ids });
      },
    ],
    'delete a tag': [
      2,
      async () => {
        const tag = anyOf(known.tags);
        if (tag === undefined) return;
        await tags.delete(tag);
        known.tags.delete(tag);
      },
    ],
    branch: [
      4,
      async () => {
        await table.checkoutLatest();
        const [branch, version] = [`${side}-b${next++}`, await table.version()];
        const made = await branches.create(branch, undefined, version);
        known.branches.set(branch, new Set(await idsOf(made)));
      },
    ],
    'branch from a tag': [
      2,
      async () => {
        const tag = anyOf(known.tags);
        if (tag === undefined) return;
        const { version, ids } = known.tags.get(tag);
        const branch = `${side}-b${next++}`;
        await branches.create(branch, undefined, version);
        known.branches.set(branch, new Set(ids));
      },
    ],
    'branch of a branch': [
      2,
      async () => {
        const from = anyOf(known.branches);
        if (from === undefined) return;
        const branch = `${side}-b${next++}`;
        await branches.create(branch, from);
        known.branches.set(branch, new Set(known.branches.get(from)));
      },
    ],
    'add to a branch': [
      12,
      async () => {
        const branch = anyOf(known.branches);
        if (branch === undefined) return;
        await add(await branches.checkout(branch), known.branches.get(branch));
      },
    ],
    'delete on a branch': [
      5,
      async () => {
        const branch = anyOf(known.branches);
        if (branch === undefined) return;
        await remove(await branches.checkout(branch), known.branches.get(branch));
      },
    ],
    'compact a branch': [
      2,
      async () => {
        const branch = anyOf(known.branches);
        if (branch === undefined) return;
        await (await branches.checkout(branch)).optimize();
      },
    ],
    'delete a branch': [
      2,
      async () => {
        const branch = anyOf(known.branches);
        if (branch === undefined) return;
        try {
          await branches.delete(branch);
          known.branches.delete(branch);
        } catch (error) {
          if (!/was made from|is referenced by/.test(String(error))) throw error;
        }
      },
    ],
  };
  // As often as their weights say.
  const wheel = Object.entries(DOES).flatMap(([what, [weight, does]]) =>
    Array.from({ length: weight }, () => [what, does]),
  );
  for (let step = 0; step < Number(steps); step++) {
    const [what, does] = wheel[below(wheel.length)];
    for (let tries = 1; ; tries++) {
      try {
        await does();
        counts[what] = (counts[what] ?? 0) + 1;
        break;
      } catch (error) {
        const text = String(error?.message ?? error);
        if (!AGAIN.test(text) || tries === 20)
          throw new Error(`${what}: ${text}`, { cause: error });
        console.error(`${side}: ${what}: ${text.slice(0, 300)}`);
        counts[`${what}, refused`] = (counts[`${what}, refused`] ?? 0) + 1;
        await table.checkoutLatest();
      }
    }
  }
  return {
    counts,
    main: [...known.main],
    made: [first, next],
    tags: Object.fromEntries(known.tags),
    branches: Object.fromEntries([...known.branches].map(([key, ids]) => [key, [...ids]])),
  };
}

async function read(db) {
  const table = await db.openTable(name);
  const found = { main: await idsOf(table), versions: {}, tags: {}, branches: {} };
  for (const { version } of await table.listVersions()) {
    found.versions[version] = await idsAt(table, version);
  }
  for (const tag of Object.keys(await (await table.tags()).list())) {
    found.tags[tag] = await idsAt(table, tag);
  }
  const branches = await table.branches();
  for (const branch of Object.keys(await branches.list())) {
    if (branch !== 'main') found.branches[branch] = await idsOf(await branches.checkout(branch));
  }
  return found;
}

const db = await connection();
const answer = await (task === 'write' ? write(db) : read(db));
process.stdout.write(JSON.stringify(answer), () => process.exit(0));
