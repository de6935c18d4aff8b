/** The published conformance cases on the catalog of the suite: what the protocol says of every catalog. */
import { describe, expect } from 'vitest';
import { runConformance } from '../../../src/conformance/suite.ts';
import { partOf, type SuiteOptions } from './context.ts';

/** Cases about HTTP itself, which a catalog cannot be asked through its methods. */
const ABOUT_HTTP = 9;

export function conformancePart(options: SuiteOptions): void {
  describe('conformance', () => {
    const { test, ns } = partOf(options);

    test('no case fails, what is missing says so, and nothing is left', async () => {
      const { results, totals } = await runConformance(ns());
      const wrong = results.filter(({ verdict }) =>
        ['failed', 'differs', 'not decidable'].includes(verdict),
      );
      expect(wrong).toEqual([]);
      const missing = results.filter(({ verdict }) => verdict === 'not implemented');
      expect(missing).toEqual([]);
      expect(totals['not run']).toBe(ABOUT_HTTP);
      expect(totals.passed).toBe(results.length - missing.length - ABOUT_HTTP);
      expect((await ns().listAllTables({})).tables).toEqual([]);
      expect((await ns().listNamespaces({ id: [] })).namespaces).toEqual([]);
    });
  });
}
