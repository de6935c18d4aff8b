/** Appends one row after the other, and says which version each one made. */
import { connect } from '../../src/index.ts';
import { message, say } from './child-process.ts';
import type { AppendTask } from './writers.ts';

say({ ready: true });
const { root, durability, writer, appends } = await message<AppendTask>();
const connection = await connect(root, { durability });
const table = await connection.openTable('t');
for (let n = 0; n < appends; n++) {
  try {
    const { version } = await table.add([{ writer, n }]);
    say({ n, version });
  } catch (error) {
    say({ n, error: String(error) });
  }
}
await connection.close();
