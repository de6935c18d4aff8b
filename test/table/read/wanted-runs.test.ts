import { expect, test } from 'vitest';
import { runsWithIds, runsWithOffsets } from '../../../src/table/read/wanted-runs.ts';
import { seeded } from '../../helpers/seeded.ts';

test('tells of any run, in any order, whether it holds a row or a fragment that is asked for', () => {
  const random = seeded(20_261_126);
  const below = (limit: number): number => Math.floor(random() * limit);
  for (let round = 0; round < 100; round++) {
    const named = Array.from({ length: below(6) }, () => below(60));
    const hasRow = runsWithOffsets(named.map(BigInt));
    const hasId = runsWithIds([...named]);
    for (let asked = 0; asked < 40; asked++) {
      const [from, rows, deletedRows] = [below(60), 1 + below(20), below(2)];
      const firstId = below(60);
      const run = { fragments: 1, rows, deletedRows, firstId, lastId: firstId + below(10) };
      const end = from + rows - deletedRows;
      expect(hasRow?.(run, from)).toBe(named.some((row) => row >= from && row < end));
      expect(hasId?.(run, 0)).toBe(named.some((id) => id >= firstId && id <= run.lastId));
    }
  }
});
