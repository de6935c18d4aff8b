/**
 * The side of this package while clients of Lance write: `write-tables.mjs PACKAGE ROOT make TABLE...`, `dump OUT
 * TABLE...`, which says what it reads from every version, or `beside COMMITS TABLE`, which commits meanwhile.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { tableToIPC } from 'apache-arrow';

const [entry, root, task, ...given] = process.argv.slice(2);
const { connect } = await import(pathToFileURL(entry).href);
const db = await connect(root, task === 'make' ? { lance: 'write' } : {});

const rows = (count, from) =>
  Array.from({ length: count }, (_, at) => ({
    id: BigInt(from + at),
    small: at % 5 === 0 ? null : at % 100,
    x: at % 7 === 0 ? null : at / 3,
    flag: at % 3 === 0,
    name: at % 6 === 0 ? null : `naïve ${from + at}`,
    vec: [at, at + 1, at + 2, at + 3],
    list: Array.from({ length: at % 4 }, (_, item) => item),
    pair: { a: at, b: `b${at}` },
  }));

/** For writers at once. */
const few = (count, from) =>
  Array.from({ length: count }, (_, at) => ({ id: BigInt(from + at), name: `name ${from + at}` }));

if (task === 'make') {
  const { Schema, Field, Int64, Int16, Float64, Float32, Bool, Utf8, List, Struct, FixedSizeList } =
    await import('apache-arrow');
  const schema = new Schema([
    new Field('id', new Int64(), false),
    new Field('small', new Int16(), true),
    new Field('x', new Float64(), true),
    new Field('flag', new Bool(), true),
    new Field('name', new Utf8(), true),
    new Field('vec', new FixedSizeList(4, new Field('item', new Float32(), true)), true),
    new Field('list', new List(new Field('item', new Float64(), true)), true),
    new Field(
      'pair',
      new Struct([new Field('a', new Float64(), true), new Field('b', new Utf8(), true)]),
      false,
    ),
  ]);
  for (const name of given) {
    if (name === 'both' || name === 'path') {
      await db.createTable(name, few(1000, 0));
      continue;
    }
    const table = await db.createTable(name, rows(1000, 0), [], { schema });
    await table.add(rows(500, 1000));
  }
} else if (task === 'dump') {
  const [out, ...names] = given;
  mkdirSync(out, { recursive: true });
  const expected = [];
  for (const name of names) {
    const table = await db.openTable(name);
    for (const { version } of await table.listVersions()) {
      await table.checkout(version);
      const file = `${name}-${version}.arrow`;
      const found = await table.query().withRowId().toArrow();
      writeFileSync(join(out, file), tableToIPC(found, 'stream'));
      expected.push({ table: name, version, opens: true, file });
    }
    await table.checkoutLatest();
  }
  writeFileSync(join(out, 'expected.json'), JSON.stringify(expected));
  const { problems = [] } = (await db.namespace.verify({})) ?? {};
  for (const { path, what } of problems) console.log(`FAILED ${path}: ${what}`);
  if (problems.length > 0) process.exitCode = 1;
} else {
  const [commits, name] = given;
  const table = await db.openTable(name);
  for (let at = 0; at < Number(commits); at++) {
    if (at % 40 === 39) await table.optimize({});
    else if (at % 10 === 9) await table.delete(`id = ${2_000_000 + at - 1}`);
    else await table.add(few(1, 2_000_000 + at));
    await table.checkoutLatest();
    if (at % 40 === 39) console.log('compacted');
    else if (at % 10 === 9) console.log(`gone ${2_000_000 + at - 1}`);
    else console.log(`added ${2_000_000 + at}`);
  }
}
await db.close();
