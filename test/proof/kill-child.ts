/** Works on several catalogs at once until it is killed; says what it begins and what was done. */
import { connect } from '../../src/index.ts';
import { seeded } from '../helpers/seeded.ts';
import { message, say } from './child-process.ts';
import { applied, type CatalogState, choose, type Done, type Operation } from './kill-model.ts';
import { perform } from './kill-operations.ts';

export interface KillLane {
  readonly root: string;
  readonly state: CatalogState;
  readonly seed: number;
}

export interface KillTask {
  readonly durability: 'full' | 'relaxed';
  readonly lanes: readonly KillLane[];
}

export interface KillLine {
  readonly lane?: number;
  readonly ready?: true;
  readonly begin?: Operation;
  readonly done?: Done;
  readonly error?: string;
}

const tell = (line: KillLine): void => say(line);

tell({ ready: true });
const { durability, lanes } = await message<KillTask>();

async function work(lane: number, { root, state: given, seed }: KillLane): Promise<void> {
  const random = seeded(seed);
  const connection = await connect(root, { durability });
  for (let state = given; ; ) {
    const operation = choose(random, state);
    tell({ lane, begin: operation });
    try {
      const done = await perform(connection, operation);
      tell({ lane, done });
      state = applied(state, operation, done);
    } catch (error) {
      tell({ lane, error: `${operation.kind}: ${(error as Error).stack}` });
      return;
    }
  }
}

await Promise.all(lanes.map((lane, at) => work(at, lane)));
// Every lane ended with an error; the parent kills what is left.
setInterval(() => {}, 1000);
