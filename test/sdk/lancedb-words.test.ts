/** Errors whose words programs that were written for LanceDB look for. */
import { expect, test } from 'vitest';
import { connect, embedding, permutationBuilder } from '../../src/index.ts';

test('a mode or a behavior that there is not', async () => {
  const db = await connect('memory://');
  const mode = 'frobnicate' as 'create';
  await expect(db.createNamespace(['x'], { mode })).rejects.toThrow("Invalid mode 'frobnicate'");
  await db.createNamespace(['x']);
  const behavior = 'frobnicate' as 'cascade';
  await expect(db.dropNamespace(['x'], { behavior })).rejects.toThrow(
    "Invalid behavior 'frobnicate': it is one of restrict, cascade.",
  );
});

test('a version below 0, and restore without one', async () => {
  const db = await connect('memory://');
  const table = await db.createTable('t', [{ id: 1 }]);
  const branches = await table.branches();
  await expect(branches.create('b', 'main', -1)).rejects.toThrow('non-negative');
  const text = '1' as unknown as number;
  await expect(branches.create('b', 'main', text)).rejects.toThrow('fromVersion is "1"');
  await expect(table.restore()).rejects.toThrow('checkout before running restore');
  expect(Object.keys(await branches.list())).toEqual([]);
});

test('a secret, and splits of no kind', async () => {
  class Secret extends embedding.EmbeddingFunction<string, { secretKey?: string }> {
    constructor(options: { secretKey?: string } = {}) {
      super();
      this.resolveVariables(options);
    }
    protected override getSensitiveKeys(): string[] {
      return ['secretKey'];
    }
    async computeSourceEmbeddings(): Promise<number[][]> {
      return [];
    }
    embeddingDataType(): never {
      throw new Error('not asked for');
    }
  }
  expect(() => new Secret({ secretKey: 'x' })).toThrow(
    'The key "secretKey" is sensitive and cannot be set directly',
  );
  const db = await connect('memory://');
  const builder = permutationBuilder(await db.createTable('t', [{ id: 1 }]));
  expect(() => builder.splitRandom({})).toThrow("Exactly one of 'ratios', 'counts', or 'fixed'");
});

test('columns that are not there, and no rows', async () => {
  const db = await connect('memory://');
  await expect(db.createTable('none', [])).rejects.toThrow(
    'At least one record or a schema needs to be provided',
  );
  const table = await db.createTable('t', [{ id: 1, metadata: { a: 1 } }]);
  await expect(table.add([{ id: 2, extra: 1 }])).rejects.toThrow(
    'Found field not in schema: extra at row 0',
  );
  await expect(table.add([{ id: 2, metadata: { a: 1, b: 2 } }])).rejects.toThrow(
    'Found field not in schema: metadata.b at row 0',
  );
  for (const call of [
    () => table.query().where('session_id = 1').toArray(),
    () => table.query().select(['session_id']).toArray(),
    () => table.query().select({ x: 'session_id + 1' }).toArray(),
    () => table.countRows('session_id = 1'),
    () => table.delete('session_id = 1'),
  ]) {
    await expect(call()).rejects.toThrow('No field named session_id');
  }
});

test('a column of SQL NULL has the type null', async () => {
  const db = await connect('memory://');
  const table = await db.createTable('t', [{ id: 1 }]);
  await table.addColumns([{ name: 'later', valueSql: 'NULL' }]);
  await table.add([{ id: 2 }, { id: 3, later: null }]);
  expect((await table.schema()).fields.map(String)).toEqual(['id: Float64', 'later: Null']);
  expect(await table.query().where('later IS NULL').select(['id']).toArray()).toEqual([
    { id: 1 },
    { id: 2 },
    { id: 3 },
  ]);
});
