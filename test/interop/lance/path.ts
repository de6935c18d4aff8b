/**
 * Makes random tables with random histories, branches and tags in nested namespaces of a catalog in the mode
 * `sync`, and beside each what this package reads from its versions: `path.ts PACKAGE ROOT OUT COUNT SEED`.
 * Lance must read the same by path.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { tableToIPC } from 'apache-arrow';
import type { connect as Connect, Table } from '../../../src/index.ts';
import { seeded } from '../../helpers/arrow-samples.ts';

const [entry = '', root = '', out = '', count = '10', seed = '1'] = process.argv.slice(2);
const { connect } = (await import(pathToFileURL(entry).href)) as { connect: typeof Connect };
mkdirSync(out, { recursive: true });
const random = seeded(Number(seed));
const below = (limit: number): number => Math.floor(random() * limit);
const pick = <Value>(values: readonly Value[]): Value => values[below(values.length)] as Value;

interface Expected {
  readonly id: readonly string[];
  /** Absolute path of the table's folder. */
  readonly path: string;
  /** What Lance checks out: a version of main, of a branch, or a tag. */
  readonly ref: number | readonly [string, number] | string;
  readonly version: number;
  readonly file: string;
}
const expected: Expected[] = [];
const db = await connect(root, { lance: 'sync' });
/** A name that is escaped on disk is among them. */
const NAMESPACES = [[], ['prod'], ['prod', 'search.er'], ['con']];
for (const path of NAMESPACES.slice(1)) await db.createNamespace([...path]);

let made = 0;
const rows = (size: number): { n: number; s: string | null; v: number[] }[] =>
  Array.from({ length: size }, () => {
    made++;
    return { n: made, s: made % 5 === 0 ? null : `row ${made}`, v: [made, -made] };
  });

async function change(table: Table, step: number): Promise<void> {
  switch (below(8)) {
    case 0:
    case 1:
    case 2:
      await table.add(rows(1 + below(30)));
      break;
    case 3:
      await table.delete(`n % ${2 + below(4)} = 0`);
      break;
    case 4:
      await table.update({ where: `n % ${2 + below(4)} = 1`, values: { s: `step ${step}` } });
      break;
    case 5:
      await table.optimize(
        random() < 0.5 ? {} : { compaction: false, cleanupOlderThan: new Date() },
      );
      break;
    case 6:
      await table.restore(pick((await table.listVersions()).map(({ version }) => version)));
      break;
    default:
      await table
        .mergeInsert('n')
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute(rows(3));
  }
}

for (let at = 0; at < Number(count); at++) {
  const namespace = pick(NAMESPACES);
  let name = pick(['user', 'a.b.', 'con', 'Cap']) + at;
  // One row alone may have no text, and its column then no type.
  let table = await db.createTable(name, rows(2 + below(40)), [...namespace]);
  for (let step = 0; step < 6; step++) await change(table, step);
  if (random() < 0.3) {
    await db.renameTable(name, `${name}r`, { namespacePath: [...namespace] });
    name = `${name}r`;
    table = await db.openTable(name, [...namespace]);
  }
  const versions = (await table.listVersions()).map(({ version }) => version);
  for (const tag of ['first', 'Second.1'].slice(0, below(3)))
    await (await table.tags()).create(tag, pick(versions));
  const branches = await table.branches();
  for (const branch of ['draft', 'Other-1'].slice(0, below(3))) {
    const side = await branches.create(branch);
    for (let step = 0; step < 3; step++) await change(side, step);
    if (random() < 0.3)
      await (await table.tags()).create(`of-${branch}`, await side.version(), { branch });
    if (random() < 0.2) {
      const nested = await (await side.branches()).create(`${branch}.on`).catch(() => undefined);
      if (nested !== undefined) await change(nested, 0);
    }
  }
  for (let step = 0; step < 2; step++) await change(table, step);
  const id = [...namespace, name];
  const path = (await table.location()) as string;
  const dump = async (found: Table, ref: Expected['ref']): Promise<void> => {
    const file = `${expected.length}.arrow`;
    const rowsOf = await found.query().withRowId().toArrow();
    writeFileSync(join(out, file), tableToIPC(rowsOf as never, 'stream'));
    expected.push({ id, path, ref, version: await found.version(), file });
  };
  for (const { version } of await table.listVersions()) {
    const old = await db.openTable(name, [...namespace], { version });
    await dump(old, version);
  }
  for (const branch of Object.keys(await branches.list())) {
    const side = await branches.checkout(branch);
    for (const { version } of await side.listVersions())
      await dump(await branches.checkout(branch, version), [branch, version]);
  }
  for (const tag of Object.keys(await (await table.tags()).list()))
    await dump(await db.openTable(name, [...namespace], { tag }), tag);
  if (random() < 0.2)
    await db.dropTable(name, [...namespace]).then(() => db.undropTable(name, [...namespace]));
}
const { problems = [], leftovers = [] } = (await db.namespace.verify?.({})) ?? {};
for (const { path, what } of problems) console.log('FAILED', path, what);
for (const { path, kind } of leftovers) if (kind === 'unsynced') console.log('FAILED', path, kind);
writeFileSync(join(out, 'expected.json'), JSON.stringify(expected));
await db.close();
console.log(`${expected.length} versions, branches and tags of ${count} tables`);
