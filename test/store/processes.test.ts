/** Several processes over one root on the real disk. */
import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { openFileStore } from '../../src/store/file-store.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const PROCESSES = 4;
const NAMES = 200;
const SIZE = 4000;

/** Runs the module text in a process of its own; resolves with what it printed as JSON. */
function child(source: string, ...args: string[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const options = ['--input-type=module', '-e', source, ...args];
    const running = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    running.stdout.on('data', (chunk: Buffer) => {
      output += chunk;
    });
    running.on('error', reject);
    running.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(output));
      else reject(new Error(`the process ended with ${code}`));
    });
  });
}

const RACER = `
const [url, root, me, names, size] = process.argv.slice(1);
const { openFileStore } = await import(url);
const store = openFileStore({ root, durability: 'relaxed' });
const won = [];
await store.put('ready-' + me, new Uint8Array(1));
// All start together, as soon as the last one is there.
while (store.list('').filter(({ name }) => name.startsWith('ready-')).length < 4) {
  await new Promise((resolve) => setTimeout(resolve, 2));
}
for (let name = 0; name < Number(names); name++) {
  if (await store.putIfAbsent('race/' + name, new Uint8Array(Number(size)).fill(Number(me)))) won.push(name);
}
let moved = 0;
for (let round = 0; round < 25; round++) {
  await store.createFolder('staging/' + me + '-' + round);
  await store.putIfAbsent('staging/' + me + '-' + round + '/marker', new Uint8Array([Number(me)]));
  if (await store.moveFolder('staging/' + me + '-' + round, 'taken-' + round) === 'moved') moved++;
}
console.log(JSON.stringify({ won, moved }));
`;

test('each name has one winner, each place one folder, and readers see whole objects', async () => {
  const store = openFileStore({ root: temporaryFolder(), durability: 'relaxed' });
  await store.createFolder('race');
  await store.createFolder('staging');
  const url = compiledModule('store/file-store.js');
  let running = true;
  const racing = Promise.all(
    Array.from({ length: PROCESSES }, (_, me) =>
      child(RACER, url, store.root, String(me), String(NAMES), String(SIZE)),
    ),
  ).finally(() => {
    running = false;
  });
  const torn: string[] = [];
  while (running) {
    for (const { name } of store.list('race') ?? []) {
      if (name.startsWith('.tmp-')) continue;
      const found = (await store.get(`race/${name}`)) as Uint8Array;
      if (found.length !== SIZE || new Set(found).size !== 1) torn.push(`${name}:${found.length}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const results = (await racing) as { won: number[]; moved: number }[];
  expect(torn).toEqual([]);
  const winners = results.flatMap(({ won }, me) => won.map((name) => [name, me] as const));
  expect(winners.map(([name]) => name).sort((a, b) => a - b)).toEqual([...Array(NAMES).keys()]);
  for (const [name, me] of winners) {
    expect(((await store.get(`race/${name}`)) as Uint8Array)[0]).toBe(me);
  }
  expect(results.reduce((total, { moved }) => total + moved, 0)).toBe(25);
  for (let round = 0; round < 25; round++) {
    expect(store.head(`taken-${round}/marker`)?.size).toBe(1);
  }
  expect(store.list('race')).toHaveLength(NAMES);
});
