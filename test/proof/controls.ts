/**
 * T9: proofs that the proofs can tell. Four engines, each without one of the things that make a
 * commit safe, go through a small proof that must find them out, and the real engine through the
 * same one, which must find nothing.
 */
import { recordBatchStream } from '../../src/arrow/apache.ts';
import { requireTable } from '../../src/directory/catalog/catalog.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { openCatalog } from '../../src/directory/open-catalog.ts';
import { isDirspaceError } from '../../src/errors.ts';
import { strictFileSystem } from '../../src/store/disk/strict-fs.ts';
import { mainBranch } from '../../src/table/versions/branches.ts';
import { resolveHead } from '../../src/table/versions/head.ts';
import { append } from '../../src/table/write/append.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { idsOf, people } from '../helpers/people.ts';
import { PowerLossFs } from '../helpers/power-loss-fs.ts';
import { seeded } from '../helpers/seeded.ts';
import type { ProofRow } from './row.ts';
import {
  flushesNothing,
  inLockstep,
  renamesInsteadOfLinks,
  withoutIncarnations,
} from './unsafe-engines.ts';

type Variant = 'safe' | 'unsafe';

interface Control {
  readonly name: string;
  /** What is wrong afterwards, in words. */
  prove(variant: Variant, seed: number): Promise<readonly string[]>;
}

const ROOT = '/c';
const t = ['t'];
const WRITERS = 4;
const APPENDS = 4;
/** Tries of each control: one that finds its engine out in none of them has failed. */
const SEEDS = { ci: 3, short: 20, nightly: 200 };

const CONTROLS: readonly Control[] = [
  {
    name: 'rename instead of link',
    prove: (variant) => lostAppends(variant === 'unsafe' ? { links: 'replace' } : {}),
  },
  {
    name: 'no fsync',
    prove: lostPower,
  },
  {
    name: 'no transaction id',
    prove: (variant) => lostAppends(variant === 'unsafe' ? { transactions: 'equal' } : {}),
  },
  {
    name: 'no incarnation id',
    prove: staleWriter,
  },
];

export const controls: ProofRow = {
  row: 'T9 negative controls',
  async run({ seed, size, violated }) {
    const notes: string[] = [];
    let cases = 0;
    for (const { name, prove } of CONTROLS) {
      let detected = 0;
      for (let at = 0; at < SEEDS[size]; at++) {
        cases += 2;
        const safe = await prove('safe', seed + at);
        if (safe.length > 0) violated(`the real engine beside "${name}": ${safe.join('; ')}`);
        const unsafe = await prove('unsafe', seed + at);
        if (unsafe.length > 0) detected++;
      }
      if (detected === 0) violated(`an engine with ${name} passes its proof`);
      notes.push(`${name} ${detected}/${SEEDS[size]}`);
    }
    return { cases, note: `detected: ${notes.join(', ')}` };
  },
};

/**
 * Several engines append to one table at the same time. Their flushes wait for each other, so that
 * all have looked for the newest version before one of them publishes.
 */
async function lostAppends(unsafe: {
  readonly links?: 'replace';
  readonly transactions?: 'equal';
}): Promise<string[]> {
  const healthy = strictFileSystem(memoryFs());
  const { fs, leave } = inLockstep(
    unsafe.links === 'replace' ? renamesInsteadOfLinks(healthy) : healthy,
    WRITERS,
  );
  const first = await openDirectoryNamespace({ root: ROOT, fs: healthy });
  await first.createTable({ id: t }, people(1));
  const acknowledged: number[] = [0];
  const writer = async (nth: number): Promise<void> => {
    const { catalog } = await openCatalog({ root: ROOT, fs });
    const { engine } = catalog;
    const table = await requireTable(catalog, { id: t });
    const branch = mainBranch(table.folder, table.record.id);
    for (let round = 0; round < APPENDS; round++) {
      const row = 1 + nth * APPENDS + round;
      const base = (await resolveHead(engine, branch))?.snapshot;
      if (base === undefined) throw new Error('the table has no version');
      const given =
        unsafe.transactions === 'equal' ? { transaction: `${branch.incarnation}.same` } : {};
      await append(engine, base, people(1, row), given);
      acknowledged.push(row);
    }
    leave();
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, nth) => writer(nth)));
  const again = await openDirectoryNamespace({ root: ROOT, fs: healthy });
  const found = await idsOf(again, t);
  const wrong = acknowledged
    .filter((row) => found.filter((other) => other === row).length !== 1)
    .map((row) => `row ${row} was acknowledged and is not there once`);
  const { problems } = await again.verify({});
  return [...wrong, ...problems.map(({ path, what }) => `${path}: ${what}`)];
}

/** The power goes after some appends were acknowledged. */
async function lostPower(variant: Variant, seed: number): Promise<string[]> {
  const disk = new PowerLossFs();
  const fs = variant === 'unsafe' ? flushesNothing(disk.fs) : disk.fs;
  const catalog = await openDirectoryNamespace({ root: ROOT, fs });
  await catalog.createTable({ id: t }, people(1));
  for (let row = 1; row <= APPENDS; row++) await catalog.insertIntoTable({ id: t }, people(1, row));
  const left = await disk.afterPowerLoss(seeded(seed));
  try {
    const again = await openDirectoryNamespace({ root: ROOT, fs: left });
    const found = await idsOf(again, t);
    const rows = Array.from({ length: APPENDS + 1 }, (_, row) => row);
    const { problems } = await again.verify({});
    return [
      ...rows.filter((row) => !found.includes(row)).map((row) => `row ${row} is lost`),
      ...problems.map(({ path, what }) => `${path}: ${what}`),
    ];
  } catch (error) {
    return [String(error)];
  }
}

/** While a writer is at work its table is dropped, and another one takes the name. */
async function staleWriter(variant: Variant): Promise<string[]> {
  const fs = strictFileSystem(memoryFs());
  const open = () =>
    variant === 'unsafe'
      ? withoutIncarnations(ROOT, fs)
      : openDirectoryNamespace({ root: ROOT, fs });
  const [writer, other] = [await open(), await open()];
  await other.createTable({ id: t }, people(2));
  const rows = people(1, 100);
  const slowly = recordBatchStream(
    rows.schema,
    (async function* () {
      yield* rows;
      await other.dropTable({ id: t });
      await other.createTable({ id: t }, people(2, 10));
    })(),
  );
  const wrong: string[] = [];
  try {
    const { version } = await writer.insertIntoTable({ id: t }, slowly);
    wrong.push(`the writer of the dropped table made version ${version} of the new one`);
  } catch (error) {
    if (!isDirspaceError(error)) throw error;
  }
  try {
    const again = await openDirectoryNamespace({ root: ROOT, fs });
    const found = await idsOf(again, t);
    if (found.join() !== '10,11') wrong.push(`the new table has the rows ${found.join()}`);
    const { problems } = await again.verify({});
    wrong.push(...problems.map(({ path, what }) => `${path}: ${what}`));
  } catch (error) {
    wrong.push(String(error));
  }
  return wrong;
}
