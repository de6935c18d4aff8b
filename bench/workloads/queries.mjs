/** Sorting, computed predicates, functions of texts and rows as objects, on 1,000,000 rows. */
import { tableOf, tabular } from '../harness/data.mjs';
import { Stores, W_TYPES } from '../harness/stores.mjs';
import { touchObjects } from '../harness/touch.mjs';
import { ROWS } from './reads.mjs';

const by = (columnName) => ({ columnName, ascending: true, nullsFirst: false });
const SAMPLES = { samples: 7, warmups: 1 };

/** The sum of the ids tells whether both sides found the same rows. */
async function idsOf(query) {
  const table = await query.toArrow();
  const ids = table.getChild('id').toArray();
  return Number(ids.reduce((sum, id) => sum + BigInt(id), 0n));
}

const orderings = [
  {
    name: 'ORDER BY number LIMIT 10',
    goals: [{ times: 1 / 1.5, against: 'duckdb' }, { atMost: 40 }],
    run: (t) => idsOf(t.query().orderBy(by('x')).limit(10)),
    sql: () => 'SELECT sum(id) FROM (SELECT * FROM w ORDER BY x LIMIT 10)',
    value: true,
  },
  {
    name: 'ORDER BY text LIMIT 10',
    goals: [{ times: 2 }],
    run: (t) => idsOf(t.query().orderBy(by('text')).limit(10)),
    sql: () => 'SELECT sum(id) FROM (SELECT * FROM w ORDER BY text LIMIT 10)',
    value: true,
  },
  {
    name: 'ORDER BY number, all rows to Arrow',
    goals: [{ times: 2 }],
    samples: 3,
    run: (t) => t.query().orderBy(by('x')).toArrow(),
    sql: () => 'SELECT * FROM w ORDER BY x',
  },
  {
    name: 'ORDER BY text, all rows to Arrow',
    goals: [{ times: 2 }],
    samples: 3,
    run: (t) => t.query().orderBy(by('text')).toArrow(),
    sql: () => 'SELECT * FROM w ORDER BY text',
  },
];

const count = (name, predicate, goals) => ({
  name,
  goals,
  run: (t) => t.countRows(predicate),
  sql: () => `SELECT count(*) FROM w WHERE ${predicate}`,
  value: true,
});

const counts = [
  count('count where x*2 > t AND id % 7 = 0', 'x*2 > 1.37 AND id % 7 = 0', [{ times: 1.5 }]),
  count("count where lower(text) LIKE '%..%'", "lower(text) LIKE '%ab0%'", [{ times: 1.2 }]),
  count('count where length(text) > 40', 'length(text) > 40'),
  count('count where starts_with(upper(text), ..)', "starts_with(upper(text), 'QA')"),
  count('count where (x - 0.5) * (x - 0.5) < 0.01', '(x - 0.5) * (x - 0.5) < 0.01'),
];

const computed = [
  {
    name: 'compute x * 2 + id for all rows',
    run: (t) => t.query().select({ y: 'x * 2 + id' }).toArrow(),
    sql: () => 'SELECT x * 2 + id AS y FROM w',
  },
  {
    name: 'compute upper(text) for all rows',
    run: (t) => t.query().select({ y: 'upper(text)' }).toArrow(),
    sql: () => 'SELECT upper(text) AS y FROM w',
  },
  {
    name: 'compute substr(text, 3, 8) for all rows',
    run: (t) => t.query().select({ y: 'substr(text, 3, 8)' }).toArrow(),
    sql: () => 'SELECT substr(text, 3, 8) AS y FROM w',
  },
  {
    name: 'compute concat(category, text) for all rows',
    run: (t) => t.query().select({ y: 'concat(category, text)' }).toArrow(),
    sql: () => 'SELECT concat(category, text) AS y FROM w',
  },
];

export async function* queryWorkloads(ctx) {
  const stores = await Stores.open(ctx, 'queries');
  const columns = tabular(ctx.size(ROWS));
  await stores.create('w', (arrow) => tableOf(arrow, columns));
  await stores.toDuck('w', W_TYPES);
  const tables = await stores.tables('w');
  for (const { name, goals, samples, run, sql, value } of [...orderings, ...counts, ...computed]) {
    const sides = stores.reads(tables, run, sql, value);
    yield { name, goals, ...SAMPLES, ...(samples && { samples }), sides };
  }
  const limit = ctx.size(100_000);
  const objects = stores.reads(tables, async (t) =>
    touchObjects(await t.query().limit(limit).toArray()),
  );
  if (ctx.peers.has('duckdb')) {
    objects.duckdb = async () =>
      touchObjects(await stores.duck.objects(`SELECT * FROM w LIMIT ${limit}`));
  }
  yield { name: 'toArray() of 100,000 rows, every value read', ...SAMPLES, sides: objects };
  stores.close();
}
