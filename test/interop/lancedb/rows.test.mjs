/** Adding, reading and changing rows through LanceDB's remote client. */
import * as arrow from 'apache-arrow';
import { compare, DATA, failure, objects } from './harness.mjs';

const made = async (db, rows = DATA) => db.createTable('t', rows);

compare('toArray of everything', async (db) => objects(await (await made(db)).query().toArray()));

compare('toArrow, with the types of the columns', async (db) => {
  const found = await (await made(db)).query().toArrow();
  return [found.numRows, found.schema.fields.map(({ name, type }) => [name, String(type)])];
});

compare('batches one after the other', async (db) => {
  const table = await made(db);
  let rows = 0;
  for await (const batch of table.query()) rows += batch.numRows;
  return rows;
});

compare('select, limit and offset', async (db) =>
  objects(await (await made(db)).query().select(['id', 'name']).limit(1).offset(1).toArray()),
);

compare('select of expressions', async (db) => {
  const query = (await made(db)).query().select({ twice: 'id * 2', name: 'name' });
  return objects(await query.toArray());
});

compare('where', async (db) => {
  const table = await made(db);
  const found = [];
  for (const filter of [
    'id > 1',
    "name = 'a'",
    'name IS NULL',
    'id IN (1, 3) AND name IS NOT NULL',
    'id = 99',
  ]) {
    found.push(objects(await table.query().where(filter).toArray()));
  }
  return found;
});

compare('where with an error in it', async (db) =>
  failure(async () => (await made(db)).query().where('id >').toArray()),
);

compare('withRowId answers a column of 64-bit integers', async (db) => {
  const found = await (await made(db)).query().select(['id']).withRowId().toArrow();
  return found.schema.fields.map(({ name, type }) => [name, String(type)]);
});

compare('takeRowIds and takeOffsets', async (db) => {
  const table = await made(db);
  const ids = (await table.query().withRowId().toArray()).map((row) => row._rowid);
  return [
    objects(await table.takeRowIds([ids[2], ids[0]]).select(['id']).toArray()).sort(
      (a, b) => a.id - b.id,
    ),
    objects(await table.takeOffsets([0, 2]).select(['id']).toArray()),
  ];
});

compare('countRows with and without a filter', async (db) => {
  const table = await made(db);
  return [await table.countRows(), await table.countRows('id >= 2')];
});

compare('add, and the version it answers', async (db) => {
  const table = await made(db);
  const added = await table.add([{ id: 4, name: 'd', v: [7, 8] }]);
  return [added, await table.countRows(), await table.version()];
});

compare('add of rows without a column', async (db) => {
  const table = await made(db);
  await table.add([{ id: 4, v: [7, 8] }]);
  return objects(await table.query().where('id = 4').toArray());
});

compare('add with mode overwrite', async (db) => {
  const table = await made(db);
  const added = await table.add([{ id: 9, name: 'z', v: [0, 0] }], { mode: 'overwrite' });
  return [added, objects(await table.query().toArray())];
});

compare('add of many rows in one call', async (db) => {
  const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `n${id}`, v: [id, id] }));
  const table = await made(db, rows.slice(0, 10));
  await table.add(rows);
  return [await table.countRows(), await table.countRows('id >= 19990')];
});

compare('integers beyond what a double holds keep their value', async (db) => {
  const schema = new arrow.Schema([new arrow.Field('big', new arrow.Int64(), true)]);
  const values = arrow.vectorFromArray([2n ** 62n + 1n, -(2n ** 61n) - 1n], new arrow.Int64());
  const table = await db.createEmptyTable('big', schema);
  await table.add(new arrow.Table(schema, { big: values }));
  const found = await table.query().toArrow();
  return Array.from(found.getChild('big'), String);
});

compare('delete', async (db) => {
  const table = await made(db);
  const deleted = await table.delete('id = 2');
  return [deleted, objects(await table.query().select(['id']).toArray())];
});

compare('delete of no row', async (db) => {
  const table = await made(db);
  await table.delete('id = 99');
  return table.countRows();
});

compare('update', async (db) => {
  const table = await made(db);
  const updated = await table.update({ where: 'id = 1', values: { name: 'new' } });
  return [updated, objects(await table.query().where("name = 'new'").toArray())];
});

compare('update with expressions, of all rows', async (db) => {
  const table = await made(db);
  const updated = await table.update({ valuesSql: { id: 'id + 10' } });
  return [
    updated.rowsUpdated,
    objects(await table.query().select(['id']).toArray())
      .map(({ id }) => id)
      .sort(),
  ];
});

