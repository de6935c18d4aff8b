/** A program of a user whose compiler finds packages as it did before `exports`, or as bundlers do. */
import { connect } from 'dirspace';
import { runConformance } from 'dirspace/conformance';
import { createServer } from 'dirspace/server';

export async function main(): Promise<number> {
  const db = await connect({ uri: '/tmp/catalog' });
  const table = await db.createTable('t', [{ id: 1 }]);
  console.log(createServer, runConformance);
  return (await table.query().toArray())[0].id;
}
