/**
 * A server in a process of its own: `startRest(root)` starts this file, `cpu()` asks for the
 * processor time that the server has used so far, `stop()` ends it.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { cpuTime } from './measure.mjs';

export async function startRest(root) {
  const script = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [script, root], { stdio: ['pipe', 'pipe', 'inherit'] });
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
  const server = await startServer({ root: process.argv[2], port: 0 });
  console.log(server.url);
  for await (const _ of createInterface({ input: process.stdin })) console.log(cpuTime());
  await server.close();
  process.exit();
}
