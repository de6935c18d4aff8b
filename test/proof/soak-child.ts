/** A server with small budgets, which tells what it needs: memory, and its own time. */
import { readFileSync } from 'node:fs';
import { startServer } from '../../src/server.ts';
import { messages, say } from './child-process.ts';
import type { SoakTask } from './hostile-soak.ts';

let peak = 0;
const look = (): void => {
  peak = Math.max(peak, process.memoryUsage.rss());
};
setInterval(look, 20).unref();

/** The most resident memory that the process ever had, in bytes; 0 where the system does not tell. */
function highWaterMark(): number {
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

for await (const task of messages<SoakTask>()) {
  if (task.root !== undefined) {
    // All clients of the soak, the one that describes among them, are one caller.
    const limits = { ...task.limits, maxEventLoopDelayMs: 0, callerShare: 1 };
    const { url } = await startServer({ root: task.root, port: 0, limits, ...task.kept });
    say({ url, pid: process.pid });
  } else {
    look();
    peak = Math.max(peak, highWaterMark());
    const { user, system } = process.cpuUsage();
    say({ peak, cpu: (user + system) / 1_000 });
    peak = 0;
  }
}
process.exit();
