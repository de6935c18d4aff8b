// Runs random predicates over random rows with nulls here and in DuckDB and compares row by row.
// `npm run differential` in the root, or node differential.mjs [--cases N] [--seed N] [--built FOLDER]
import { parseArgs } from 'node:util';
import { generator, makePredicates } from './predicates.mjs';
import { randomRows } from './rows.mjs';

const { values: args } = parseArgs({
  options: {
    cases: { type: 'string', default: '3000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    built: { type: 'string', default: '../../../.build/src' },
  },
});
const seed = Number(args.seed);
const cases = Number(args.cases);
console.log(`seed ${seed}, ${cases} cases`);

const base = new URL(`${args.built}/`, args.built.startsWith('/') ? 'file:///' : import.meta.url);
const { compilePredicate } = await import(new URL('sql/expression.js', base).href);

const rng = generator(seed);
const ROWS = 200;
const { columns, vectors, table, schema, db } = await randomRows(rng, ROWS);
const batch = { numRows: ROWS, getChild: (name) => vectors[name] ?? table.getChild(name) };

const { condition } = makePredicates(rng);
const different = [];
const onlyOurs = new Map();
const onlyTheirs = new Map();
let agreed = 0;
const outcomes = { true: 0, false: 0, null: 0 };
let bothRefused = 0;
const note = (map, message, sql) => {
  const key = message
    .replace(/\(at position \d+\)/, '')
    .replace(/'[^']*'/g, "'..'")
    .replace(/-?\d[\d.]*/g, 'N')
    .slice(0, 110);
  const entry = map.get(key) ?? { count: 0, sql };
  entry.count++;
  map.set(key, entry);
};
for (let i = 0; i < cases; i++) {
  const [ours, theirs] = condition(3);
  let mine;
  let mineError;
  let their;
  let theirError;
  try {
    const compiled = await compilePredicate(ours, schema);
    const vector = compiled.evaluate(batch, { rowIds: { start: 0 } });
    mine = Array.from({ length: ROWS }, (_, row) => vector.get(row));
    const selected = [...compiled.select(batch, { rowIds: { start: 0 } })];
    const expected = mine.flatMap((value, row) => (value === true ? [row] : []));
    if (JSON.stringify(selected) !== JSON.stringify(expected))
      different.push({ ours, why: 'select and evaluate disagree' });
  } catch (error) {
    mineError = error;
    if (error.code !== 'InvalidInput') different.push({ ours, why: `unexpected ${error.stack}` });
  }
  try {
    const result = await db.runAndReadAll(`SELECT (${theirs}) FROM t ORDER BY rowid`);
    their = result.getRows().map(([value]) => value);
  } catch (error) {
    theirError = error;
  }
  if (mineError && theirError) bothRefused++;
  else if (mineError) note(onlyOurs, mineError.message, ours);
  else if (theirError) note(onlyTheirs, theirError.message.split('\n')[0], theirs);
  else {
    const row = mine.findIndex((value, k) => value !== their[k]);
    for (const value of mine) outcomes[value]++;
    if (row < 0) agreed++;
    else
      different.push({
        ours,
        theirs,
        row,
        mine: mine[row],
        their: their[row],
        values: Object.fromEntries(
          Object.entries(columns)
            .filter(([name]) => ours.includes(name))
            .map(([name, [, , values]]) => [name, values[row]]),
        ),
      });
  }
}
console.log(
  `${agreed} agree, ${bothRefused} refused by both, ${different.length} differ; values ${JSON.stringify(outcomes)}`,
);
for (const [title, map] of [
  ['refused here only', onlyOurs],
  ['refused by DuckDB only', onlyTheirs],
]) {
  for (const [message, { count, sql }] of map)
    console.log(`${title}: ${count} x ${message}\n    ${sql.slice(0, 200)}`);
}
const shown = (value) =>
  JSON.stringify(value, (_, v) =>
    typeof v === 'bigint'
      ? String(v)
      : typeof v === 'number' && !Number.isFinite(v)
        ? String(v)
        : Object.is(v, -0)
          ? '-0'
          : v,
  );
different.sort((a, b) => a.ours.length - b.ours.length);
for (const found of different.slice(0, 12)) console.log(shown(found));
process.exitCode = different.length > 0 ? 1 : 0;
