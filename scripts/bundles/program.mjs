/** What bundles are made of and have to do: open, write, filter by a computed predicate, serve. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, connectNamespace } from 'dirspace';
import { startServer } from 'dirspace/server';

async function main() {
  const root = await mkdtemp(join(tmpdir(), 'dirspace-bundled-'));
  try {
    const db = await connect(root);
    const rows = Array.from({ length: 100 }, (_, id) => ({ id, name: `n${id}`, x: id / 100 }));
    const table = await db.createTable('t', rows);
    const found = await table.query().where("x * 2 > 1.9 AND id % 2 = 0 AND name LIKE 'n9%'");
    console.log(JSON.stringify((await found.select(['id']).toArray()).map(({ id }) => id)));
    await db.close();

    const server = await startServer({ root, port: 0, limits: { drainDelayMs: 0 } });
    const client = await connectNamespace('rest', { uri: server.url });
    const served = await client.openTable('t');
    await served.add([{ id: 100, name: 'n100', x: 1 }]);
    console.log(await served.countRows('id >= 50'));
    await client.close();
    await server.close();
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
