/** A writer of a simulation: random operations through the public API, each held to its history. */
import type { DirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import type { OpenOptions } from '../../src/directory/open-catalog.ts';
import { isDirspaceError } from '../../src/errors.ts';
import type { Namespace } from '../../src/protocol/namespace.ts';
import { type History, type Operation, type Rows, rowsText } from './history.ts';
import { people, range, type Selection } from './people.ts';
import type { Purpose } from './reference-history.ts';
import { renamed, textsOf } from './simulated-columns.ts';
import type { SimulatedProcess, Simulation } from './simulation.ts';

export interface Attempt {
  readonly what: string;
  readonly apply?: Operation['apply'];
  /** An error other than CommitStateUnknown means that nothing was published. */
  readonly exact?: boolean;
  readonly purpose?: Purpose;
  /** Versions that it makes at once; one if absent. */
  readonly versions?: number;
  /** Moves a folder, and only if it says so. */
  readonly moves?: boolean;
  run(catalog: DirectoryNamespace): Promise<unknown>;
  /** Looks at the answer; says what is wrong with it. */
  check?(answer: never, from: number, to: number, number: number): string | undefined;
}

/** Never an answer to a caller's mistake or to another writer. */
const NEVER = new Set(['Corrupt', 'Internal', 'UnsupportedFormat', 'Closed']);

export async function rowsOf(
  namespace: Namespace,
  id: string[],
  selection: Selection = {},
  pause: () => Promise<void> = async () => {},
): Promise<Map<number, string>> {
  const rows = new Map<number, string>();
  const stream = await namespace.queryTable({ id, k: Number.MAX_SAFE_INTEGER, ...selection });
  for await (const batch of stream) {
    for (const [key, text] of textsOf(batch)) {
      if (rows.has(key)) throw new Error(`row ${key} of ${id} is there twice`);
      rows.set(key, text);
    }
    await pause();
  }
  return rows;
}

export class SimulatedWriter {
  readonly simulation: Simulation;
  readonly history: History;
  readonly outcomes = new Map<string, number>();
  process: SimulatedProcess;
  readonly #options: Omit<OpenOptions, 'fs' | 'env'>;
  readonly #skew: number;
  readonly #counter: { next: number };
  #catalog: DirectoryNamespace | undefined;
  #nextRow: number;

  constructor(
    simulation: Simulation,
    history: History,
    options: Omit<OpenOptions, 'fs' | 'env'>,
    counter: { next: number },
    skew = 0,
  ) {
    this.simulation = simulation;
    this.history = history;
    this.#options = options;
    this.#counter = counter;
    this.#skew = skew;
    this.process = simulation.process(skew);
    this.#nextRow = 1 + 100_000 * this.process.number;
  }

  /** Does it once, as a process that is started again if it died before. */
  async attempt(attempt: Attempt): Promise<string> {
    const { simulation, history } = this;
    if (this.process.dead) {
      this.process = simulation.process(this.#skew);
      this.#catalog = undefined;
    }
    const { process } = this;
    const number = this.#counter.next++;
    const { what, apply, purpose } = attempt;
    history.operations.set(number, {
      number,
      what,
      begun: simulation.step,
      ...(apply === undefined ? {} : { apply }),
      ...(purpose === undefined ? {} : { purpose }),
    });
    process.operation = number;
    const from = simulation.step;
    let outcome = 'ok';
    let answer: unknown;
    try {
      await simulation.turn(0, process);
      this.#catalog ??= await process.open(this.#options);
      answer = await attempt.run(this.#catalog);
    } catch (error) {
      if (!process.dead && !isDirspaceError(error)) throw error;
      outcome = isDirspaceError(error) ? error.code : 'died';
      const allowed = outcome === 'Internal' && (simulation.faults.errors ?? 0) > 0;
      if (NEVER.has(outcome) && !allowed && !process.dead)
        this.#violated(`${number} ${what}`, `${outcome}: ${String((error as Error).message)}`);
    }
    if (process.dead) outcome = 'died';
    simulation.note(`${number} ${what} ${outcome}\n`);
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    if (outcome === 'ok') history.acknowledged.add(number);
    if (outcome === 'ok') this.#checkAnswer(attempt, number, answer, from);
    else if (outcome !== 'died' && outcome !== 'CommitStateUnknown') {
      const published = attempt.exact === true ? history.publishedBy(number).length : 0;
      if (published > 0) this.#violated(`${number} ${what}`, `failed with ${outcome} and is there`);
    }
    return outcome;
  }

  #checkAnswer(attempt: Attempt, number: number, answer: unknown, from: number): void {
    const { history } = this;
    const name = `${number} ${attempt.what}`;
    if (attempt.apply !== undefined) {
      const { transaction_id: transaction, version } = answer as {
        transaction_id?: string;
        version?: number;
      };
      const published = history.publishedBy(number);
      const all = attempt.versions ?? 1;
      const expected = transaction === undefined && !attempt.what.startsWith('optimize') ? 0 : all;
      const optimized = attempt.what.startsWith('optimize') && version === undefined;
      if (published.length !== (optimized ? 0 : expected))
        this.#violated(name, `was acknowledged and is there ${published.length} times`);
      const there = published[0]?.manifest.version;
      if (there !== undefined && version !== undefined && there !== version)
        this.#violated(name, `answers version ${version} and is version ${there}`);
    }
    if (attempt.moves === true && (history.moves.get(number) ?? 0) === 0)
      this.#violated(name, 'was acknowledged and moved nothing');
    const wrong = attempt.check?.(answer as never, from, this.simulation.step, number);
    if (wrong !== undefined) this.#violated(name, wrong);
  }

  #violated(name: string, what: string): void {
    this.history.violations.push(`step ${this.simulation.step}: ${name}: ${what}`);
  }

  newRows(count: number): number[] {
    const rows = range(this.#nextRow, this.#nextRow + count);
    this.#nextRow += count;
    return rows;
  }

  append(id: string[], branch = 'main'): Attempt {
    const ids = this.newRows(1 + this.simulation.below(3));
    return {
      what: `append ${ids} to ${id} ${branch}`,
      apply: (rows) => new Map([...rows, ...named(ids)]),
      exact: true,
      run: (catalog) => catalog.insertIntoTable({ id, branch }, people(ids.length, ids[0])),
    };
  }

  overwrite(id: string[]): Attempt {
    const ids = this.newRows(1 + this.simulation.below(3));
    return {
      what: `overwrite ${id} with ${ids}`,
      apply: () => named(ids),
      exact: true,
      run: (catalog) =>
        catalog.insertIntoTable({ id, mode: 'overwrite' }, people(ids.length, ids[0])),
    };
  }

  create(id: string[], mode = this.simulation.pick('create', 'exist_ok', 'overwrite')): Attempt {
    const ids = this.newRows(1 + this.simulation.below(4));
    return {
      what: `create ${id} ${mode} with ${ids}`,
      apply: () => named(ids),
      run: (catalog) => catalog.createTable({ id, mode }, people(ids.length, ids[0])),
    };
  }

  delete(id: string[], modulus: number, rest: number): Attempt {
    return {
      what: `delete ${rest} of ${modulus} from ${id}`,
      apply: (rows) => new Map([...rows].filter(([row]) => row % modulus !== rest)),
      exact: true,
      run: (catalog) => catalog.deleteFromTable({ id, predicate: `id % ${modulus} = ${rest}` }),
    };
  }

  update(id: string[], modulus: number, rest: number): Attempt {
    const name = `u${this.#counter.next}`;
    return {
      what: `update ${rest} of ${modulus} in ${id} to ${name}`,
      apply: (rows) =>
        new Map(
          [...rows].map(([row, old]) => [row, row % modulus === rest ? renamed(old, name) : old]),
        ),
      exact: true,
      run: (catalog) =>
        catalog.updateTable({
          id,
          predicate: `id % ${modulus} = ${rest}`,
          updates: [['name', `'${name}'`]],
        }),
    };
  }

  /** Updates some rows that were there a moment ago, and brings some. */
  merge(id: string[]): Attempt {
    const fresh = this.newRows(1 + this.simulation.below(2));
    return {
      what: `merge ${fresh} into ${id}`,
      apply: (rows) => new Map([...rows, ...named(fresh)]),
      exact: true,
      run: (catalog) =>
        catalog.mergeInsertIntoTable(
          { id, on: 'id', when_matched_update_all: true, when_not_matched_insert_all: true },
          people(fresh.length, fresh[0]),
        ),
    };
  }

  restore(id: string[], version: number, branch = 'main'): Attempt {
    return {
      what: `restore ${id} ${branch} to ${version}`,
      apply: (_, line) => line.get(version)?.rows ?? new Map(),
      exact: true,
      run: (catalog) => catalog.restoreTable({ id, version, branch }),
    };
  }

  optimize(id: string[]): Attempt {
    return {
      what: `optimize ${id}`,
      apply: (rows) => rows,
      exact: true,
      run: (catalog) => catalog.optimizeTable({ id, compact: { target_rows: 1000 } }),
    };
  }

  cleanup(id: string[], olderThan = 0): Attempt {
    return {
      what: `clean up ${id}`,
      run: (catalog) => catalog.cleanupTable({ id, older_than_millis: olderThan }),
    };
  }

  drop(id: string[]): Attempt {
    return { what: `drop ${id}`, moves: true, run: (catalog) => catalog.dropTable({ id }) };
  }

  undrop(id: string[]): Attempt {
    return { what: `undrop ${id}`, moves: true, run: (catalog) => catalog.undropTable({ id }) };
  }

  rename(id: string[], target: string[]): Attempt {
    return {
      what: `rename ${id} to ${target}`,
      moves: true,
      run: (catalog) =>
        catalog.renameTable({
          id,
          new_table_name: target.at(-1) ?? '',
          new_namespace_id: target.slice(0, -1),
        }),
    };
  }

  /** @param pause between batches */
  read(id: string[], selection: Selection = {}, pause?: () => Promise<void>): Attempt {
    const { version, branch = '' } = selection;
    return {
      what: `read ${id} ${branch} ${version ?? ''}`,
      run: (catalog) => rowsOf(catalog, id, selection, pause),
      check: (rows: Rows, from, to) => {
        const text = rowsText(rows);
        const known =
          version === undefined
            ? this.history.wasNewest(text, from, to)
            : this.history.isVersion(text, version);
        return known ? undefined : `finds ${text}`;
      },
    };
  }

  /** Ids that a table held lately and a rule that some of them fit. */
  rule(): readonly [modulus: number, rest: number] {
    const modulus = this.simulation.pick(2, 3, 5);
    return [modulus, this.simulation.below(modulus)];
  }
}

const named = (ids: readonly number[]): Map<number, string> =>
  new Map(ids.map((id) => [id, `name ${id}`]));
