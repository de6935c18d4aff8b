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
