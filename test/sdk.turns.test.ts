/** Programs that wait by asking: what they ask must not keep everything else from going on. */
import { expect, test } from 'vitest';
import { connect } from '../src/index.ts';
import { temporaryFolder } from './helpers/temporary.ts';

/** Far more than it takes; without a turn the loop would end here. */
const MOST = 100_000;

const QUESTIONS = ['version', 'countRows', 'tableExists', 'tableNames'] as const;

test.each(QUESTIONS)('a loop that asks for %s lets timers and changes go on', async (question) => {
  const db = await connect(temporaryFolder());
  const table = await db.createTable('t', [{ id: 1 }]);
  const ask = (): Promise<unknown> =>
    question === 'tableExists' || question === 'tableNames'
      ? question === 'tableExists'
        ? db.tableExists('t')
        : db.tableNames()
      : table[question]();
  let hasRung = false;
  setTimeout(() => {
    hasRung = true;
  });
  let asked = 0;
  while (!hasRung && asked < MOST) {
    await ask();
    asked++;
  }
  expect(asked).toBeLessThan(MOST);
  let isAdded = false;
  const adding = table.add([{ id: 2 }]).then(() => {
    isAdded = true;
  });
  for (asked = 0; !isAdded && asked < MOST; asked++) await ask();
  await adding;
  expect(asked).toBeLessThan(MOST);
});
