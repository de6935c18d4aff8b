/**
 * Random histories of a catalog with the power cut at a random call of the file system, after which
 * only what was flushed is certain: each other file is whole, cut, empty or gone, each other name
 * there or not. With full durability all that was acknowledged is there and all is sound; without,
 * what is damaged says so and nothing wrong is ever read.
 */
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { isDirspaceError } from '../../src/errors.ts';
import type { FileSystem } from '../../src/store/disk/file-system.ts';
import type { CatalogModel } from '../helpers/catalog-model.ts';
import { type Step, Steps } from '../helpers/catalog-steps.ts';
import { idsOf } from '../helpers/people.ts';
import { PowerLossFs } from '../helpers/power-loss-fs.ts';
import { seeded } from '../helpers/seeded.ts';
import { Simulation } from '../helpers/simulation.ts';
import { type VisibleState, type VisibleTable, visibleState } from '../helpers/visible-state.ts';
import type { ProofRow } from './row.ts';
import { eachSeed } from './seeds.ts';

const ROOT = '/c';
const STEPS = 14;
/** About as many as the steps make; a history that is shorter loses power at its end. */
const CALLS = 900;

/** Takes away many things, one after the other: a part of them may be gone. */
const PIECEMEAL = /^(clean up|delete versions)/;

interface Loss {
  readonly fs: FileSystem;
  readonly told: readonly string[];
  readonly before: VisibleState;
  readonly after: VisibleState;
  /** The step that the power loss interrupted. */
  readonly cut: Step | undefined;
  /** Of every version that ever was, its number and rows. */
  readonly known: ReadonlySet<string>;
}

const copy = (model: CatalogModel): VisibleState => structuredClone(model.state());

function remember(known: Set<string>, state: VisibleState): void {
  for (const { versions } of Object.values(state.tables)) {
    for (const branch of Object.values(versions)) {
      for (const [version, rows] of Object.entries(branch)) known.add(`${version}: ${rows}`);
    }
  }
}

async function lose(seed: number, durability: 'full' | 'relaxed'): Promise<Loss> {
  const random = seeded(seed);
  const steps = new Steps(random);
  const disk = new PowerLossFs();
  const faults = { powerCutAt: 1 + Math.floor(random() * CALLS) };
  const simulation = new Simulation(seed, disk.fs, faults);
  const process = simulation.process();
  const told: string[] = [];
  const known = new Set<string>();
  let before = copy(steps.model);
  let after = before;
  let cut: Step | undefined;
  await simulation.run([
    async () => {
      let catalog: DirectoryNamespace | undefined;
      for (let count = 0; count < STEPS; count++) {
        const step = steps.next();
        before = after;
        const expected = step.model();
        after = copy(steps.model);
        remember(known, after);
        told.push(`${step.name} -> ${expected}`);
        let found = 'ok';
        try {
          catalog ??= await process.open({ root: ROOT, durability });
          await step.engine(catalog);
        } catch (error) {
          if (!isDirspaceError(error) && !simulation.powerIsOff) throw error;
          found = isDirspaceError(error) ? error.code : 'the power went';
        }
        if (simulation.powerIsOff) {
          cut = step;
          return;
        }
        if (found !== expected) throw new Error(`${step.name} ends with ${found}, not ${expected}`);
      }
      before = after;
    },
  ]);
  const fs = await disk.afterPowerLoss(random);
  return { fs, told, before, after, cut, known };
}

const text = (value: unknown): string => JSON.stringify(value);

