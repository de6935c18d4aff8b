/** Writes and reads a table, as TypeScript that becomes CommonJS where it is run. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'dirspace';

async function main(): Promise<void> {
  const db = await connect(mkdtempSync(join(tmpdir(), 'dirspace-common-')));
  const table = await db.createTable('t', [{ id: 17 }]);
  console.log((await table.query().toArray())[0]?.id);
  await db.close();
}

main();
