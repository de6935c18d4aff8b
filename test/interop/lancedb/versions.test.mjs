/** Versions, tags, branches and columns through LanceDB's remote client. */
import { compare, DATA, failure, objects } from './harness.mjs';

async function grown(db) {
  const table = await db.createTable('t', DATA);
  await table.add([{ id: 4, name: 'd', v: [7, 8] }]);
  return table;
}

compare('listVersions', async (db) => {
  const versions = await (await grown(db)).listVersions();
  return versions.map(({ version, timestamp }) => [version, timestamp instanceof Date]);
});

compare('checkout and checkoutLatest', async (db) => {
  const table = await grown(db);
  await table.checkout(1);
  const old = [await table.version(), await table.countRows()];
  await table.checkoutLatest();
  return [old, await table.version(), await table.countRows()];
});

compare('checkout of a version that is not there', async (db) => {
  const table = await grown(db);
  return failure(() => table.checkout(99));
});

compare('restore', async (db) => {
  const table = await grown(db);
  await table.checkout(1);
  await table.restore();
  return [await table.version(), await table.countRows()];
});

compare('tags', async (db) => {
  const table = await grown(db);
  const tags = await table.tags();
  await tags.create('one', 1);
  const listed = Object.entries(await tags.list()).map(([name, { version }]) => [name, version]);
  const version = await tags.getVersion('one');
  await tags.update('one', 2);
  const moved = await tags.getVersion('one');
  await table.checkout('one');
  const rows = await table.countRows();
  await table.checkoutLatest();
  await tags.delete('one');
  return [listed, version, moved, rows, Object.keys(await tags.list())];
});

compare('tags that are taken or missing', async (db) => {
  const table = await grown(db);
  const tags = await table.tags();
  await tags.create('one', 1);
  return [
    await failure(() => tags.create('one', 2)),
    await failure(() => tags.getVersion('missing')),
    await failure(() => tags.delete('missing')),
    await failure(() => tags.update('missing', 1)),
    (await failure(() => tags.create('two', 99))) === 'succeeds',
  ];
});

compare('branches', async (db) => {
  const table = await grown(db);
  if (typeof table.branches !== 'function') return 'not in this release';
  const branches = await table.branches();
  await branches.create('dev');
  const dev = await branches.checkout('dev');
  await dev.add([{ id: 5, name: 'e', v: [0, 0] }]);
  const counts = [await dev.countRows(), await table.countRows()];
  const names = Object.keys(await branches.list());
  await branches.delete('dev');
  return [counts, names, Object.keys(await branches.list())];
});

compare('stats', async (db) => {
  const { numRows, numIndices, fragmentStats } = await (await grown(db)).stats();
  return [numRows, numIndices, fragmentStats.numFragments];
});

compare('a table without indices', async (db) => {
  const table = await grown(db);
  return [await table.listIndices(), (await table.indexStats('missing')) ?? null];
});

compare('addColumns', async (db) => {
  const table = await grown(db);
  const added = await table.addColumns([{ name: 'twice', valueSql: 'id * 2' }]);
  return [added, objects(await table.query().select(['id', 'twice']).toArray())];
});

compare('alterColumns', async (db) => {
  const table = await grown(db);
  const altered = await table.alterColumns([{ path: 'name', rename: 'title' }]);
  return [altered, (await table.schema()).fields.map(({ name }) => name)];
});

compare('dropColumns', async (db) => {
  const table = await grown(db);
  const dropped = await table.dropColumns(['name']);
  return [dropped, (await table.schema()).fields.map(({ name }) => name)];
});
