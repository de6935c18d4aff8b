/** Works on a catalog while all but a few descriptors of the process are taken, more each time. */
import { closeSync, openSync } from 'node:fs';
import { connect, isDirspaceError } from '../../src/index.ts';
import { say } from './child-process.ts';

const root = process.argv[2] as string;
const connection = await connect(root);
const table = await connection.createTable('t', [{ n: 0 }]);
let [total, refused] = [1, 0];
for (let free = 0; free < 12; free++) {
  let unknown = false;
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EMFILE') throw error;
  }
  for (const fd of taken.splice(0, free)) closeSync(fd);
  const attempts: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['append', () => table.add([{ n: total }])],
    ['create', () => connection.createTable(`t${free}`, [{ n: 1 }])],
    ['read', () => table.query().toArray()],
    ['list', () => connection.tableNames()],
  ];
  for (const [name, attempt] of attempts) {
    try {
      await attempt();
      if (name === 'append') total++;
    } catch (error) {
      refused++;
      if (name === 'append' && isDirspaceError(error, 'CommitStateUnknown')) unknown = true;
      else if (!isDirspaceError(error, 'ResourceExhausted'))
        say({ wrong: `${name} with ${free} descriptors: ${(error as Error).stack}` });
    }
  }
  for (const fd of taken) closeSync(fd);
  // With descriptors again all of it works, and nothing acknowledged is missing.
  const rows = (await (await connection.openTable('t')).query().toArray()).map(({ n }) =>
    Number(n),
  );
  if (unknown && rows.length === total + 1) total++;
  if (rows.join() !== Array.from({ length: total }, (_, n) => n).join())
    say({ wrong: `${rows.length} rows after ${free} descriptors instead of ${total}` });
  await table.add([{ n: total++ }]);
}
const { problems } = (await connection.namespace.verify?.({})) ?? { problems: [] };
if (problems.length > 0) say({ wrong: `verify finds ${JSON.stringify(problems)}` });
await connection.close();
say({ refused });
