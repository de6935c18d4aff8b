/**
 * `fixture` starts a catalog in memory behind a real server, for tests. Its content comes from a
 * seed, and `reset` restores it. `setFaults` makes chosen requests fail, and `requests` returns the
 * newest requests from a journal. Tests in other languages do the same over HTTP. The server
 * listens on 127.0.0.1 and asks for no credentials. Wrong options, seeds and faults throw
 * InvalidInput. The test calls `close` at its end.
 */
import { systemEnv } from '../env.ts';
import { DirspaceError } from '../errors.ts';
import { suggestion } from '../known-names.ts';
import type { Connection } from '../sdk/index.ts';
import { type Control, createTrialServer, type Trial } from '../server/index.ts';
import { CurrentCatalog } from './current-catalog.ts';
import {
  checkFaults,
  cutAnswer,
  droppedAnswer,
  errorOf,
  type Fault,
  FaultPlan,
  failingFetch,
  isDropped,
} from './faults.ts';
import { type FixtureRequest, Journal } from './journal.ts';
import { invalidOption, Life, lifeOptions } from './life.ts';
import type { Seed } from './seed.ts';
import { sownOf } from './sown.ts';

/** Options of a fixture. */
export interface FixtureOptions {
  /**
   * The content at the beginning and after each reset; an empty catalog if absent. A text is the
   * path of a JSON file, of a folder with a file for each table, or of a catalog. Files are read
   * once, except that Lance files and datasets in a folder are read again at each reset.
   */
  readonly seed?: Seed | string;
  /** Faults from the beginning on; a reset takes them back to these. */
  readonly faults?: readonly Fault[];
  /** The port to listen on; any free one if absent. */
  readonly port?: number;
  /** Requests that the journal keeps; 10,000 if absent. */
  readonly journal?: number;
  /** Serves the browser page below `/ui`; not if absent. */
  readonly ui?: boolean;
  /** Whether `POST /v1/dirspace/reset` is served; true if absent. */
  readonly resetRoute?: boolean;
  /** `sequential` counts ids of the catalog and of requests from 1, anew after each reset; `random` if absent. */
  readonly ids?: 'random' | 'sequential';
  /**
   * Where time stands at the beginning and after each reset, such as `2026-01-01T00:00:00Z`; each request of an
   * operation moves it on by a second. The real time if absent.
   */
  readonly clock?: string | Date;
}

