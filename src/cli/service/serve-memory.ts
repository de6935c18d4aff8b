/**
 * `serveMemory`: what `dirspace serve --memory` does. It serves a catalog in memory for tests, seeded and
 * failing as files say, until the process is asked to end. It takes no credentials and nothing that
 * is about a catalog on disk.
 */
import { readFile, stat } from 'node:fs/promises';
import type { Fault } from '../../testing/index.ts';
import { EXIT, type ServiceCall, UsageError } from '../terminal/index.ts';

/** Bytes of a seed or of faults. */
const MOST_FILE = 256 * 1024 * 1024;
const NOT_IN_MEMORY = ['uri', 'root', 'config', 'host', 'cacheBytes', 'bufferBytes', 'vectorBytes'];

export async function serveMemory(call: ServiceCall, port: number): Promise<number> {
  const { options, around } = call;
  options.refuse(NOT_IN_MEMORY, '--memory serves a catalog in memory, on this machine alone.');
  if (options.flag('create')) throw new UsageError('--create means nothing beside --memory.');
  // The other commands start faster without fixtures.
  const { fixture, parseSeed } = await import('../../testing/index.ts');
  const seed = parseSeed(await textOf(options.text('seed'), 'seed', '{}'));
  const faults = parsed(await textOf(options.text('faults'), 'faults', '[]'));
  around.outliveReaders?.();
  const stopped = around.interrupted?.();
  const served = await fixture({
    seed,
    faults: faults as readonly Fault[],
    port,
    resetRoute: options.flag('resetRoute'),
    ui: options.flag('ui'),
  });
  announce(call, served.url, options.flag('ui'));
  await stopped;
  await served.close();
  return EXIT.ok;
}

/** Says where a server answers, and where its page is if it has one. */
export function announce({ options, around }: ServiceCall, url: string, hasPage: boolean): void {
  const page = hasPage ? `${url}/ui` : undefined;
  if (options.flag('json')) around.out(`${JSON.stringify({ url, ui: page })}\n`);
  else around.out(`Serving at ${url}\n${page === undefined ? '' : `Page at ${page}\n`}`);
}

/** The options that are for `--memory` alone. @throws UsageError where one is given without it */
export function refuseMemoryOptions({ options }: ServiceCall): void {
  options.refuse(['seed', 'faults'], 'it is for serve --memory.');
  if (options.flag('resetRoute')) {
    throw new UsageError('--reset-route means nothing here: it is for serve --memory.');
  }
}

async function textOf(file: string | undefined, flag: string, absent: string): Promise<string> {
  if (file === undefined) return absent;
  const cannot = (why: string, cause?: unknown): UsageError =>
    new UsageError(`The file ${JSON.stringify(file)} of --${flag} ${why}.`, { cause });
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
