/** A program of a user in CommonJS. */
import dirspace, { type Connection, connect, DirspaceError } from 'dirspace';

import conformance = require('dirspace/conformance');

import { createServer } from 'dirspace/server';

async function main(): Promise<void> {
  const db: Connection = await connect({ uri: '/tmp/catalog' });
  const table = await db.openTable<{ id: number }>('users');
  const [first] = await table.query().toArray();
  const id: number | undefined = first?.id;
  const same: typeof connect = dirspace.connect;
  console.log(
    id,
    same,
    createServer,
    conformance.runConformance,
    new DirspaceError('Internal', 'x'),
  );
}

void main();
