/** What is acknowledged survives a power loss at any moment; nothing torn stands under a name. */
import { expect, test } from 'vitest';
import { systemEnv } from '../../src/env.ts';
import type { Durability } from '../../src/store/disk/disk.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import { FaultyFs } from '../helpers/faulty-fs.ts';
import { casesOf } from '../helpers/long.ts';
import { PowerLossFs } from '../helpers/power-loss-fs.ts';
import { seeded } from '../helpers/seeded.ts';

const body = (version: number): Uint8Array => new Uint8Array(500 + version).fill(version);

/** Runs until the power goes; returns what is wrong afterwards. */
async function violations(durability: Durability, seed: number): Promise<string[]> {
  const random = seeded(seed);
  const disk = new PowerLossFs();
  const faulty = new FaultyFs(disk.fs);
  let ids = 0;
  const env = { ...systemEnv, uuid: () => `id-${++ids}` };
  const store = openFileStore({ root: '/c', fs: faulty.fs, durability, env });
  await store.createFolder('ready');
  const acknowledged = new Map<string, Uint8Array>();
  const folders = new Set<string>();
  const gone = new Set<string>();
  let folder = 'staging/t';
  faulty.arm({ at: 1 + Math.floor(random() * 220), kind: 'kill', after: random() < 0.5 });
  try {
    await store.createFolder(`${folder}/versions`);
    folders.add(folder);
    for (let version = 1; version <= 8; version++) {
      const data = store.create(`${folder}/data/${version}`);
      await data.write([body(version)]);
      await data.finish();
      await store.syncFolders([`${folder}/data`]);
      const name = `${folder}/versions/${version}`;
      if (await store.putIfAbsent(name, body(version))) {
        acknowledged.set(name, body(version));
        acknowledged.set(`${folder}/data/${version}`, body(version));
      }
      if (version === 3) {
        await store.createFolder('ns');
        const before = folder;
        folder = 'ns/t';
        // From the call to its answer both places are right.
        const held = new Map(acknowledged);
        acknowledged.clear();
        folders.delete(before);
        expect(await store.moveFolder(before, folder)).toBe('moved');
        for (const [path, bytes] of held) {
          acknowledged.set(folder + path.slice(before.length), bytes);
        }
        gone.add(before);
        folders.add(folder);
      }
    }
  } catch (error) {
    const root = (error as Error).cause ?? error;
    if ((root as Error).name !== 'Killed') throw error;
  }
  const after = openFileStore({ root: '/c', fs: await disk.afterPowerLoss(random) });
  const wrong: string[] = [];
  for (const path of folders) if (!after.enter(path)) wrong.push(`${path} is lost`);
  for (const path of gone) if (after.enter(path)) wrong.push(`${path} came back`);
  for (const [path, bytes] of acknowledged) {
    const found = await after.get(path);
    if (found === undefined) wrong.push(`${path} is lost`);
    else if (Buffer.compare(found, bytes) !== 0) wrong.push(`${path} has ${found.length} bytes`);
  }
  for (const place of ['staging/t', 'ns/t']) {
    for (const { name } of after.list(`${place}/versions`) ?? []) {
      if (name.startsWith('.tmp-')) continue;
      const found = await after.get(`${place}/versions/${name}`);
      if (found?.length !== 500 + Number(name)) wrong.push(`${place}: version ${name} is torn`);
      const data = await after.get(`${place}/data/${name}`);
      if (data?.length !== 500 + Number(name)) wrong.push(`${place}: data of ${name} is torn`);
    }
  }
  return wrong;
}

test('full durability loses nothing', async () => {
  for (let seed = 1; seed <= casesOf(60, 300); seed++) {
    expect([seed, ...(await violations('full', seed))]).toEqual([seed]);
  }
});

test('relaxed durability does: the simulation can tell', async () => {
  const seeds = casesOf(30, 100);
  let losses = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    if ((await violations('relaxed', seed)).length > 0) losses++;
  }
  expect(losses).toBeGreaterThan(seeds / 2);
});
