/** The other end of `Child`: one message in, lines of JSON out. */
import { writeSync } from 'node:fs';

/** Resolves with the first message of the parent. */
export function message() {
  return new Promise((resolve) => {
    let text = '';
    process.stdin.on('data', (chunk) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end < 0) return;
      process.stdin.destroy();
      resolve(JSON.parse(text.slice(0, end)));
    });
  });
}

/** Reaches the pipe before it returns: what was said counts even if the process is killed next. */
export function say(line) {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}
