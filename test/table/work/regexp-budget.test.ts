/** The steps of regular expressions are bounded for a request as a whole, whatever makes them so many. */
import { expect, test } from 'vitest';
import {
  Dictionary,
  Int32,
  tableFromArrays,
  Utf8,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';
import { ask, restPair } from '../../helpers/rest-pair.ts';
import { temporaryFolder } from '../../helpers/temporary.ts';

const id = ['t'];
const ROWS = 64;
const TEXT = 'xy'.repeat(8_000);

/** All texts together have a million characters. */
async function opened(regexpSteps?: number, fs = memoryFs()) {
  const limits = { batchRows: 16, ...(regexpSteps === undefined ? {} : { regexpSteps }) };
  const catalog = await openDirectoryNamespace({ root: '/c', fs, limits });
  const texts = Array.from({ length: ROWS }, (_, at) => `${at}${TEXT}`);
  const rows = tableFromArrays({
    n: Int32Array.from({ length: ROWS }, (_, at) => at),
    s: vectorFromArray(texts, new Utf8()) as never,
    d: vectorFromArray(texts, new Dictionary(new Utf8(), new Int32())) as never,
  });
  await catalog.createTable({ id }, await toRecordBatchStream(rows as never));
  return catalog;
}

const WORKS: readonly (readonly [string, string])[] = [
  ['matching', "regexp_like(s, 'q+z')"],
  ['an operator', "s ~ 'q+z'"],
  ['matching computed texts', "regexp_like(concat(s, n), 'q+z')"],
  ['matching entries of a dictionary', "regexp_like(d, 'q+z')"],
  ['replacing', "regexp_replace(s, 'y+', 'z', 'g') = 'q'"],
  ['replacing once', "regexp_replace(s, 'q|$', 'z') = 'q'"],
  ['finding groups', "regexp_match(s, '(q)|(z$)') IS NOT NULL"],
];

test.each(WORKS)(
  '%s beyond the steps of a request is refused by the name of the limit',
  async (_, predicate) => {
    const fs = memoryFs();
    const few = await opened(500_000, fs);
    await expect(few.countTableRows({ id, predicate })).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining('maxRegexpSteps'),
      details: { limit: 'maxRegexpSteps', maxRegexpSteps: 500_000 },
    });
    // One row takes few of them, and each request has its own.
    for (let times = 0; times < 8; times++) {
      await few.countTableRows({ id, predicate: `n < 1 AND ${predicate}` });
    }
    // What is refused is not remembered.
    await expect(few.countTableRows({ id, predicate })).rejects.toThrow('maxRegexpSteps');
  },
);

test.each(WORKS)('%s has no such bound where none is given', async (_, predicate) => {
  const catalog = await opened();
  await catalog.countTableRows({ id, predicate });
});

test('patterns of rows take steps to compile', async () => {
  const catalog = await opened(1_000_000);
  const like = (text: string) =>
    catalog.countTableRows({ id, predicate: `regexp_like(CAST(n AS text), ${text})` });
  await like("concat('[0-4]', CASE WHEN n % 2 = 0 THEN '+' ELSE '*$' END)");
  await expect(like("concat('[0-9]{2}(a|b|c){0,3}', n)")).rejects.toThrow('maxRegexpSteps');
});

test('a server refuses what is beyond its limit with 400, and goes on', async () => {
  const limits = { maxRegexpSteps: 100_000 };
  const pair = await restPair({ root: temporaryFolder(), limits });
  await pair.client.createTable(
    { id },
    await toRecordBatchStream(Array.from({ length: 20 }, (_, n) => ({ n, s: TEXT }))),
  );
  const count = (predicate: string) => ask(pair, 'POST', '/v1/table/t/count_rows', { predicate });
  const refused = await count("regexp_like(s, 'q+z')");
  expect(refused.status).toBe(400);
  expect(refused.json.error).toContain('maxRegexpSteps');
  expect(await count("n < 3 AND regexp_like(s, 'q+z|x')")).toMatchObject({ status: 200 });
});
