/** A program of a user as an ES module: what compiles here, and what has to be refused. */
import * as arrow21 from 'apache-arrow';
import * as arrow15 from 'apache-arrow-15';
import * as arrow18 from 'apache-arrow-18';
import {
  type ColumnTypes,
  type Connection,
  connect,
  type OnWriteProgress,
  type Row,
  type Table,
  type TypeLike,
  toRecordBatchStream,
  type VectorColumns,
} from 'dirspace';
import { runConformance } from 'dirspace/conformance';
import { createServer } from 'dirspace/server';

interface User {
  id: number;
  name: string;
}

type Same<A, B> = [A, B] extends [B, A] ? true : false;
const yes = <_Fact extends true>(): void => {};

export async function rows(db: Connection): Promise<void> {
  const plain: Table = await db.openTable('users');
  const [first] = await plain.query().where('id > 1').toArray();
  // Rows are `any` where the program does not say more, as LanceDB's are.
  const text: string = first.name.toUpperCase();
  const users = await db.openTable<User>('users');
  const found = await users.query().toArray();
  yes<Same<typeof found, User[]>>();
  const near = await users.vectorSearch([1, 2]).limit(3).toArray();
  yes<Same<typeof near, User[]>>();
  const taken = await users.takeOffsets([1]).toArray();
  yes<Same<typeof taken, User[]>>();
  const some = await users.query().select(['id']).toArray<Pick<User, 'id'>>();
  yes<Same<typeof some, { id: number }[]>>();
  // @ts-expect-error: users have no such column
  console.log(found[0]?.age, text);
  // @ts-expect-error: the rows are users, whatever takes them
  const others: { age: symbol }[] = await users.query().toArray();
  // @ts-expect-error
  const nearOthers: { age: symbol }[] = await users.vectorSearch([1]).toArray();
  // @ts-expect-error
  const takenOthers: { age: symbol }[] = await users.takeOffsets([1]).toArray();
  const unchecked: { age: symbol }[] = await plain.query().toArray();
  console.log(others, nearOthers, takenOthers, unchecked);
  const same: Table = users;
  const row: Row | undefined = found[0] && { ...found[0] };
  console.log(same.name, row);
}

interface Reading {
  id: number;
  at: Date;
  count: bigint;
  vector: Float32Array;
  tags: string[];
  place: { city: string | null };
  note: string | null;
}

/** What a table of typed rows takes. */
export async function writing(db: Connection): Promise<void> {
  const [id, at, count, vector] = [1, new Date(), 5n, new Float32Array(2)];
  const whole: Reading = { id, at, count, vector, tags: ['a'], place: { city: 'Ulm' }, note: null };
  const table = await db.createTable<Reading>('readings', [whole]);
  yes<Same<typeof table, Table<Reading>>>();
  await db.createTable<Reading>({ name: 'readings', data: [whole] });
  // Columns take more than they give back, and nulls may be left out.
  await table.add([{ id, at: '2026-01-01', count: 5, vector: [1, 2], tags: [], place: {} }]);
  await table.add([[whole], [whole]]);
  await table.add(new Set([whole]));
  await table.add(arrow21.tableFromArrays({ id: [1] }));
  await table.mergeInsert('id').whenMatchedUpdateAll().execute([whole]);
  await table.update({ id: 'id + 1', 'place.city': 'NULL' });
  await table.update({ values: { note: 'x' }, where: 'id = 1' });
  await table.update({ valuesSql: new Map([['id', 'id + 1']]) });
  // @ts-expect-error: no such column
  await table.add([{ nope: 1 }]);
  // @ts-expect-error: no such column beside the others
  await table.add([{ ...whole, nope: 1 }]);
  // @ts-expect-error: an id is a number
  await table.add([{ ...whole, id: 'a' }]);
  // @ts-expect-error: no such column
  await table.mergeInsert('id').execute([{ nope: 1 }]);
  // @ts-expect-error: no such column
  await table.update({ nope: '1' });
  // @ts-expect-error: no such column
  await table.update({ values: { nope: 1 } });
  // @ts-expect-error: an id is a number
  await db.createTable<User>('users', [{ id: 'a', name: 'Ada' }]);
  // Rows are `any` where the program names no type, whatever the data is.
  const plain = await db.createTable('plain', [{ id: 1 }]);
  yes<Same<typeof plain, Table>>();
  const any = 0 as unknown as typeof plain extends Table<infer RowType> ? RowType : never;
  any.whatever.it.has;
  await plain.add([{ nope: 1 }]);
  await plain.update({ nope: '1' });
}

/** A helper of a program over tables of any rows. */
export const copied = <RowType,>(table: Table<RowType>, rows: RowType[]): Promise<unknown> =>
  table.add(rows);

export async function oldArrow(db: Connection, table: Table): Promise<void> {
  const { Schema: S15, Field: F15, Int32: I15, Utf8: U15 } = arrow15;
  const { Schema: S18, Field: F18, Int32: I18, Utf8: U18 } = arrow18;
  const { Schema: S21, Field: F21, Int32: I21, Utf8: U21 } = arrow21;
  const schema15 = new S15([new F15('id', new I15(), true)]);
  const schema18 = new S18([new F18('id', new I18(), true)]);
  const schema21 = new S21([new F21('id', new I21(), true)]);
  await db.createEmptyTable('a', schema15);
  await db.createEmptyTable('b', schema18);
  await db.createEmptyTable('c', schema21);
  for (const schema of [schema15, schema18, schema21]) {
    await db.createTable('t', [], { schema });
    await table.add([{ id: 1 }], { schema });
    await table.addColumns(schema);
  }
  await table.addColumns(new F15('x', new U15(), true));
  await table.addColumns([new F18('x', new U18(), true)]);
  await table.addColumns([new F21('x', new U21(), true)]);
  await table.alterColumns([{ path: 'id', dataType: new I15() }]);
  await table.alterColumns([{ path: 'id', dataType: new I18() }]);
  await table.alterColumns([{ path: 'id', dataType: new I21() }]);
  await table.add(arrow15.tableFromArrays({ id: [1] }));
  await table.add(arrow18.tableFromArrays({ id: [1] }));
  await table.add(arrow21.tableFromArrays({ id: [1] }));
  // @ts-expect-error: no schema
  await db.createEmptyTable('d', 5);
}

/** Options that a program makes apart from the call. */
export async function options(db: Connection, table: Table): Promise<void> {
  const vectorColumns: VectorColumns = { near: { type: new arrow21.Float32() } };
  const columnTypes: ColumnTypes = new Map([['id', new arrow21.Int32()]]);
  const progress: OnWriteProgress = ({ outputRows }) => console.log(outputRows);
  const changed = (dataType: TypeLike) => table.alterColumns([{ path: 'id', dataType }]);
  await db.createTable('vectors', [{ near: [1, 2] }], { vectorColumns });
  await table.add(await toRecordBatchStream([{ id: 1 }], { columnTypes }), { progress });
  await changed(new arrow15.Int32());
}

export async function main(): Promise<void> {
  const db = await connect({ uri: '/tmp/catalog' });
  await rows(db);
  await options(db, await db.openTable('users'));
  console.log(createServer, runConformance);
}
