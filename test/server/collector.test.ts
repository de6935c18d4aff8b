/** When a server asks the runtime to collect garbage. */
import { expect, test } from 'vitest';
import { ServerMemory } from '../../src/request-memory.ts';
import { Collector } from '../../src/server/collector.ts';

const MIB = 1024 * 1024;

const round = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('garbage is collected once it outweighs what is in use, and not again for what is left', async () => {
  let [buffers, taken, left, collected] = [0, 0, 0, 0];
  const collector = new Collector({
    taken: () => taken,
    kept: 100 * MIB,
    limit: 400 * MIB,
    buffers: () => buffers,
    collect: () => {
      collected++;
      buffers = left;
    },
  });
  const looked = async (): Promise<number> => {
    collector.look();
    collector.look();
    await round();
    return collected;
  };
  buffers = 200 * MIB;
  expect(await looked()).toBe(0);
  taken = 300 * MIB;
  buffers = 500 * MIB;
  expect(await looked()).toBe(0);
  buffers = 501 * MIB;
  left = 450 * MIB;
  expect(await looked()).toBe(1);
  // 150 MiB are in use beside what requests have: so much is no garbage.
  buffers = 550 * MIB;
  expect(await looked()).toBe(1);
  buffers = 551 * MIB;
  left = 350 * MIB;
  expect(await looked()).toBe(2);
  buffers = 501 * MIB;
  expect(await looked()).toBe(3);
});

test('the runtime does collect', async () => {
  const gone = new WeakRef(new Uint8Array(8 * MIB));
  let made: Uint8Array | undefined = new Uint8Array(160 * MIB);
  const collector = new Collector({ taken: () => 0, kept: 0, limit: 0 });
  await round();
  made = made.length > 0 ? undefined : made;
  await expect
    .poll(() => {
      collector.look();
      return gone.deref() === undefined;
    })
    .toBe(true);
  expect(made).toBeUndefined();
});

test('memory tells when much was given back', () => {
  const memory = new ServerMemory(1024 * MIB);
  let told = 0;
  memory.released = () => told++;
  for (let at = 0; at < 100; at++) {
    memory.take(MIB, 'what');
    memory.giveBack(MIB);
  }
  expect(told).toBe(3);
});
