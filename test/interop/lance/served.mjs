/** `served` starts `dirspace serve` on a root, and ends it after a function that talks to it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const here = import.meta.dirname;

/** Serves a root until `work`, which gets the address, is done. */
export async function served(root, work) {
  const cli = join(here, '../../../dist/cli/main.js');
  const server = spawn(process.execPath, [cli, 'serve', '--root', root, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    let text = '';
    const address = await new Promise((resolve, reject) => {
      const look = (piece) => {
        text += piece;
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text);
        if (found !== null) resolve(found[0]);
      };
      server.stdout.on('data', look);
      server.stderr.on('data', look);
      server.on('exit', () => reject(new Error(`The server ended: ${text}`)));
    });
    server.removeAllListeners('exit');
    return await work(address);
  } finally {
    server.kill();
    await once(server, 'exit');
  }
}
