/**
 * A server in a process of its own: `startRest(root, options)` starts this file, `cpu()` asks for the
 * processor time that the server has used so far, `stop()` ends it.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { cpuTime } from './measure.mjs';

/** @param options of `startServer`, as far as JSON has them */
export async function startRest(root, options = {}) {
  const script = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [script, root, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => (await lines.next()).value;
  const url = await next();
  return {
    url,
    cpu: async () => {
      child.stdin.write('cpu\n');
      return Number(await next());
    },
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.stdin.end();
      await ended;
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { startServer } = await import('../../dist/server.js');
  const server = await startServer({
    ...JSON.parse(process.argv[3]),
    root: process.argv[2],
    port: 0,
  });
  console.log(server.url);
  for await (const _ of createInterface({ input: process.stdin })) console.log(cpuTime());
  await server.close();
  process.exit();
}