compare('mergeInsert as an upsert', async (db) => {
  const table = await made(db);
  const merged = await table
    .mergeInsert('id')
    .whenMatchedUpdateAll()
    .whenNotMatchedInsertAll()
    .execute([
      { id: 2, name: 'm', v: [0, 0] },
      { id: 7, name: 'n', v: [1, 1] },
    ]);
  const { version, numInsertedRows, numUpdatedRows, numDeletedRows } = merged;
  const rows = objects(await table.query().toArray()).sort((a, b) => a.id - b.id);
  return [{ version, numInsertedRows, numUpdatedRows, numDeletedRows }, rows];
});

compare('mergeInsert on two columns, with rows of the target deleted', async (db) => {
  const table = await made(db);
  const merged = await table
    .mergeInsert(['id', 'name'])
    .whenNotMatchedInsertAll()
    .whenNotMatchedBySourceDelete({ where: 'id = 3' })
    .execute([{ id: 1, name: 'a', v: [0, 0] }]);
  return [merged.numInsertedRows, merged.numDeletedRows, await table.countRows()];
});

compare('orderBy', async (db) => {
  const query = (await made(db)).query();
  if (typeof query.orderBy !== 'function') return 'not in this release';
  return objects(await query.orderBy({ columnName: 'id', ascending: false }).toArray());
});

async function vectors(db) {
  const field = new arrow.Field('item', new arrow.Float32(), true);
  const schema = new arrow.Schema([
    new arrow.Field('id', new arrow.Int32(), true),
    new arrow.Field('v', new arrow.FixedSizeList(2, field), true),
  ]);
  const table = await db.createEmptyTable('vectors', schema);
  await table.add(Array.from({ length: 12 }, (_, id) => ({ id, v: [id / 2, (id * 5) % 7] })));
  return table;
}

const nearest = async (query) =>
  (await query.toArray()).map((row) => [row.id, row._distance, row.query_index ?? null]);

compare('plans of a scan and of a vector search are texts', async (db) => {
  const table = await vectors(db);
  const search = table.vectorSearch([1, 2]).limit(1);
  const plans = [
    await table.query().where('id > 1').limit(1).explainPlan(),
    await table.query().explainPlan(true),
    await table.query().where('id > 1').analyzePlan(),
    await search.explainPlan(),
    await search.analyzePlan(),
  ];
  return plans.map((plan) => [typeof plan, plan.length > 20]);
});

compare('a plan of a query with an error in it', async (db) => {
  const table = await vectors(db);
  const query = () => table.query().where('nothing > 1');
  return [await failure(() => query().explainPlan()), await failure(() => query().analyzePlan())];
});

compare('vectorSearch', async (db) => nearest((await vectors(db)).vectorSearch([1, 2]).limit(3)));

for (const metric of ['l2', 'cosine', 'dot']) {
  compare(`vectorSearch by ${metric}`, async (db) => {
    const found = await nearest(
      (await vectors(db)).vectorSearch([1, 2]).distanceType(metric).limit(5),
    );
    // The last digits depend on the order of the sums.
    return found.map(([id, distance]) => [id, distance.toFixed(4)]);
  });
}

compare('vectorSearch with a predicate before and after', async (db) => {
  const search = (await vectors(db)).vectorSearch([1, 2]).where('id > 4').limit(4);
  return [await nearest(search), await nearest(search.postfilter())];
});

compare('vectorSearch with an offset, some columns, and bounds', async (db) => {
  const table = await vectors(db);
  const search = () => table.vectorSearch([1, 2]).limit(3);
  return [
    await nearest(search().offset(1)),
    objects(await search().select(['id', '_distance']).toArray()),
    await nearest(search().distanceRange(1, 10)),
    await nearest(search().withRowId()),
  ];
});

compare('vectorSearch for several vectors at once', async (db) => {
  const found = await nearest(
    (await vectors(db)).vectorSearch([1, 2]).addQueryVector([5, 0]).limit(2),
  );
  return found.sort((a, b) => a[2] - b[2] || a[1] - b[1]);
});

compare('vectorSearch that cannot be', async (db) => {
  const table = await vectors(db);
  return [
    await failure(() => table.vectorSearch([1, 2, 3]).toArray()),
    await failure(() => table.vectorSearch([1, 2]).column('id').toArray()),
  ];
});
