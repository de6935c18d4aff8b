/**
 * A server whose thread is watched: the parent reads how long it worked between two turns of its
 * event loop. A timer of 1 ms reads the processor time of this thread alone, so that a busy machine and
 * threads beside it do not count. Where the system does not tell it, the time of the process counts.
 *
 * Lines on standard input: `reset` begins a measurement, `told` ends it with a line of figures.
 */
import { openSync, readSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { startServer } from '../../dist/server.js';

function threadTime() {
  if (typeof process.threadCpuUsage === 'function') {
    return () => {
      const { user, system } = process.threadCpuUsage();
      return (user + system) / 1_000;
    };
  }
  try {
    const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
    const bytes = Buffer.alloc(128);
    return () => {
      const length = readSync(file, bytes, 0, 128, 0);
      return Number(bytes.toString('latin1', 0, length).split(' ')[0]) / 1e6;
    };
  } catch {
    return () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    };
  }
}

const now = threadTime();
let longest = 0;
let wall = 0;
let pause = 0;
let began = now();
let last = began;
let lastWall = performance.now();
let peak = 0;
let turns = 0;

setInterval(() => {
  const here = now();
  const hereWall = performance.now();
  longest = Math.max(longest, here - last);
  wall = Math.max(wall, hereWall - lastWall);
  last = here;
  lastWall = hereWall;
  turns += 1;
  if (turns % 16 === 0) peak = Math.max(peak, process.memoryUsage.rss());
}, 1);

new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) pause = Math.max(pause, duration);
}).observe({ entryTypes: ['gc'] });

const [root, limits] = [process.argv[2], JSON.parse(process.argv[3] ?? '{}')];
const { url } = await startServer({
  root,
  port: 0,
  limits: { maxEventLoopDelayMs: 0, ...limits },
});
console.log(JSON.stringify({ url, pid: process.pid }));

for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'reset') {
    [longest, wall, pause, peak, turns] = [0, 0, 0, 0, 0];
    last = began = now();
    lastWall = performance.now();
    console.log('{}');
  } else if (line === 'told') {
    peak = Math.max(peak, process.memoryUsage.rss());
    console.log(JSON.stringify({ longest, wall, pause, peak, turns, cpu: now() - began }));
  }
}
process.exit();
