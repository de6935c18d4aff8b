/** Programs that wait by asking: what they ask must not keep everything else from going on. */
import { expect, test } from 'vitest';
import { type Connection, connect, type Table } from '../../src/index.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

/** Far more than it takes; without a turn the loop would end here. */
const MOST = 100_000;

const QUESTIONS: Readonly<Record<string, (db: Connection, table: Table) => Promise<unknown>>> = {
  'the version': (_, table) => table.version(),
  'the rows': (_, table) => table.countRows(),
  'a table that is there': (db) => db.tableExists('t'),
  'a table that is not there': (db) => db.tableExists('none'),
  'all tables': (db) => db.tableNames(),
};

test.each(Object.entries(QUESTIONS))(
  'a loop that asks for %s lets timers and changes go on',
  async (_, question) => {
    const db = await connect(temporaryFolder());
    const table = await db.createTable('t', [{ id: 1 }]);
    const ask = (): Promise<unknown> => question(db, table);
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
  },
);