/** Between what was there and what would have been: every version that only cleanup may take. */
function isBetween(found: VisibleState, before: VisibleState, after: VisibleState): boolean {
  const plain = ({ versions: _, ...rest }: VisibleTable): unknown => rest;
  const tables = Object.entries(before.tables);
  if (text(Object.keys(found.tables)) !== text(Object.keys(before.tables))) return false;
  if (text(found.namespaces) !== text(before.namespaces)) return false;
  return tables.every(([key, table]) => {
    const now = found.tables[key] as VisibleTable;
    const then = after.tables[key] as VisibleTable;
    if (text(plain(now)) !== text(plain(table))) return false;
    return Object.entries(table.versions).every(([branch, versions]) => {
      const left = now.versions[branch] ?? {};
      const kept = Object.keys(then.versions[branch] ?? {});
      const added = Object.keys(left).some((version) => !(version in versions));
      const same = Object.entries(left).every(
        ([version, rows]) => text(rows) === text(versions[Number(version)]),
      );
      return !added && same && kept.every((version) => version in left);
    });
  });
}

/** Without regard to the order in which things were made. */
function sorted<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
const ordered = ({ namespaces, tables }: VisibleState): VisibleState => ({
  namespaces: sorted(namespaces),
  tables: sorted(
    Object.fromEntries(
      Object.entries(tables).map(([key, table]) => [
        key,
        {
          ...table,
          versions: sorted(table.versions),
          newest: sorted(table.newest),
          tags: sorted(table.tags),
          parents: sorted(table.parents),
        },
      ]),
    ),
  ),
});

async function fullProblems(seed: number): Promise<string[]> {
  const loss = await lose(seed, 'full');
  const where = loss.told.slice(-6).join('; ');
  const wrong: string[] = [];
  const catalog = await openDirectoryNamespace({
    root: ROOT,
    fs: loss.fs,
    durability: 'relaxed',
  });
  const found = ordered(await visibleState(catalog));
  const before = ordered(loss.before);
  const after = ordered(loss.after);
  const between = loss.cut !== undefined && PIECEMEAL.test(loss.cut.name);
  const allowed =
    text(found) === text(after) ||
    (loss.cut !== undefined && text(found) === text(before)) ||
    (between && isBetween(found, before, after));
  if (!allowed) wrong.push(`${where}: it was ${text(before)} and is ${text(found)}`);
  for (const { path, what } of (await catalog.verify({})).problems)
    wrong.push(`${where}: verify: ${path}: ${what}`);
  await catalog.close();
  return wrong;
}

interface Relaxed {
  readonly wrong: readonly string[];
  readonly detected: number;
}

async function relaxedProblems(seed: number): Promise<Relaxed> {
  const { fs, told, known } = await lose(seed, 'relaxed');
  const wrong: string[] = [];
  let detected = 0;
  const attempt = async <Value>(work: () => Promise<Value>): Promise<Value | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (!isDirspaceError(error)) throw error;
      detected++;
      return undefined;
    }
  };
  const catalog = await attempt(() => openDirectoryNamespace({ root: ROOT, fs }));
  const tables = (await attempt(async () => catalog?.listAllTables({})))?.tables ?? [];
  for (const name of tables) {
    const id = name.split('$');
    const branches = await attempt(async () => catalog?.listTableBranches({ id }));
    for (const branch of ['main', ...Object.keys(branches?.branches ?? {})]) {
      const listed = await attempt(async () => catalog?.listTableVersions({ id, branch }));
      for (const { version } of listed?.versions ?? []) {
        const rows = await attempt(async () => catalog && idsOf(catalog, id, { version, branch }));
        if (rows !== undefined && !known.has(`${version}: ${rows}`))
          wrong.push(`${told.slice(-6).join('; ')}: ${name} ${branch} v${version} has ${rows}`);
      }
    }
  }
  await catalog?.close();
  return { wrong, detected };
}

export const powerLoss: ProofRow = {
  row: 'T5 power loss',
  async run(context) {
    let relaxed = 0;
    let damaged = 0;
    const cases = await eachSeed(context, { ci: 60, short: 2_000 }, async (seed) => {
      if (seed % 4 !== 0) return fullProblems(seed);
      const { wrong, detected } = await relaxedProblems(seed);
      relaxed++;
      if (detected > 0) damaged++;
      return wrong;
    });
    return {
      cases,
      note: `${cases - relaxed} with full durability; ${relaxed} without, of which ${damaged} told of damage`,
    };
  },
};
