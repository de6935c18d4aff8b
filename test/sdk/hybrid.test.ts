/** Hybrid searches: the rows of a vector search and of a full-text search in one order. */
import { join } from 'node:path';
import type { RecordBatch } from 'apache-arrow';
import { beforeAll, describe, expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import {
  type Connection,
  connect,
  MatchQuery,
  openNamespace,
  RRFReranker,
  rerankers,
  type Table,
} from '../../src/index.ts';
import type { QueryTableRequest } from '../../src/protocol/index.ts';
import { Connection as AnyConnection } from '../../src/sdk/index.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { restPair } from '../helpers/rest-pair.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

interface Hit {
  readonly id: number;
  readonly _distance: number | null;
  readonly _score: number | null;
  readonly _relevance_score: number;
}

const root = join(temporaryFolder(), 'catalog');
let local: Connection;
let tables: [string, Table][];
beforeAll(async () => {
  local = await connect(root, { durability: 'relaxed' });
  const rows = Array.from({ length: 12 }, (_, id) => ({
    id,
    text: `apple ${'pie '.repeat(id % 5)}${id % 3 === 0 ? 'zebra' : ''}`,
    vector: [id, 1],
  }));
  await local.createTable('t', rows);
  const catalog = await openNamespace('dir', { root });
  const { client } = await restPair({ namespace: catalog });
  const remote = new AnyConnection(client as never);
  tables = [
    ['in process', await local.openTable('t')],
    ['over REST', await remote.openTable('t')],
  ];
  return async () => {
    await remote.close();
    await catalog.close();
    await local.close();
  };
});

test('fuses both orders by reciprocal ranks, the same locally and over REST', async () => {
  for (const [where, table] of tables) {
    const query = () => table.query().nearestTo([3, 1]).fullTextSearch('zebra');
    const found = await query()
      .rerank(await RRFReranker.create())
      .select(['id'])
      .toArray<Hit>();
    // The order of LanceDB 0.39: rows of both searches first.
    expect([where, ...found.map(({ id }) => id)]).toEqual([where, 3, 0, 6, 9, 2, 4, 1, 5, 7, 8]);
    expect(found[0]?._relevance_score).toBeCloseTo(1 / 60 + 1 / 62, 6);
    expect(found[4]).toMatchObject({ id: 2, _score: null, _distance: 1 });
    expect(await query().select(['id']).toArray()).toEqual(found);
    const paged = await query().select(['id']).offset(1).limit(3).toArray<Hit>();
    expect(paged.map(({ id }) => id)).toEqual([0, 2, 6]);
    const late = table.query().fullTextSearch('zebra').nearestTo([3, 1]).where('id > 4').limit(4);
    expect((await late.toArray<Hit>()).map(({ id }) => id)).toEqual([6, 5, 9, 7]);
  }
});

describe('a hybrid search', () => {
  const query = () => (tables[0] as [string, Table])[1].query().nearestTo([3, 1]);

  test('has the columns asked for, the values of both searches, and the row id if wanted', async () => {
    const words = new MatchQuery('zebra', 'text');
    const names = async (withRowId: boolean): Promise<string[]> => {
      const asked = query().fullTextSearch(words).select(['id']);
      const { fields } = await (withRowId ? asked.withRowId() : asked).outputSchema();
      return fields.map(({ name }) => name);
    };
    expect(await names(false)).toEqual(['id', '_distance', '_score', '_relevance_score']);
    expect(await names(true)).toEqual(['id', '_distance', '_rowid', '_score', '_relevance_score']);
    const none = await query().fullTextSearch('nowhere').limit(2).toArray<Hit>();
    expect(none.map(({ id, _score }) => [id, _score])).toEqual([
      [3, null],
      [2, null],
    ]);
  });

  test('takes other rerankers, which see both answers and the words', async () => {
    const seen: unknown[] = [];
    const reranker: rerankers.Reranker = {
      rerankHybrid: async (words, near, found) => {
        seen.push(words, near.numRows, found.numRows);
        return (await rerankers.RRFReranker.create(1)).rerankHybrid(words, found, near);
      },
    };
    const rows = await query()
      .fullTextSearch('zebra apple')
      .rerank(reranker)
      .limit(3)
      .toArray<Hit>();
    expect(rows).toHaveLength(3);
    expect(seen).toEqual(['zebra apple', 3, 3]);
    const poor = { rerankHybrid: async (_: string, near: RecordBatch) => near };
    await expect(query().fullTextSearch('zebra').rerank(poor).toArray()).rejects.toThrow(
      '_relevance_score',
    );
  });

  test('explains both searches, and refuses an order and a reranker without words', async () => {
    const hybrid = query().fullTextSearch('zebra');
    expect(await hybrid.explainPlan()).toMatch(
      /Fused[\s\S]*Nearest: vector[\s\S]*Full text: match "zebra"/,
    );
    expect(await hybrid.analyzePlan()).toMatch(/rows 10[\s\S]*rows 4/);
    await expect(
      query()
        .rerank(await RRFReranker.create())
        .toArray(),
    ).rejects.toThrow('was not called');
    expect(() => query().rerank({} as never)).toThrow('RRFReranker.create()');
    await expect(RRFReranker.create(0)).rejects.toThrow('k of RRFReranker is 0');
    const ordered = query().fullTextSearch('zebra').orderBy({ columnName: 'id' });
    await expect(ordered.toArray()).rejects.toThrow('leave orderBy out');
  });

  test('has one vector, and a reranker that answers rows', async () => {
    const query = () => local.openTable('t').then((table) => table.query().nearestTo([3, 1]));
    const several = (await query()).addQueryVector([0, 1]).fullTextSearch('zebra');
    const refused = expect.objectContaining({
      code: 'InvalidInput',
      message: expect.stringContaining('has one vector, and was given 2'),
    });
    await expect(several.toArray()).rejects.toEqual(refused);
    await expect(several.explainPlan()).rejects.toEqual(refused);
    await expect(several.outputSchema()).rejects.toEqual(refused);
    for (const answer of [null, undefined, {}, { schema: { fields: [] } }]) {
      const reranker = { rerankHybrid: async () => answer as never };
      const asked = (await query()).fullTextSearch('zebra').rerank(reranker);
      await expect(asked.toArray()).rejects.toEqual(
        expect.objectContaining({
          code: 'InvalidInput',
          message: expect.stringContaining('The reranker answered'),
        }),
      );
    }
  });
});

test('both searches are of one version, whatever is committed between them', async () => {
  const fs = memoryFs();
  const catalog = await openDirectoryNamespace({ root: '/c', fs });
  const writer = await connect('/c', { fs });
  const row = (id: number) => ({ id, text: 'zebra', vector: [id, 1] });
  const written = await writer.createTable('t', [row(1), row(2)]);
  const between = new Proxy(catalog, {
    get: (target, name) => {
      if (name !== 'queryTable') return Reflect.get(target, name).bind?.(target) ?? undefined;
      return async (request: QueryTableRequest, options: object) => {
        if (request.vector !== undefined) await written.add([row(3)]);
        return target.queryTable(request, options);
      };
    },
  });
  const table = await new AnyConnection(between as never).openTable('t');
  const query = () => table.query().nearestTo([3, 1]).fullTextSearch('zebra').select(['id']);
  const found = await query().toArray<Hit>();
  expect(found.map(({ id }) => id).sort()).toEqual([1, 2]);
  expect(await written.countRows()).toBe(3);
  await writer.close();
  await catalog.close();
});
