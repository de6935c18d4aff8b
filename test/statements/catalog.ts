/** A catalog in memory with a few tables, for statements. */
import { connect } from '../../src/sdk/connect.ts';
import type { Connection } from '../../src/sdk/connection.ts';
import { memoryFs } from '../helpers/memory-fs.ts';

export const PEOPLE = [
  { id: 1, name: 'ada', city: 'Oslo', age: 36, score: 1.5, active: true },
  { id: 2, name: 'bob', city: 'Rome', age: 20, score: 2.5, active: false },
  { id: 3, name: 'cy', city: 'Oslo', age: null, score: -0, active: null },
  { id: 4, name: 'dee', city: null, age: 20, score: null, active: true },
  { id: 5, name: 'eve', city: 'Rome', age: 51, score: 4, active: true },
];
export const CITIES = [
  { name: 'Oslo', country: 'NO' },
  { name: 'Rome', country: 'IT' },
  { name: 'Paris', country: 'FR' },
  { name: null, country: '??' },
];

export interface Catalog {
  readonly db: Connection;
  /** The rows of a statement, with integers as numbers. */
  rows(sql: string): Promise<Record<string, unknown>[]>;
}

export async function statementCatalog(options: object = {}): Promise<Catalog> {
  const db = await connect('/c', { fs: memoryFs(), ...options });
  await db.createNamespace(['prod']);
  const schema = {
    fields: [
      { name: 'id', type: { type: 'int32' }, nullable: false },
      { name: 'name', type: { type: 'utf8' }, nullable: true },
      { name: 'city', type: { type: 'utf8' }, nullable: true },
      { name: 'age', type: { type: 'int64' }, nullable: true },
      { name: 'score', type: { type: 'float64' }, nullable: true },
      { name: 'active', type: { type: 'bool' }, nullable: true },
    ],
  };
  const people = await db.createEmptyTable('people', schema as never, ['prod']);
  await people.add(PEOPLE.slice(0, 2));
  await people.add(PEOPLE.slice(2));
  await db.createTable('cities', CITIES);
  const rows = async (sql: string): Promise<Record<string, unknown>[]> => {
    const found = await db.sql<Record<string, unknown>>(sql).toArray();
    return found.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          typeof value === 'bigint' ? Number(value) : value,
        ]),
      ),
    );
  };
  return { db, rows };
}
