/** docs/demands.md: twenty demands, each but two with tests that there are. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPage, tableRows } from '../helpers/documents.ts';

const project = join(import.meta.dirname, '..', '..');
const [, ...rows] = tableRows(readPage('docs/demands.md'), 4);

test('the table has twenty demands in their order', () => {
  expect(rows.map(([number]) => Number(number))).toEqual(
    Array.from({ length: 20 }, (_, at) => at + 1),
  );
});

test('tests are named for all that is met, and they are there', () => {
  const unmet = rows
    .filter(([, , what = '']) => what.startsWith('Not met'))
    .map(([number]) => number);
  expect(unmet).toEqual(['13', '19']);
  for (const [number = '', , , shown = ''] of rows) {
    const named = Array.from(shown.matchAll(/`([^`]+)`/g), ([, file = '']) => file);
    expect({ number, isShown: named.length > 0 }).toEqual({
      number,
      isShown: !unmet.includes(number),
    });
    const missing = named.filter(
      (file) => !/^test\/.*\.test\.ts$/.test(file) || !existsSync(join(project, file)),
    );
    expect({ number, missing }).toEqual({ number, missing: [] });
  }
});
