/** The decision of a multi-table commit: made once, by whoever is first, and read back as it was made. */
import { expect, test } from 'vitest';
import { encodeChecksummed } from '../../../src/json.ts';
import {
  decideMultiTable,
  decisionTables,
  isMultiTableCommitted,
  multiTableDecision,
} from '../../../src/table/versions/multi-table-commit.ts';
import { ROOT, testEngine } from '../../helpers/engines.ts';

const batch = '0000abcd-0000';
const file = `.dirspace/transactions/${batch}.json`;

async function engines() {
  const one = testEngine();
  await one.engine.store.createFolder('.dirspace/transactions');
  return { one, two: testEngine({ fs: one.fs }) };
}

test('the first decision holds, whatever is decided later', async () => {
  for (const [first, second] of [
    ['committed', 'aborted'],
    ['aborted', 'committed'],
  ] as const) {
    const { one, two } = await engines();
    expect(await multiTableDecision(one.engine, batch)).toBeUndefined();
    expect(await isMultiTableCommitted(one.engine, batch)).toBe(false);
    expect(await decideMultiTable(one.engine, batch, first)).toBe(first);
    expect(await decideMultiTable(two.engine, batch, second)).toBe(first);
    for (const { engine } of [one, two]) {
      expect(await multiTableDecision(engine, batch)).toBe(first);
      expect(await isMultiTableCommitted(engine, batch)).toBe(first === 'committed');
    }
    const { bytes } = encodeChecksummed({ format: 1, outcome: first });
    expect(Buffer.from(one.fs.readFileSync(`${ROOT}/${file}`))).toEqual(Buffer.from(bytes));
  }
});

test('a decision is read once: it never changes', async () => {
  const { one, two } = await engines();
  await decideMultiTable(two.engine, batch, 'committed');
  let reads = 0;
  one.calls.get = (run, path) => {
    reads += 1;
    return run(path);
  };
  for (let time = 0; time < 3; time++) {
    expect(await multiTableDecision(one.engine, batch)).toBe('committed');
  }
  expect(reads).toBe(1);
  expect(await multiTableDecision(one.engine, '0000abcd-0001')).toBeUndefined();
  expect(await multiTableDecision(one.engine, '0000abcd-0001')).toBeUndefined();
  expect(reads).toBe(3);
});

test('a decision that vanished at once is not guessed', async () => {
  const { one } = await engines();
  one.calls.putIfAbsent = async () => false;
  await expect(decideMultiTable(one.engine, batch, 'committed')).rejects.toMatchObject({
    code: 'CommitStateUnknown',
    message: `The decision of the multi-table commit ${batch} could not be read back. Read the tables to see whether it was committed.`,
  });
});

test.each([
  '',
  '1234567',
  'a'.repeat(65),
  '../../user',
  '0000ABCD-0000',
  'x-0000abcd',
  '0000abcd-x',
])('a version cannot name the multi-table commit %j', async (forged) => {
  const { one } = await engines();
  for (const look of [
    () => multiTableDecision(one.engine, forged),
    () => decideMultiTable(one.engine, forged, 'aborted'),
  ]) {
    await expect(look()).rejects.toMatchObject({
      code: 'Corrupt',
      message: `A version names ${JSON.stringify(forged)} as its multi-table commit; such ids have 8 to 64 characters of 0-9, a-f and "-".`,
    });
  }
});

test('a long forged id is cut in the message; the longest and the shortest legal ones pass', async () => {
  const { one } = await engines();
  const forged = 'X'.repeat(500);
  await expect(multiTableDecision(one.engine, forged)).rejects.toThrow(
    `names ${JSON.stringify('X'.repeat(80))} as its multi-table commit`,
  );
  for (const id of ['a'.repeat(64), '12345678']) {
    expect(await decideMultiTable(one.engine, id, 'committed')).toBe('committed');
  }
});

test.each([
  [{ format: 1, outcome: 'perhaps' }, 'Corrupt', /its outcome is perhaps/],
  [{ format: 1, outcome: 'p'.repeat(90) }, 'Corrupt', /its outcome is p{40}[^p]/],
  [{ format: 1, outcome: '' }, 'Corrupt', /outcome/],
  [{ format: 1, outcome: true }, 'Corrupt', /outcome is true/],
  [{ format: 1 }, 'Corrupt', /outcome is missing/],
  [{ format: 2, outcome: 'committed' }, 'UnsupportedFormat', /format 2/],
  [{ outcome: 'committed' }, 'Corrupt', /format is missing/],
])('%j is no decision', async (document, code, message) => {
  const { one } = await engines();
  await one.engine.store.put(file, encodeChecksummed(document).bytes);
  const failure = expect.objectContaining({ code, message: expect.stringMatching(message) });
  await expect(multiTableDecision(one.engine, batch)).rejects.toEqual(failure);
  await expect(multiTableDecision(one.engine, batch)).rejects.toEqual(failure);
  await expect(decideMultiTable(one.engine, batch, 'aborted')).rejects.toThrow(file);
});

test('the tables of a multi-table commit are those that its decision names', async () => {
  const { one } = await engines();
  expect(await decisionTables(one.engine, batch)).toEqual([]);
  await decideMultiTable(one.engine, batch, 'committed', ['a', 'n$b']);
  expect(await decisionTables(one.engine, batch)).toEqual(['a', 'n$b']);
  const put = (document: object) =>
    one.engine.store.put(
      file,
      encodeChecksummed({ format: 1, outcome: 'committed', ...document }).bytes,
    );
  // By a release before they were noted.
  await put({});
  expect(await decisionTables(one.engine, batch)).toEqual([]);
  for (const tables of ['a', [1]]) {
    await put({ tables });
    await expect(decisionTables(one.engine, batch)).rejects.toMatchObject({ code: 'Corrupt' });
  }
});
