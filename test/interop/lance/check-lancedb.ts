/**
 * Opens every version that tables.ts wrote with LanceDB's Node client, over REST, and compares values and row
 * ids: `check-lancedb.ts OUT URI PACKAGES`, where PACKAGES has the client in its `node_modules`.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Data, type Table, tableFromIPC } from 'apache-arrow';
import { exactValue } from '../../helpers/arrow-samples.ts';
import type { Expected } from './tables.ts';

const [out = '', uri = '', packages = ''] = process.argv.slice(2);
const { connectNamespace } = createRequire(join(packages, 'package.json'))('@lancedb/lancedb');

/** Values of a column in the order of row ids, as text that loses nothing. */
function valuesOf(table: Table, name: string): string[] {
  const ids = [...(table.getChild('_rowid') ?? [])] as bigint[];
  const values = plainValues(table, name);
  const order = ids
    .map((id, row) => [id, row] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return order.map(([, row]) => values[row] as string);
}

function plainValues(table: Table, name: string): string[] {
  const values: string[] = [];
  for (const data of table.getChild(name)?.data ?? []) {
    for (let row = 0; row < data.length; row++) {
      const value = exactValue(data as Data, row);
      values.push(
        JSON.stringify(value, (_, each) =>
          typeof each === 'bigint' || (typeof each === 'number' && !Number.isFinite(each))
            ? String(each)
            : each,
        ),
      );
    }
  }
  return values;
}

const entries = JSON.parse(readFileSync(join(out, 'expected.json'), 'utf8')) as Expected[];
// A client is told of a table by its newest version: where that does not open, none does.
const newest = new Map(entries.map(({ table, opens }) => [table, opens]));
const db = await connectNamespace('rest', { uri });
const failures: string[] = [];
let [opened, values, leftOut] = [0, 0, 0];
for (const { table: name, version, opens, file } of entries) {
  if (!opens || newest.get(name) !== true) continue;
  const want = tableFromIPC(readFileSync(join(out, file)));
  try {
    const table = await db.openTable(name);
    await table.checkout(version);
    // The client takes results through apache-arrow 18, which has no large lists.
    const columns = want.schema.fields.filter(({ type }) => !String(type).includes('LargeList'));
    leftOut += want.schema.fields.length - columns.length;
    const names = columns.map(({ name }) => name).filter((each) => each !== '_rowid');
    const got = (await table.query().select(names).withRowId().toArrow()) as Table;
    opened++;
    for (const { name: column } of columns) {
      const [left, right] = [valuesOf(want, column), valuesOf(got, column)];
      const at = left.findIndex((value, row) => value !== right[row]);
      if (left.length !== right.length || at >= 0) {
        failures.push(
          `${name} version ${version}: column ${column} of ${want.getChild(column)?.type}: row ${at} is ${right[at]}, not ${left[at]} (${right.length} rows of ${left.length})`,
        );
      }
      values += left.length;
    }
    table.close();
  } catch (error) {
    failures.push(`${name} version ${version}: ${String(error).slice(0, 300)} ${want.schema}`);
  }
}
for (const failure of failures) console.log('FAILED', failure);
console.log(
  `LanceDB: ${opened} versions opened, ${values} values, ${leftOut} columns of large lists left out, ${failures.length} failures`,
);
process.exit(failures.length > 0 ? 1 : 0);