/** A catalog in memory behind a server that listens. */
export interface Fixture extends AsyncDisposable {
  /** The address of the server, on 127.0.0.1. */
  readonly url: string;
  /** The server without a socket, for clients that take a `fetch`. */
  readonly fetch: typeof fetch;
  /** The catalog in process: what a test prepares and looks at. It is another one after a reset. */
  readonly catalog: Connection;
  /** Takes these faults in place of the ones before; an empty list ends them. @throws InvalidInput */
  setFaults(faults: readonly Fault[]): void;
  /** The newest requests, oldest first, but for those of controls. */
  requests(): readonly FixtureRequest[];
  /** The seed and the first faults again, and an empty journal. Handles of tables before it find nothing. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

const OPTIONS = ['seed', 'faults', 'port', 'journal', 'ui', 'resetRoute', 'ids', 'clock'];
const JOURNAL = 10_000;

/** Starts a fixture. @throws InvalidInput for a seed, faults or options that are wrong */
export async function fixture(options: FixtureOptions = {}): Promise<Fixture> {
  for (const name of Object.keys(options)) {
    if (OPTIONS.includes(name)) continue;
    throw new DirspaceError(
      'InvalidInput',
      `A fixture has no option ${JSON.stringify(name)}; it has ${OPTIONS.join(', ')}.${suggestion(name, OPTIONS)}`,
    );
  }
  const { port = 0, ui = false, resetRoute = true } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw invalidOption('port', port, 'it is a whole number from 0 to 65535; 0 is any free one.');
  }
  for (const [name, value] of Object.entries({ ui, resetRoute })) {
    if (typeof value !== 'boolean') throw invalidOption(name, value, 'it is true or false.');
  }
  const lives = lifeOptions(options.ids, options.clock);
  const first = checkFaults(options.faults ?? []);
  const plan = new FaultPlan();
  plan.set(first);
  const journal = new Journal(options.journal ?? JOURNAL);
  const sown = await sownOf(options.seed ?? {});
  let life = new Life(lives);
  const current = new CurrentCatalog(await sown.open(life.env));
  const waits = new Waits();
  let resetting = Promise.resolve();
  let isClosed = false;
  const reset = (): Promise<void> => {
    if (isClosed) return Promise.reject(new DirspaceError('Closed', 'The fixture is closed.'));
    // One after the other: many at once would each have a catalog in memory.
    resetting = resetting
      .catch(() => {})
      .then(async () => {
        const next = new Life(lives);
        const catalog = await sown.open(next.env);
        waits.end('began anew');
        life = next;
        await current.replace(catalog);
        plan.set(first);
        journal.clear();
      });
    return resetting;
  };
  const trial: Trial = {
    controls: controls(plan, journal, resetRoute ? reset : undefined),
    answered: ({ begun, ...request }, answer) =>
      journal.add({ ...request, ...(isDropped(answer) ? {} : { status: answer.status }) }, begun),
    headers: () => (life.date === undefined ? {} : { date: life.date }),
    answer: async ({ operation, work, untimed }) => {
      life.tick();
      const fault = plan.take(operation);
      if (fault === undefined) return work();
      const { delayMs } = fault;
      if (delayMs !== undefined) await untimed((signal) => waits.wait(delayMs, signal));
      const error = errorOf(fault);
      if (error !== undefined) throw error;
      if (fault.kind === 'drop') return droppedAnswer();
      return fault.kind === 'cut' ? cutAnswer(await work()) : work();
    },
  };
  const server = await createTrialServer(
    {
      namespace: current.namespace,
      ui,
      env: {
        now: () => life.now(),
        uuid: () => life.requestId(),
        random: systemEnv.random,
        sleep: systemEnv.sleep,
      },
      limits: { drainDelayMs: 0, maxEventLoopDelayMs: 0 },
    },
    trial,
  );
  const close = async (): Promise<void> => {
    isClosed = true;
    waits.end('is closing');
    await server.close();
    // A reset under way has another catalog to close.
    await resetting.catch(() => {});
    await current.connection.close();
  };
  let url: string;
  try {
    url = await server.listen({ port });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url,
    fetch: failingFetch(server.fetch),
    get catalog() {
      return current.connection;
    },
    setFaults: (faults) => plan.set(faults),
    requests: () => journal.newest(),
    reset,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Requests that wait because of a fault, until the time is over, their caller leaves, or the fixture ends them. */
class Waits {
  #end = new AbortController();

  async wait(millis: number, caller: AbortSignal): Promise<void> {
    await systemEnv.sleep(millis, AbortSignal.any([this.#end.signal, caller]));
  }

  end(what: string): void {
    const ended = this.#end;
    this.#end = new AbortController();
    ended.abort(
      new DirspaceError('ServiceUnavailable', `The fixture ${what} while the request waited.`),
    );
  }
}

/** What tests in any language control a fixture by. */
function controls(
  plan: FaultPlan,
  journal: Journal,
  reset: (() => Promise<void>) | undefined,
): Control[] {
  const all: Control[] = [
    {
      method: 'POST',
      path: '/v1/dirspace/faults',
      answer: (body) => plan.set(body as readonly Fault[]),
    },
    {
      method: 'GET',
      path: '/v1/dirspace/requests',
      answer: () => ({ requests: journal.newest() }),
    },
    { method: 'POST', path: '/v1/dirspace/requests/clear', answer: () => journal.clear() },
  ];
  if (reset !== undefined) {
    all.push({ method: 'POST', path: '/v1/dirspace/reset', answer: () => reset() });
  }
  return all;
}
