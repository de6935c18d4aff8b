/**
 * Two takers of one name at one moment. Of a table and a namespace the table goes, and what was
 * written to it stays.
 */
import { beforeEach, expect, test } from 'vitest';
import { createTable, declareTable } from '../src/directory/create-table.ts';
import { createNamespace, describeNamespace } from '../src/directory/namespaces.ts';
import { insertIntoTable } from '../src/directory/rows.ts';
import { undropTable } from '../src/directory/trash.ts';
import { encodeNamespace } from '../src/format/records.ts';
import { filesOf } from './helpers/catalog-files.ts';
import { outcomeOf, ROOT, type TestEngine, testEngine } from './helpers/engines.ts';
import { people } from './helpers/people.ts';

const id = ['x'];
let one: TestEngine;
let two: TestEngine;
beforeEach(async () => {
  one = testEngine();
  two = testEngine({ fs: one.fs, firstId: 1000 });
  await one.catalog.prepareRoot();
  one.fs.mkdirSync(`${ROOT}/data`);
});

/** A namespace takes the name right after the table did, and `before` goes first. */
function clash(before: () => Promise<unknown> = async () => {}): void {
  one.calls.moveFolder = async (move, from, to) => {
    one.calls.moveFolder = undefined;
    const moved = await move(from, to);
    await before();
    one.fs.mkdirSync(`${ROOT}/x`);
    const marker = encodeNamespace({ id: 'n', properties: {} });
    one.fs.writeFileSync(`${ROOT}/x/.namespace.json`, marker);
    return moved;
  };
}
const left = (): string[] =>
  filesOf(one.fs, ROOT)
    .all()
    .filter((path) => /staging\/.|trash\/.|x\.table/.test(path));

test.each([
  ['made with rows', () => createTable(one.catalog, { id }, people(2))],
  ['declared', () => declareTable(one.catalog, { id })],
])('%s: nothing is left of it', async (_, make) => {
  clash();
  expect(await outcomeOf(make())).toMatchObject({ code: 'TableAlreadyExists' });
  expect(left()).toEqual([]);
});

test.each([
  ['made with rows', () => createTable(one.catalog, { id }, people(2)), 1],
  ['declared', () => declareTable(one.catalog, { id }), 0],
])(
  '%s, and written to: the trash has it, with all that was acknowledged',
  async (_, make, versions) => {
    clash(async () => {
      const write = { id, mode: 'append' };
      if (versions === 0) await createTable(two.catalog, { id, mode: 'exist_ok' }, people(1, 7));
      else await insertIntoTable(two.catalog, write, people(1, 7));
    });
    expect(await outcomeOf(make())).toMatchObject({ code: 'TableAlreadyExists' });
    expect(left().some((path) => path.includes('staging/') || path.includes('x.table'))).toBe(
      false,
    );
    one.fs.rmSync(`${ROOT}/x`, { recursive: true });
    expect(await undropTable(two.catalog, { id })).toMatchObject({ id });
    const answer = await insertIntoTable(two.catalog, { id, mode: 'append' }, people(1, 9));
    expect(answer.version).toBe(versions + 2);
  },
);

test('a namespace that overwrites replaces one that came meanwhile', async () => {
  one.calls.moveFolder = async (move, from, to) => {
    one.calls.moveFolder = undefined;
    await createNamespace(two.catalog, { id, properties: { by: 'two' } });
    return move(from, to);
  };
  const made = await createNamespace(one.catalog, {
    id,
    mode: 'overwrite',
    properties: { by: 'one' },
  });
  expect(made.properties).toMatchObject({ by: 'one' });
  expect((await describeNamespace(two.catalog, { id })).properties).toEqual(made.properties);
  expect(one.fs.readdirSync(`${ROOT}/.dirspace/staging`)).toEqual([]);
});
