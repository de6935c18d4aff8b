/** Appends one row after the other, and says which version each one made. */
import { message, say } from './child-process.mjs';

const { connect } = await import(process.argv[2]);
say({ ready: true });
const { root, durability, writer, appends } = await message();
const connection = await connect(root, { durability });
const table = await connection.openTable('t');
for (let n = 0; n < appends; n++) {
  try {
    const { version } = await table.add([{ writer, n }]);
    say({ n, version });
  } catch (error) {
    say({ n, error: `${error.code}: ${error.message}` });
  }
}
await connection.close();
