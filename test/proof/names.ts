/** T18: names on disk: reversible, never two of one folder, usable or refused, none leaves its place. */
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { decodeRef, encodeRef, NameCodec } from '../../src/paths.ts';
import { SPECIAL_NAMES, shortNames } from '../helpers/names.ts';
import { seeded } from '../helpers/seeded.ts';
import { inFolder } from './processes.ts';
import { inRounds, refusal } from './rounds.ts';
import type { ProofContext, ProofRow } from './row.ts';

const RANDOM = { ci: 5_000, short: 100_000, nightly: 100_000 };
const USED = { ci: 60, short: 500, nightly: 2_000 };
const LONGEST = 300;
const LEGAL = 'abcxyzABCXYZ0129_-.';
/** What a component may not hold, here and there. */
const ILLEGAL = '/\\%: \u0000\n*?"<>|~é日';
/** Folder names that are safe on every system. */
const SAFE = /^[A-Za-z0-9_%-][A-Za-z0-9_.%-]*$/;
const DEVICE = /^(con|prn|aux|nul|conin|conout|com[0-9]|lpt[0-9])(\.|$)/i;
const KINDS = ['namespace', 'table'] as const;

class Judge {
  cases = 0;
  refused = 0;
  readonly #violated: (what: string) => void;
  readonly #codecs = [false, true].map((folds) => new NameCodec(folds));
  /** Folder names given so far, folded where the disk folds: by codec, place and kind. */
  readonly #given = new Map<string, string>();
  readonly #refs = new Map<string, string>();

  constructor(violated: (what: string) => void) {
    this.#violated = violated;
  }

  judge(name: string): void {
    this.cases++;
    for (const codec of this.#codecs) {
      for (const atRoot of [true, false]) {
        for (const kind of KINDS) this.#folder(codec, name, kind, atRoot);
      }
    }
    this.#ref(name);
  }

  #folder(codec: NameCodec, name: string, kind: (typeof KINDS)[number], atRoot: boolean): void {
    let folder: string;
    try {
      folder = codec.encode(name, kind, atRoot);
    } catch (error) {
      this.refused++;
      if (refusal(error) !== 'InvalidInput') this.#violated(`${name}: threw ${String(error)}`);
      if (name.length <= 80 - '.table'.length) this.#violated(`${name}: refused, short as it is`);
      return;
    }
    const back = codec.decode(folder, atRoot);
    const sound =
      back?.name === name &&
      back.kind === kind &&
      folder.length <= 240 &&
      SAFE.test(folder) &&
      !folder.endsWith('.') &&
      !DEVICE.test(folder) &&
      !folder.startsWith('.dirspace') &&
      !(kind === 'namespace' && atRoot && folder === 'data');
    if (!sound) this.#violated(`${kind} ${name}: ${folder}`);
    // Where the disk does not fold case, names of two cases are two folders.
    const key = `${codec.foldsCase} ${atRoot} ${codec.foldsCase ? folder.toLowerCase() : folder}`;
    const owner = `${kind} ${name}`;
    const known = this.#given.get(key) ?? owner;
    if (known !== owner) this.#violated(`${owner} and ${known} share ${folder}`);
    this.#given.set(key, owner);
  }

  #ref(name: string): void {
    let encoded: string;
    try {
      encoded = encodeRef(name);
    } catch (error) {
      if (refusal(error) !== 'InvalidInput') this.#violated(`tag ${name}: threw ${String(error)}`);
      if (name.length <= 200 && !name.startsWith('.')) this.#violated(`tag ${name}: refused`);
      return;
    }
    if (decodeRef(encoded) !== name || !SAFE.test(encoded))
      this.#violated(`tag ${name}: ${encoded}`);
    const known = this.#refs.get(encoded.toLowerCase()) ?? name;
    if (known !== name) this.#violated(`tags ${name} and ${known} share ${encoded}`);
    this.#refs.set(encoded.toLowerCase(), name);
  }

  /** A folder name that somebody else made: not ours, or exactly what we would have made. */
  foreign(folder: string): void {
    this.cases++;
    for (const codec of this.#codecs) {
      for (const atRoot of [true, false]) {
        const found = codec.decode(folder, atRoot);
        if (found === undefined) continue;
        if (codec.encode(found.name, found.kind, atRoot) !== folder) {
          this.#violated(`the folder ${folder} is taken for ${found.name}`);
        }
      }
    }
  }
}

/** Names through the whole engine on the real disk: made, listed, found, removed; or refused. */
async function used(
  names: readonly string[],
  violated: (what: string) => void,
): Promise<{ readonly usable: number; readonly refused: number }> {
  let [usable, refused] = [0, 0];
  await inFolder(async (folder) => {
    const catalog = await openDirectoryNamespace({ root: `${folder}/c`, durability: 'relaxed' });
    for (const name of names) {
      try {
        await catalog.createNamespace({ id: [name] });
        await catalog.declareTable({ id: [name, name] });
        const { tables } = await catalog.listTables({ id: [name], include_declared: true });
        const { namespaces } = await catalog.listNamespaces({});
        if (tables.join() !== name) violated(`the table ${name} is listed as ${tables.join()}`);
        if (!namespaces.includes(name)) violated(`the namespace ${name} is not listed`);
        await catalog.dropNamespace({ id: [name], behavior: 'Cascade' });
        usable++;
      } catch (error) {
        if (refusal(error) !== 'InvalidInput') violated(`${name}: threw ${String(error)}`);
        await catalog
          .dropNamespace({ id: [name], mode: 'Skip', behavior: 'Cascade' })
          .catch(() => {});
        refused++;
      }
    }
    const left = (await catalog.listNamespaces({})).namespaces;
    if (left.length > 0) violated(`left behind: ${left.slice(0, 5).join(', ')}`);
    await catalog.close();
  });
  return { usable, refused };
}

async function run(context: ProofContext): Promise<{ cases: number; note: string }> {
  const judge = new Judge((what) => context.violated(what));
  for (const name of shortNames()) judge.judge(name);
  for (const name of SPECIAL_NAMES) judge.judge(name);
  const lengths: string[] = [];
  for (let length = 1; length <= LONGEST; length++) {
    lengths.push('a'.repeat(length), 'A'.repeat(length), `${'z'.repeat(length - 1)}.`);
  }
  for (const name of lengths) judge.judge(name);
  let [usable, refused] = [0, 0];
  await inRounds(context, async (seed) => {
    const random = seeded(seed);
    const whole = (below: number): number => Math.floor(random() * below);
    const word = (letters: string): string =>
      Array.from({ length: 1 + whole(40) }, () => letters[whole(letters.length)]).join('');
    const drawn: string[] = [...SPECIAL_NAMES, ...lengths.filter((_, at) => at % 9 < 3)];
    for (let at = 0; at < RANDOM[context.size]; at++) {
      const name = word(LEGAL);
      judge.judge(name);
      if (at % 4 === 0) judge.foreign(word(`${LEGAL}%%%${ILLEGAL}`));
      if (drawn.length < USED[context.size])
        drawn.push(at % 3 === 0 ? word(LEGAL + ILLEGAL) : name);
    }
    const found = await used(drawn, (what) => context.violated(what, seed));
    usable += found.usable;
    refused += found.refused;
    return 0;
  });
  return {
    cases: judge.cases + usable + refused,
    note: `${usable} used and ${refused} refused on the disk`,
  };
}

export const names: ProofRow = { row: 'T18 names', run };
