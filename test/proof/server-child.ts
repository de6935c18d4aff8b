/** A server over a directory, until it is killed or its parent is gone. */
import { startServer } from '../../src/server.ts';
import { messages, say } from './child-process.ts';
import type { ServeTask } from './server-kills.ts';

for await (const { root, port } of messages<ServeTask>()) {
  // Fifty writers on two cores are late, which is no reason to refuse them.
  const limits = { maxEventLoopDelayMs: 0 };
  const { url } = await startServer({ root, port, limits });
  say({ url });
}
process.exit();
