/** Changes one table until it is stopped or killed, and says what was acknowledged. */
import { connect, isDirspaceError } from '../../src/index.ts';
import { message, say } from './child-process.ts';
import type { CleanupLine, CleanupTask } from './cleanup-writers.ts';

const tell = (line: CleanupLine): void => say(line);

tell({ ready: true });
const { root, writer, changes, durability } = await message<CleanupTask>();
const connection = await connect(root, { durability });
const table = await connection.openTable('t');
for (let n = 0; n < changes; n++) {
  const row = writer * 1_000_000 + n;
  try {
    tell({ trying: row });
    await table.add([{ row, value: 0 }]);
    tell({ row });
    // Writes a fragment and a deletion file, in every attempt anew.
    if (n % 4 === 3)
      await table.update({ valuesSql: { value: 'value + 1' }, where: `row = ${row}` });
  } catch (error) {
    // Cleanup took the version away before its writer could see that it stands.
    if (isDirspaceError(error, 'CommitStateUnknown')) tell({ unknown: row });
    else tell({ error: String((error as Error).stack) });
  }
}
await connection.close();
