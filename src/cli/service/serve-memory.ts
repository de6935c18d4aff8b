/**
 * `serveMemory` implements `dirspace serve --memory`: it serves a catalog in memory, for tests,
 * until the process is asked to end. `--seed` gives the content, and `--faults` makes answers fail.
 * It asks for no credentials, and refuses options about a catalog on disk. serve.ts uses
 * `untilStopped`, `announce` and `refuseMemoryOptions` of this file too.
 */
import { readFile, stat } from 'node:fs/promises';
import { isDirspaceError } from '../../errors.ts';
import type { Fault } from '../../testing/index.ts';
import { EXIT, type ServiceCall, UsageError } from '../terminal/index.ts';

/** Bytes of faults. */
const MOST_FILE = 1024 * 1024;
const NOT_IN_MEMORY = ['uri', 'root', 'config', 'host', 'cacheBytes', 'bufferBytes', 'vectorBytes'];

export async function serveMemory(call: ServiceCall, port: number): Promise<number> {
  const { options, around } = call;
  options.refuse(NOT_IN_MEMORY, '--memory serves a catalog in memory, on this machine alone.');
  if (options.flag('create')) throw new UsageError('--create means nothing beside --memory.');
  // Imported only here, so that other commands start faster.
  const { fixture } = await import('../../testing/index.ts');
  const ids = options.choice('ids', ['random', 'sequential']);
  const [seed, clock] = [options.text('seed'), options.text('clock')];
  const faults = parsed(await textOf(options.text('faults')));
  around.outliveReaders?.();
  const stopped = untilStopped(call);
  const begun = fixture({
    ...(seed === undefined ? {} : { seed }),
    ...(clock === undefined ? {} : { clock }),
    ids,
    faults: faults as readonly Fault[],
    port,
    resetRoute: options.flag('resetRoute'),
    ui: options.flag('ui'),
  });
  const served = await begun.catch((error: unknown) => {
    // What the call names, in files or in words, is wrong.
    if (!isDirspaceError(error, 'InvalidInput', 'TableSchemaValidation')) throw error;
    throw new UsageError(error.message, { cause: error });
  });
  announce(call, served.url, options.flag('ui'));
  await stopped;
  await served.close();
  return EXIT.ok;
}

/** Resolves when the process is asked to end, or where `--stop-with-stdin` is given its standard input has ended. */
export async function untilStopped({ options, around }: ServiceCall): Promise<void> {
  const ends: (Promise<unknown> | undefined)[] = [around.interrupted?.()];
  if (options.flag('stopWithStdin')) ends.push(around.inputEnded?.());
  const known = ends.filter((end) => end !== undefined);
  if (known.length > 0) await Promise.race(known);
}

/** Says where a server answers, and where its page is if it has one. */
export function announce({ options, around }: ServiceCall, url: string, hasPage: boolean): void {
  const page = hasPage ? `${url}/ui` : undefined;
  if (options.flag('json')) around.out(`${JSON.stringify({ url, ui: page })}\n`);
  else around.out(`Serving at ${url}\n${page === undefined ? '' : `Page at ${page}\n`}`);
}

/** The options that are for `--memory` alone. @throws UsageError where one is given without it */
export function refuseMemoryOptions({ options }: ServiceCall): void {
  options.refuse(['seed', 'faults', 'ids', 'clock'], 'it is for serve --memory.');
  if (options.flag('resetRoute')) {
    throw new UsageError('--reset-route means nothing here: it is for serve --memory.');
  }
}

async function textOf(file: string | undefined): Promise<string> {
  if (file === undefined) return '[]';
  const cannot = (why: string, cause?: unknown): UsageError =>
    new UsageError(`The file ${JSON.stringify(file)} of --faults ${why}.`, { cause });
  const found = await stat(file).catch((cause: unknown) => {
    throw cannot('cannot be read', cause);
  });
  if (!found.isFile()) throw cannot('is no file; give a file of JSON');
  if (found.size > MOST_FILE) throw cannot(`has ${found.size} bytes; ${MOST_FILE} may be`);
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw cannot('cannot be read', cause);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`The file of --faults is no JSON: ${(error as Error).message}`);
  }
}
