/**
 * `fixture`: a catalog in memory behind a real server, for tests: seeded, put back to its seed between
 * tests, failing where it is told to, with a journal of what was asked. It listens on this machine
 * alone, asks for no credentials, and takes none of a caller's data anywhere else than into memory.
 */
import { systemEnv } from '../env.ts';
import { DirspaceError } from '../errors.ts';
import { suggestion } from '../known-names.ts';
import { type Connection, connect } from '../sdk/index.ts';
import { type Control, createTrialServer, type Trial } from '../server/index.ts';
import { CurrentCatalog } from './current-catalog.ts';
import { brokenAnswer, errorOf, type Fault, FaultPlan } from './faults.ts';
import { type FixtureRequest, Journal } from './journal.ts';
import { checkSeed, plant, type Seed } from './seed.ts';

/** Options of a fixture. */
export interface FixtureOptions {
  /** What is there at the beginning and after each reset; an empty catalog if absent. */
  readonly seed?: Seed;
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

const OPTIONS = ['seed', 'faults', 'port', 'journal', 'ui', 'resetRoute'];
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
  const seed = checkSeed(options.seed ?? {});
  const plan = new FaultPlan();
  plan.set(options.faults ?? []);
  const journal = new Journal(options.journal ?? JOURNAL);
  const current = new CurrentCatalog(await planted(seed));
  let resetting = Promise.resolve();
  const reset = (): Promise<void> => {
    // One after the other: two at once would leave a catalog that nobody closes.
    resetting = resetting
      .catch(() => {})
      .then(async () => {
        await current.replace(await planted(seed));
        plan.set(options.faults ?? []);
        journal.clear();
      });
    return resetting;
  };
  const trial: Trial = {
    controls: controls(plan, journal, options.resetRoute === false ? undefined : reset),
    answered: (request) => journal.add(request),
    answer: async (operation, work) => {
      const fault = plan.take(operation);
      if (fault === undefined) return work();
      if (fault.delayMs !== undefined) await systemEnv.sleep(fault.delayMs);
      const error = errorOf(fault);
      if (error !== undefined) throw error;
      if (fault.kind === 'drop') return brokenAnswer(undefined);
      return fault.kind === 'cut' ? brokenAnswer(await work()) : work();
    },
  };
  const server = await createTrialServer(
    {
      namespace: current.namespace,
      ui: options.ui ?? false,
      limits: { drainDelayMs: 0, maxEventLoopDelayMs: 0 },
    },
    trial,
  );
  const close = async (): Promise<void> => {
    await server.close();
    await current.connection.close();
  };
  let url: string;
  try {
    url = await server.listen({ port: options.port ?? 0 });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url,
    fetch: server.fetch,
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

async function planted(seed: Seed): Promise<Connection> {
  const catalog = await connect('memory://');
  try {
    await plant(catalog, seed);
    return catalog;
  } catch (error) {
    await catalog.close();
    throw error;
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
