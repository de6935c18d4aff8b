/**
 * Makes random tables that are written for Lance, and beside each what this package reads from some of its
 * versions: `tables.ts PACKAGE ROOT OUT COUNT SEED`. Lance must read the same.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  Field,
  Int32,
  makeData,
  RecordBatch,
  Schema,
  type Struct,
  Table,
  Type,
  tableToIPC,
} from 'apache-arrow';
import type { connect as Connect } from '../../../src/index.ts';
import { leafTypes, nestedTypes, randomBatch, seeded } from '../../helpers/arrow-samples.ts';

const [entry = '', root = '', out = '', count = '20', seed = '1'] = process.argv.slice(2);
const { connect } = (await import(pathToFileURL(entry).href)) as { connect: typeof Connect };
mkdirSync(out, { recursive: true });
const random = seeded(Number(seed));
const below = (limit: number): number => Math.floor(random() * limit);
const pick = <Value>(values: readonly Value[]): Value => values[below(values.length)] as Value;

/** Types without a form in Lance 2.0 make the table say so; few of them, so that most tables open. */
const CLOSED = /interval|int8$|map|union|dictionary_of/;
const flat = Object.entries(leafTypes)
  .filter(([name]) => name === 'int8' || !CLOSED.test(name))
  .map(([, make]) => make);
const nested = Object.entries(nestedTypes)
  .filter(([name]) => !CLOSED.test(name))
  .map(([, make]) => make);
const closed = Object.entries(leafTypes)
  .filter(([name]) => /interval/.test(name))
  .map(([, make]) => make);

function randomType(): Field['type'] {
  if (random() < 0.02) return pick(closed)();
  if (random() < 0.7) return pick(flat)();
  const inner = (): Field['type'] =>
    random() < 0.8 ? pick(flat)() : pick(nested)(pick(flat)(), pick(flat)());
  return pick(nested)(inner(), inner());
}

/**
 * Null structs stand in fragments of their own for Lance, which are few where they come together: mostly all structs
 * of a column are null or none, and where they are mixed the table closes.
 */
function withFewNullStructs(batch: RecordBatch): RecordBatch {
  const columns = batch.data.children.map((data) => {
    const { type, length, nullCount, children } = data;
    if (type.typeId !== Type.Struct || nullCount === 0 || random() < 0.1) return data;
    const nulls =
      random() < 0.4
        ? { nullCount: length, nullBitmap: new Uint8Array((length + 7) >> 3) }
        : { nullCount: 0 };
    return makeData({ type: type as Struct, length, children, ...nulls });
  });
  return new RecordBatch(
    batch.schema,
    batch.data.clone(batch.data.type, 0, batch.numRows, 0, undefined, columns),
  );
}

/** One version, and a file of what this package reads from it. */
export interface Expected {
  readonly table: string;
  readonly version: number;
  readonly opens: boolean;
  readonly reason?: string;
  readonly file: string;
}
const expected: Expected[] = [];
const db = await connect(root, { lance: 'read' });

for (let at = 0; at < Number(count); at++) {
  const name = `t${at}`;
  const fields = Array.from({ length: 1 + below(6) }, (_, column) => {
    const type = randomType();
    const canBeNull = random() < 0.8;
    return new Field(`c${column}`, type, canBeNull);
  });
  const schema = new Schema([new Field('n', new Int32(), true), ...fields]);
  // Columns of fragments of a few hundred KiB are written beside them when they change.
  const most = random() < 0.5 ? 200 : 8000;
  const rows = (): Table => {
    const batches = Array.from({ length: 1 + below(3) }, () =>
      withFewNullStructs(
        randomBatch(schema as never, below(most), random, random() < 0.3 ? 0 : 0.2) as never,
      ),
    );
    return new Table(schema, batches);
  };
  let table: Awaited<ReturnType<typeof db.createTable>>;
  try {
    const compression = pick(['auto', 'zstd', 'none'] as const);
    table = await db.createTable(name, rows() as never, [], { compression });
  } catch (error) {
    console.log(`${name}: ${String(error).slice(0, 200)}`);
    continue;
  }
  const dump = async (): Promise<void> => {
    const version = await table.version();
    const described = await db.describeTable(name, [], { load_detailed_metadata: true });
    const { opens = false, reason } = described.lance ?? {};
    const file = `${name}-${version}.arrow`;
    const found = await table.query().withRowId().toArrow();
    writeFileSync(join(out, file), tableToIPC(found as never, 'stream'));
    expected.push({
      table: name,
      version,
      opens,
      ...(reason === undefined ? {} : { reason }),
      file,
    });
  };
  await dump();
  for (let step = 0; step < 6; step++) {
    try {
      switch (below(7)) {
        case 0:
        case 1:
          await table.add(rows() as never);
          break;
        case 2:
          await table.delete(`n % ${2 + below(5)} = 0 OR n IS NULL`);
          break;
        case 3:
          await table.optimize({});
          break;
        case 4:
          await table.addColumns([{ name: `x${step}`, valueSql: 'n + 1' }]);
          break;
        case 5:
          await table.alterColumns([{ path: 'n', dataType: 'int64' }]);
          break;
        default:
          await table.update({ where: 'n > 0', values: { n: 7 } as never });
      }
    } catch (error) {
      // Appends do not fit a schema that was changed, and so on: the table stays as it is.
      if (!/Nothing was|cannot|does not fit|already/.test(String(error))) throw error;
    }
  }
  await dump();
}
writeFileSync(join(out, 'expected.json'), JSON.stringify(expected, null, 1));
await db.close();
console.log(`${expected.length} versions of ${count} tables`);
