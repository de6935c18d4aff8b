/** A process is killed at a random moment of random work: nothing acknowledged is missing after. */
import { join } from 'node:path';
import { applied, emptyState, perform, readBack, visible } from './catalog-model.mjs';
import { Child, inFolder, randomOf } from './processes.mjs';

const RUNS = { ci: 14, short: 500, long: 10_000 };
/** Catalogs that one process works on at once: each kill hits every one of them. */
const LANES = 3;
/** Runs that share a catalog, each going on where the one before was killed. */
const RUNS_A_CATALOG = 20;
/** The kill comes up to so many milliseconds after one of the first so many operations began. */
const LATEST = 10;
const OPERATIONS = 25;

export const kills = [
  {
    row: 'kill -9 at random moments',
    run: ({ modules, seed, size, violated }) =>
      inFolder(async (folder) => {
        const { connect } = await import(modules);
        const random = randomOf(seed);
        const counts = { acknowledged: 0, inFlight: 0, landed: 0, kinds: new Set() };
        const spare = () => new Child('kill-child.mjs', modules);
        let next = spare();
        let catalogs = [];
        for (let run = 0; run < RUNS[size]; run++) {
          for (let lane = 0; lane < LANES; lane++) {
            if (catalogs[lane] !== undefined && run % RUNS_A_CATALOG !== 0) continue;
            catalogs[lane] = { root: join(folder, `${run}-${lane}`), state: emptyState() };
          }
          const durability = run % 2 === 0 ? 'full' : 'relaxed';
          const child = next;
          await child.line((line) => line.ready);
          // The next process starts up while this one works.
          next = spare();
          const lanes = catalogs.map((catalog) => ({
            ...catalog,
            seed: Math.floor(random() * 2 ** 31),
          }));
          child.tell({ durability, lanes });
          let operations = Math.floor(random() * OPERATIONS);
          await child.line((line) => line.error !== undefined || (line.begin && operations-- <= 0));
          await new Promise((resolve) => setTimeout(resolve, random() * LATEST));
          await child.kill();
          catalogs = await Promise.all(
            catalogs.map(async (catalog, lane) => {
              const lines = child.lines.filter((line) => line.lane === lane);
              const fail = (what) => violated(`run ${run}, catalog ${lane}: ${what}`);
              try {
                const options = { root: catalog.root, durability };
                const state = await checked(connect, options, catalog.state, lines, counts);
                return { ...catalog, state };
              } catch (error) {
                fail(error.stack);
                return undefined;
              }
            }),
          );
        }
        await next.kill();
        const { acknowledged, inFlight, landed, kinds } = counts;
        return {
          cases: RUNS[size] * LANES,
          note: `${RUNS[size]} processes x ${LANES} catalogs, ${acknowledged} acknowledged, ${inFlight} in flight (${landed} of them landed) in ${kinds.size} kinds of operation`,
        };
      }),
  },
];

/** The state the catalog is in; throws what is wrong with it. */
async function checked(connect, { root, durability }, before, lines, counts) {
  let state = before;
  let pending;
  for (const line of lines) {
    if (line.error !== undefined) throw new Error(`refused: ${line.error}`);
    if (line.begin !== undefined) pending = line.begin;
    if (line.done !== true) continue;
    state = applied(state, pending);
    pending = undefined;
    counts.acknowledged++;
  }
  const connection = await connect(root, { durability });
  try {
    const found = await readBack(connection);
    if (pending !== undefined) {
      counts.inFlight++;
      counts.kinds.add(pending.kind);
      const after = applied(state, pending);
      const happened = found === visible(after);
      if (happened) counts.landed++;
      state = happened ? after : { ...state, next: after.next };
    }
    if (found !== visible(state)) {
      throw new Error(
        `killed in ${JSON.stringify(pending)}, expected ${visible(state)}, found ${found}`,
      );
    }
    state = await writeOnceMore(connection, state);
    const again = await readBack(connection);
    if (again !== visible(state))
      throw new Error(`one more write left ${again} instead of ${visible(state)}`);
    const { problems } = await connection.namespace.verify({});
    if (problems.length > 0) throw new Error(`verify found ${JSON.stringify(problems)}`);
    return state;
  } finally {
    await connection.close();
  }
}

/** An append where there is a table, else a namespace. */
async function writeOnceMore(connection, state) {
  const [id] = Object.entries(state.namespaces).flatMap(([ns, tables]) =>
    Object.keys(tables).map((name) => [ns, name]),
  );
  const free = ['a', 'b', 'c'].find((ns) => state.namespaces[ns] === undefined);
  if (id === undefined && free === undefined) return state;
  const operation =
    id === undefined
      ? { kind: 'create namespace', ns: free }
      : { kind: 'append', id, rows: [state.next] };
  await perform(connection, operation);
  return applied(state, operation);
}
