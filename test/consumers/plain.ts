/** A program of a user whose compiler finds packages as it did before `exports`, or as bundlers do. */
import dirspace, { connect } from 'dirspace';
import { runConformance } from 'dirspace/conformance';
import { getRegistry } from 'dirspace/embedding';
import 'dirspace/embedding/openai';
import { createServer } from 'dirspace/server';

export async function main(): Promise<number> {
  const db = await connect({ uri: '/tmp/catalog' });
  const table = await db.createTable('t', [{ id: 1 }]);
  const same: typeof connect = dirspace.connect;
  console.log(createServer, runConformance, same, getRegistry());
  return (await table.query().toArray())[0].id;
}
