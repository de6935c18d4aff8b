/** Sums and means of groups are exact where doubles no longer hold them, and where they do. */
import { beforeAll, expect, test } from 'vitest';
import { type Catalog, statementCatalog } from './catalog.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await statementCatalog();
});

const answer = async (sql: string): Promise<unknown[][]> =>
  (await catalog.db.sql<Record<string, unknown>>(sql).toArray()).map((row) => Object.values(row));

const MOST = 2n ** 53n;
const GROUPS: readonly (readonly [string, readonly bigint[]])[] = [
  ['small', [1n, 2n, -5n]],
  ['zero', [7n, -7n]],
  ['the last safe one', [MOST - 2n, 1n]],
  ['one beyond it', [MOST, 1n]],
  ['below zero', [-MOST, -3n]],
  ['of 63 bits', [2n ** 62n, 2n ** 61n + 1n]],
  ['of 63 bits below zero', [-(2n ** 62n), -1n]],
];

/** The number of so many units of the last digit. */
function textOf(units: bigint, digits: number): string {
  const text = `${units < 0n ? -units : units}`.padStart(digits + 1, '0');
  const at = text.length - digits;
  const size = digits === 0 ? text : `${text.slice(0, at)}.${text.slice(at)}`;
  return units < 0n ? `-${size}` : size;
}

test.each([
  ['bigint', 0],
  ['decimal(30, 0)', 0],
  ['decimal(30, 4)', 4],
] as const)('of %s', async (type, digits) => {
  const unit = 10n ** BigInt(digits);
  // The smaller groups alone, and all together: a range of groups may hold both kinds.
  for (const groups of [GROUPS.slice(0, 3), GROUPS]) {
    const rows = groups.flatMap(([name, values]) =>
      values.map((value) => `('${name}', '${textOf(value, digits)}')`),
    );
    const values = `FROM (VALUES ${rows.join(', ')}) v(g, n) GROUP BY g`;
    const found = await answer(
      `SELECT g, CAST(sum(CAST(n AS ${type})) AS varchar), avg(CAST(n AS ${type})) ${values}`,
    );
    const expected = groups.map(([name, all]) => {
      const sum = all.reduce((a, b) => a + b, 0n);
      return [name, sum, Number(sum) / Number(unit) / all.length] as const;
    });
    expect(found).toHaveLength(groups.length);
    for (const [at, [name, sum, mean]] of expected.entries()) {
      const [foundName, text, foundMean] = found[at] as [string, string, number];
      expect(foundName).toBe(name);
      expect(BigInt(text.replace('.', '')), name).toBe(sum);
      expect(foundMean / (mean || 1), name).toBeCloseTo(mean === 0 ? 0 : 1, 12);
    }
  }
});
