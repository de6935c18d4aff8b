/** The words of a text, by the settings of a table's full-text index. */
import { expect, test } from 'vitest';
import { connect, Index } from '../../src/index.ts';
import { memoryFs } from '../helpers/catalogs.ts';

test('the settings are those of the index that is named, or of the column', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const table = await db.createTable('t', [{ doc: 'a', other: 'b' }]);
  const config = Index.fts({ withPosition: true, stem: false, customStopWords: ['banana'] });
  await table.createIndex('doc', { config });
  const raw = Index.fts({
    baseTokenizer: 'raw',
    lowercase: false,
    stem: false,
    removeStopWords: false,
  });
  await table.createIndex('other', { config: raw, name: 'whole' });
  await table.createIndex('other', { config: Index.btree() });
  const words = async (of: { column: string } | { indexName: string }) =>
    (await table.tokenize('Apples banana', of)).map(({ text }) => text);
  expect(await words({ column: 'doc' })).toEqual(['apples']);
  expect(await words({ indexName: 'doc_idx' })).toEqual(['apples']);
  expect(await words({ column: 'other' })).toEqual(['Apples banana']);
  expect(await words({ indexName: 'whole' })).toEqual(['Apples banana']);
  for (const of of [{ column: 'none' }, { indexName: 'none' }, { indexName: 'other_idx' }])
    await expect(words(of)).rejects.toMatchObject({ code: 'TableIndexNotFound' });
  for (const of of [{}, { column: 'doc', indexName: 'doc_idx' }])
    await expect(words(of as never)).rejects.toMatchObject({ code: 'InvalidInput' });
});
