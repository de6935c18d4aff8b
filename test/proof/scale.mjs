/** What must not depend on how much there is: listing, describing, opening, committing. */
import { join } from 'node:path';
import { inFolder, median } from './processes.mjs';

const TABLES = { ci: 500, short: 10_000, long: 10_000 };
const VERSIONS = { ci: 500, short: 10_000, long: 10_000 };
/** Milliseconds for listing 10,000 tables warm. */
const LISTING = 60;
/** Times the figure of the small one. */
const FACTOR = 1.5;
const SAMPLES = 61;

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function samplesOf(work) {
  const samples = [];
  for (let at = 0; at < 9; at++) samples.push(await timed(work));
  return samples;
}

/** A figure for each of two kinds of work, sample by sample in turn. */
async function compare(small, large) {
  const figures = [[], []];
  for (let at = 0; at < SAMPLES; at++) {
    figures[0].push(await timed(small));
    figures[1].push(await timed(large));
  }
  // The lower quartile: other work on the machine only ever adds.
  return figures.map((samples) => samples.toSorted((a, b) => a - b)[samples.length >> 2]);
}

const ms = (figure) => `${figure.toFixed(3)} ms`;

export const scale = [
  {
    row: 'many tables',
    run: ({ modules, size, violated }) =>
      inFolder(async (root) => {
        const count = TABLES[size];
        const { connect } = await import(modules);
        const connection = await connect(root, { durability: 'relaxed' });
        for (const [ns, tables] of [
          ['few', 10],
          ['many', count],
        ]) {
          await connection.createNamespace([ns]);
          for (let at = 0; at < tables; at++)
            await connection.createTable(`table${at}`, [{ x: at }], [ns]);
        }
        const list = () => connection.listTables(['many'], { limit: count });
        if ((await list()).tables.length !== count) violated('the list is not complete');
        const listing = median(await samplesOf(list));
        if (listing > (LISTING * count) / 10_000 + 5)
          violated(`listing ${count} tables takes ${ms(listing)}`);
        const describe = (ns) => () => connection.describeTable('table7', [ns]);
        const [few, many] = await compare(describe('few'), describe('many'));
        if (many > few * FACTOR + 0.05)
          violated(`describe takes ${ms(few)} among 10 tables, ${ms(many)} among ${count}`);
        await connection.close();
        return {
          cases: count,
          note: `list ${ms(listing)}; describe ${ms(few)} among 10, ${ms(many)} among ${count}`,
        };
      }),
  },
  {
    row: 'many versions',
    run: ({ modules, size, violated }) =>
      inFolder(async (root) => {
        const count = VERSIONS[size];
        const { connect } = await import(modules);
        const connection = await connect(join(root, 'c'), { durability: 'relaxed' });
        const short = await connection.createTable('short', [{ x: 0 }]);
        const long = await connection.createTable('long', [{ x: 0 }]);
        for (let version = 2; version <= 10; version++) await short.add([{ x: version }]);
        for (let version = 2; version <= count; version++) await long.add([{ x: version }]);
        const notes = [];
        const check = (what, [small, large]) => {
          notes.push(`${what} ${ms(small)} / ${ms(large)}`);
          if (large > small * FACTOR + 0.05)
            violated(`${what} takes ${ms(small)} with 10 versions, ${ms(large)} with ${count}`);
        };
        // A process that has not seen the table: nothing of it is in memory.
        const opened = (name) => async () => {
          const fresh = await connect(join(root, 'c'), { readOnly: true });
          await fresh.openTable(name);
          await fresh.close();
        };
        check('open', await compare(opened('short'), opened('long')));
        check(
          'describe',
          await compare(
            () => connection.describeTable('short', [], { load_detailed_metadata: true }),
            () => connection.describeTable('long', [], { load_detailed_metadata: true }),
          ),
        );
        const samples = await compare(
          () => short.add([{ x: 1 }]),
          () => long.add([{ x: 1 }]),
        );
        check('commit', samples);
        await connection.close();
        return { cases: count, note: `10 / ${count} versions: ${notes.join('; ')}` };
      }),
  },
];
