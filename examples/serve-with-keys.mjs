/**
 * Serves a catalog with two API keys, one that reads and one that writes in one namespace, and uses it
 * as clients with each. `node examples/serve-with-keys.mjs`
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, connectNamespace, isDirspaceError } from 'dirspace';
import { startServer } from 'dirspace/server';

const root = await mkdtemp(join(tmpdir(), 'dirspace-serve-'));
const [reader, writer] = [secret(), secret()];

try {
  const local = await connect(root);
  await local.createNamespace(['prod']);
  await local.createTable('user', [{ name: 'Ada' }], ['prod']);
  await local.close();

  const server = await startServer({
    root,
    auth: {
      apiKeys: [
        { name: 'dashboard', key: reader, grants: ['read:prod'] },
        { name: 'ingest', key: writer, grants: ['write:prod'] },
      ],
    },
    limits: { drainDelayMs: 0 },
  });

  await as('dashboard', reader);
  await as('ingest', writer);
  await as('stranger', secret());
  await server.close();

  /** What the holder of a key may do. */
  async function as(name, key) {
    const db = await connectNamespace('rest', { uri: server.url, 'headers.x-api-key': key });
    try {
      const users = await db.openTable('user', ['prod']);
      console.log(`${name} reads ${await users.countRows()} rows`);
      await users.add([{ name: 'Grace' }]);
      console.log(`${name} adds one`);
    } catch (error) {
      if (!isDirspaceError(error)) throw error;
      console.log(`${name} is refused: ${error.code}`);
    } finally {
      await db.close();
    }
  }
} finally {
  await rm(root, { recursive: true, force: true });
}

function secret() {
  return randomBytes(24).toString('base64url');
}
