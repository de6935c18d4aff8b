/** A server with small budgets, which tells what it needs: memory, and its own time. */
import { startServer } from '../../src/server.ts';
import { messages, say } from './child-process.ts';
import type { SoakTask } from './hostile-soak.ts';

let peak = 0;
const look = (): void => {
  peak = Math.max(peak, process.memoryUsage.rss());
};
setInterval(look, 20).unref();

for await (const task of messages<SoakTask>()) {
  if (task.root !== undefined) {
    const limits = { ...task.limits, maxEventLoopDelayMs: 0 };
    const { url } = await startServer({ root: task.root, port: 0, limits });
    say({ url, pid: process.pid });
  } else {
    look();
    const { user, system } = process.cpuUsage();
    say({ peak, cpu: (user + system) / 1_000 });
    peak = 0;
  }
}
process.exit();
