/** Every clause of a merge, changes that fail, and changes of columns, through LanceDB's remote client. */
import * as arrow from 'apache-arrow';
import { compare, failure, objects } from './harness.mjs';

const schema = new arrow.Schema([
  new arrow.Field('id', new arrow.Int32(), true),
  new arrow.Field('name', new arrow.Utf8(), true),
  new arrow.Field('x', new arrow.Float64(), true),
]);
const ROWS = [
  { id: 1, name: 'a', x: 1 },
  { id: 2, name: 'b', x: 2 },
  { id: 3, name: null, x: 3 },
  { id: null, name: 'd', x: 4 },
];
const made = (db) => db.createTable('t', ROWS, { schema });
const sorted = async (table) =>
  objects(await table.query().toArray()).sort((a, b) => a.id - b.id || a.x - b.x);

const upsert = (merge) => merge.whenMatchedUpdateAll().whenNotMatchedInsertAll();

/** What a merge counts, or how it fails, and what is there afterwards. */
async function merged(db, on, clauses, rows) {
  const table = await made(db);
  let counts;
  const ended = await failure(async () => {
    const answer = await clauses(table.mergeInsert(on)).execute(rows);
    counts = [answer.numInsertedRows, answer.numUpdatedRows, answer.numDeletedRows];
  });
  return [ended, counts ?? null, await sorted(table)];
}

const two = [
  { id: 1, name: 'new', x: 0 },
  { id: 9, name: 'new', x: 9 },
];
const newer = { where: 'source.x > target.x' };
const merges = {
  'inserts only': ['id', (m) => m.whenNotMatchedInsertAll(), two],
  'updates only': ['id', (m) => m.whenMatchedUpdateAll(), two],
  'a condition that is false': ['id', (m) => m.whenMatchedUpdateAll(newer), two],
  'a condition that is true, with the rest inserted': [
    'id',
    (m) => m.whenMatchedUpdateAll(newer).whenNotMatchedInsertAll(),
    [{ id: 1, name: 'new', x: 5 }, two[1]],
  ],
  'a condition that is null': [
    'id',
    (m) => m.whenMatchedUpdateAll(newer),
    [{ id: 1, name: 'new', x: null }],
  ],
  'rows that did not come deleted': ['id', (m) => m.whenNotMatchedBySourceDelete(), two],
  'all clauses at once': [
    'id',
    (m) => upsert(m).whenNotMatchedBySourceDelete({ where: 'x > 2' }),
    two,
  ],
  'null keys match nothing': ['id', upsert, [{ id: null, name: 'new', x: 5 }]],
  'a null in one of two keys': [['id', 'name'], upsert, [{ id: 3, name: null, x: 5 }]],
  'two keys': [['id', 'name'], upsert, [{ id: 1, name: 'a', x: 5 }, two[0]]],
  'one new key twice': ['id', upsert, [two[1], { id: 9, name: 'other', x: 8 }]],
  'one known key twice': ['id', upsert, [two[0], { id: 1, name: 'other', x: 8 }]],
  'columns that do not come keep their values': ['id', upsert, [{ id: 1, x: 5 }]],
  'no clause': ['id', (m) => m, two],
  'a key that the data does not have': ['id', upsert, [{ x: 1 }]],
  'a condition with an error in it': [
    'id',
    (m) => m.whenMatchedUpdateAll({ where: 'source.y > 1' }),
    two,
  ],
};
for (const [name, [on, clauses, rows]] of Object.entries(merges)) {
  compare(`mergeInsert: ${name}`, (db) => merged(db, on, clauses, rows));
}

compare('update: its three forms, and values of null', async (db) => {
  const table = await made(db);
  const answers = [
    await table.update({ values: { name: "it's", x: null }, where: 'id = 1' }),
    await table.update(new Map([['x', 'x * 10']]), { where: 'x >= 2' }),
    await table.update({ name: "name || '!'" }, { where: "name <> 'b'" }),
    (await table.update({ x: '0' }, { where: 'id = 99' })).rowsUpdated,
  ];
  return [answers, await sorted(table)];
});

compare('changes that fail change nothing', async (db) => {
  const required = new arrow.Schema([new arrow.Field('n', new arrow.Int32(), false)]);
  const strict = await db.createTable('strict', [{ n: 1 }], { schema: required });
  const table = await made(db);
  return [
    await failure(() => strict.update({ n: 'null' })),
    await failure(() => table.update({ id: "'abc'" })),
    await failure(() => table.delete('x')),
    await failure(() => table.delete('')),
    await failure(() => table.update({ values: { x: 0 }, where: 5 })),
    await sorted(table),
  ];
});

compare('columns: several added, swapped, required, dropped and added again', async (db) => {
  const table = await made(db);
  await table.addColumns([
    { name: 'twice', valueSql: 'x * 2' },
    { name: 'none', valueSql: 'cast(null as bigint)' },
  ]);
  await table.alterColumns([
    { path: 'name', rename: 'twice' },
    { path: 'twice', rename: 'name' },
  ]);
  await table.alterColumns([{ path: 'x', nullable: false }]);
  await table.dropColumns(['none', 'name']);
  const { fields } = await table.schema();
  await table.addColumns([{ name: 'name', valueSql: "'again'" }]);
  return [
    fields.map(({ name, nullable, type }) => [name, nullable, String(type)]),
    await table.countRows("name = 'again' AND twice = 'b'"),
    await sorted(table),
  ];
});

compare('columns that cannot be changed so', async (db) => {
  const table = await made(db);
  return [
    await failure(() => table.alterColumns([{ path: 'name', nullable: false }])),
    await failure(() => table.dropColumns(['id', 'name', 'x'])),
    await failure(() => table.addColumns([{ name: 'b', valueSql: 'nothing + 1' }])),
    (await table.schema()).fields.map(({ name }) => name),
  ];
});

compare('stats with all members', async (db) => {
  const table = await made(db);
  for (const rows of [1, 2, 1, 3, 1]) await table.add(ROWS.slice(0, rows));
  const { totalBytes, ...rest } = await table.stats();
  await table.delete('id = 2');
  return [totalBytes > 0, rest, (await table.stats()).fragmentStats];
});
