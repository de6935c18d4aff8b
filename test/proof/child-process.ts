/** The other end of `Child`: messages in, lines of JSON out. */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** Every message of the parent, as it comes; ends when the parent closes the pipe. */
export async function* messages<Message>(): AsyncGenerator<Message> {
  for await (const line of createInterface({ input: process.stdin })) yield JSON.parse(line);
}

/** Resolves with the first message of the parent, and listens for no other. */
export async function message<Message>(): Promise<Message> {
  for await (const first of messages<Message>()) {
    process.stdin.destroy();
    return first;
  }
  throw new Error('the parent is gone');
}

/** Reaches the pipe before it returns: what was said counts even if the process is killed next. */
export function say(line: unknown): void {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}
