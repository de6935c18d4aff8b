/** T20: a disk that is really full, and a process that really has no descriptors left. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Connection, connect, isDirspaceError } from '../../src/index.ts';
import { seeded } from '../helpers/seeded.ts';
import { inFolder, scriptPath } from './processes.ts';
import type { ProofContext, ProofRow } from './row.ts';

const FILLS = { ci: 1, short: 20, nightly: 500 };
const DISK = 8 * 1024 * 1024;
/** Fewer do not suffice to load the modules. */
const DESCRIPTORS = [192, 256];

export const fullDisk: ProofRow = {
  row: 'T20 full disk',
  run: (context) =>
    inFolder(async (folder) => {
      const disk = join(folder, 'disk');
      mkdirSync(disk);
      const notes: string[] = [];
      let cases = 0;
      const options = ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', disk];
      if (spawnSync('mount', options).status === 0) {
        try {
          const refused = await fills(context, disk);
          cases += FILLS[context.size];
          notes.push(`${refused} writes refused by a full disk`);
        } finally {
          spawnSync('umount', ['-l', disk]);
        }
      } else notes.push('no full disk: this user may not mount one');
      for (const most of DESCRIPTORS) {
        const refused = await descriptors(context, join(folder, `${most}`), most);
        cases++;
        notes.push(`${refused} of ${most} descriptors`);
      }
      return { cases, note: notes.join(', ') };
    }),
};

const rows = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({ n: from + at, text: `row ${from + at}`.repeat(40) }));

/** Fills the disk with rows and foreign bytes again and again, and never closes the catalog. */
async function fills({ seed, size, violated }: ProofContext, disk: string): Promise<number> {
  const random = seeded(seed);
  let refused = 0;
  for (let fill = 0; fill < FILLS[size]; fill++) {
    const root = join(disk, `${fill}`);
    const ballast = join(disk, 'ballast');
    writeFileSync(ballast, Buffer.alloc(Math.floor((0.55 + random() * 0.3) * DISK)));
    const connection = await connect(root);
    try {
      const table = await connection.createTable('t', rows(0, 10));
      let total = 10;
      let met = 0;
      for (let tries = 0; met < 3 && tries < 500; tries++) {
        const count = 1 + Math.floor(random() * 500);
        try {
          await table.add(rows(total, count));
          total += count;
        } catch (error) {
          met++;
          if (!isDirspaceError(error, 'ResourceExhausted'))
            violated(`fill ${fill}: ${(error as Error).stack}`);
        }
        if (met > 0) await check(connection, total);
      }
      if (met === 0) violated(`fill ${fill}: the disk never was full`);
      refused += met;
      rmSync(ballast);
      if (fill % 2 === 0) await table.optimize({ cleanupOlderThan: new Date() });
      await table.add(rows(total, 5));
      await connection.createTable('another', rows(0, 1));
      await check(connection, total + 5);
      const { problems } = (await connection.namespace.verify?.({})) ?? { problems: [] };
      if (problems.length > 0) violated(`fill ${fill}: verify finds ${JSON.stringify(problems)}`);
    } catch (error) {
      violated(`fill ${fill}: ${(error as Error).stack}`);
    }
    await connection.close();
    rmSync(root, { recursive: true, force: true });
    rmSync(ballast, { force: true });
  }
  return refused;
}

/** Another handle sees every acknowledged row once. @throws if not */
async function check(connection: Connection, total: number): Promise<void> {
  const table = await connection.openTable('t');
  const found = (await table.query().select(['n']).toArray()).map(({ n }) => Number(n));
  if (found.length !== total || found.some((n, at) => n !== at))
    throw new Error(`${found.length} rows instead of ${total}`);
}

/** What a process under `ulimit -n` says; how many writes it was refused. */
function descriptors({ violated }: ProofContext, root: string, most: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const script = `ulimit -n ${most}; exec "$0" "$@"`;
    const args = ['-c', script, process.execPath, scriptPath('descriptors-child'), root];
    const child = spawn('sh', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      const found = output
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { readonly wrong?: string; readonly refused?: number });
      for (const { wrong } of found) if (wrong !== undefined) violated(`${most}: ${wrong}`);
      if (code !== 0) violated(`the process with ${most} descriptors ended with ${code}`);
      resolve(found.at(-1)?.refused ?? 0);
    });
  });
}
