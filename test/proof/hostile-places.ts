/**
 * T19: links and forged paths everywhere in a catalog. Whatever is asked of it, nothing outside
 * its root is read, written or removed; and links that are swapped in between two calls never
 * cost what lies behind them.
 */
import nodeFs from 'node:fs';
import { basename } from 'node:path';
import { guardedFs } from '../helpers/guarded-fs.ts';
import { seeded } from '../helpers/seeded.ts';
import { type Attack, forgedDocuments, HOSTILE, LINKS } from './hostile-attacks.ts';
import {
  exercise,
  hostileRequests,
  inventory,
  type Place,
  prepare,
  TABLE,
} from './hostile-catalog.ts';
import { inFolder } from './processes.ts';
import { inRounds } from './rounds.ts';
import type { ProofContext, ProofRow } from './row.ts';

const SWAPS = { ci: 20, short: 240, nightly: 2_000 };

class Judge {
  cases = 0;
  /** New names that a swap let through into the folder behind the link. */
  through = 0;
  readonly #violated: (what: string) => void;

  constructor(violated: (what: string) => void) {
    this.#violated = violated;
  }

  /** Runs one attack on a copy of the catalog. */
  async attack(template: Place, folder: string, [name, tamper]: Attack): Promise<void> {
    const place = { root: `${folder}/root`, outside: template.outside };
    nodeFs.cpSync(template.root, place.root, { recursive: true });
    tamper(place);
    const before = inventory(place.outside);
    const fs = guardedFs({
      root: place.root,
      escaped: (call, path) => this.#violated(`${name}: ${call} ${path}`),
    });
    await exercise(place, fs, (what) => this.#violated(`${name}: ${what}`));
    if (inventory(place.outside) !== before) this.#violated(`${name}: what is outside changed`);
    nodeFs.rmSync(place.root, { recursive: true, force: true });
    this.cases++;
  }

  async requests(template: Place, folder: string): Promise<void> {
    const place = { root: `${folder}/root`, outside: template.outside };
    nodeFs.cpSync(template.root, place.root, { recursive: true });
    const before = inventory(place.outside);
    const fs = guardedFs({
      root: place.root,
      escaped: (call, path) => this.#violated(`a request: ${call} ${path}`),
    });
    this.cases += await hostileRequests(HOSTILE, place, fs, (what) => this.#violated(what));
    if (inventory(place.outside) !== before) this.#violated('requests changed what is outside');
    nodeFs.rmSync(place.root, { recursive: true, force: true });
  }

  /**
   * Swaps a folder for a link right before one call. Plain Node cannot hold a folder open, so a
   * new name may appear behind the link; what is there already must survive.
   */
  async swap(template: Place, folder: string, target: string, call: number): Promise<boolean> {
    const place = { root: `${folder}/root`, outside: `${folder}/outside` };
    nodeFs.cpSync(template.root, place.root, { recursive: true });
    nodeFs.cpSync(`${template.outside}/letters`, place.outside, { recursive: true });
    let calls = 0;
    const fs = guardedFs({
      root: place.root,
      escaped: () => {},
      before: () => {
        if (calls++ !== call) return;
        const path = `${place.root}/${target}`;
        if (!nodeFs.existsSync(path)) return;
        nodeFs.renameSync(path, `${folder}/away-${basename(path)}`);
        nodeFs.symlinkSync(place.outside, path);
      },
    });
    const named = `${target} swapped before call ${call}`;
    await exercise(place, fs, (what) => this.#violated(`${named}: ${what}`));
    const left = nodeFs.readdirSync(place.outside, { recursive: true }).map(String);
    for (const name of ['one', 'old/two']) {
      if (!left.includes(name)) this.#violated(`${named}: ${name} was removed outside`);
      else if (
        nodeFs.readFileSync(`${place.outside}/${name}`, 'utf8') !== `secret letters/${name}`
      ) {
        this.#violated(`${named}: ${name} was overwritten outside`);
      }
    }
    if (left.length !== 3) this.through++;
    for (const name of nodeFs.readdirSync(folder)) {
      nodeFs.rmSync(`${folder}/${name}`, { recursive: true, force: true });
    }
    this.cases++;
    return calls > call;
  }
}

const SWAPPED = ['ns', TABLE, `${TABLE}/data`, '.dirspace/trash', '.dirspace/staging', 'data'];

async function run(context: ProofContext): Promise<{ cases: number; note: string }> {
  const judge = new Judge((what) => context.violated(what));
  await inFolder(async (folder) => {
    nodeFs.mkdirSync(`${folder}/template`);
    nodeFs.mkdirSync(`${folder}/work`);
    const template = await prepare(`${folder}/template`);
    for (const attack of LINKS) await judge.attack(template, `${folder}/work`, attack);
    const forged = forgedDocuments();
    const random = seeded(context.seed);
    for (const attack of forged) {
      if (context.size === 'ci' && random() > 0.025) continue;
      await judge.attack(template, `${folder}/work`, attack);
    }
    await judge.requests(template, `${folder}/work`);
    await inRounds(context, async (seed) => {
      const draw = seeded(seed);
      let longest = 400;
      for (let at = 0; at < SWAPS[context.size]; at++) {
        const target = SWAPPED[at % SWAPPED.length] as string;
        const call = Math.floor(draw() * longest);
        const reached = await judge.swap(template, `${folder}/work`, target, call);
        if (!reached) longest = Math.max(100, call);
      }
      return 0;
    });
  });
  return {
    cases: judge.cases,
    note: `${judge.through} swaps let a new name through, as plain Node must; nothing there was lost`,
  };
}

export const hostilePlaces: ProofRow = { row: 'T19 links and hostile paths', run };
