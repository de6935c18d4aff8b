/**
 * `dirspace serve` serves a directory's catalog, or the databases of a configuration file, over
 * HTTP until the process is asked to end. It prints the address, and logs to standard error as JSON
 * lines. Options take precedence over the configuration. reloads.ts applies changes of the
 * configuration; serve-memory.ts implements `--memory`. `folderOf` converts a path or `file:` URL
 * to a folder, and refuses addresses of servers.
 */

import { resolve } from 'node:path';
import { systemEnv } from '../../env.ts';
import { directoryOf } from '../../local-path.ts';
import type { Logger, LogLevel, ServerConfig } from '../../server/index.ts';
import {
  EXIT,
  type Options,
  type ServiceCall,
  type ServiceCommand,
  type Surroundings,
  safeJson,
  UsageError,
} from '../terminal/index.ts';
import { Reloads } from './reloads.ts';
import { announce, refuseMemoryOptions, serveMemory, untilStopped } from './serve-memory.ts';

export const serve: ServiceCommand = {
  name: 'serve',
  summary: 'Serve a catalog over HTTP',
  arguments: [],
  options: [
    { flags: '--host <address>', summary: 'the address to listen on (default: 127.0.0.1)' },
    { flags: '--port <number>', summary: 'the port to listen on (default: 2333; 0 for any)' },
    { flags: '--cache-bytes <bytes>', summary: 'memory for metadata (default: 64 MiB)' },
    { flags: '--buffer-bytes <bytes>', summary: 'memory for table data (default: 128 MiB)' },
    {
      flags: '--vector-bytes <bytes>',
      summary: 'memory for sketches of vectors (default: twice that for table data)',
    },
    { flags: '--create', summary: 'make the folder to serve where there is none' },
    { flags: '--ui', summary: 'show the catalog in a browser too, at /ui' },
    { flags: '--config <file>', summary: 'a JSON file with databases, auth and limits' },
    { flags: '--memory', summary: 'serve a catalog in memory, for tests; nothing is kept' },
    {
      flags: '--seed <path>',
      summary: 'with --memory: what is there first: JSON, a folder of files, or a catalog',
    },
    { flags: '--reset-route', summary: 'with --memory: POST /v1/dirspace/reset begins anew' },
    { flags: '--faults <file>', summary: 'with --memory: what fails, as JSON' },
    { flags: '--ids <kind>', summary: 'with --memory: random (default) or sequential' },
    {
      flags: '--clock <time>',
      summary: 'with --memory: where time stands; each request moves it on by a second',
    },
    { flags: '--stop-with-stdin', summary: 'end when the standard input ends' },
  ],
  choices: { ids: ['random', 'sequential'] },
  examples: [
    'dirspace serve --root ./catalog',
    'dirspace serve --config server.json --json',
    'dirspace serve --memory --seed seed.json --reset-route --port 0 --json',
  ],
  service: true,
  async run(call: ServiceCall): Promise<number> {
    const { options, around } = call;
    if (options.flag('memory')) {
      return serveMemory(call, options.count('port', DEFAULT_PORT, 65_535));
    }
    refuseMemoryOptions(call);
    options.refuse(['uri'], 'give --root for the directory to serve.');
    // The other commands start faster without the server.
    const { loadConfig } = await import('../../server/index.ts');
    const { startServer } = await import('../../server/index.ts');
    const load = async (): Promise<ServerConfig> =>
      withOptions(
        await loadConfig(options.text('config'), around.env),
        options,
        around.env.DIRSPACE_URI || '.',
      );
    const config = await load();
    const { logLevel, ...settings } = config;
    const logger = lineLogger(around, logLevel);
    around.outliveReaders?.();
    const stopped = untilStopped(call);
    const server = await startServer({ ...settings, logger });
    const file = options.text('config') ?? (around.env.DIRSPACE_CONFIG || undefined);
    const reloads = new Reloads({ server, logger, config, load, file });
    around.reloadAsked?.(() => void reloads.reload());
    announce(call, server.url, settings.ui === true);
    await stopped;
    reloads.end();
    await server.close();
    return EXIT.ok;
  },
};

const DEFAULT_PORT = 2333;

/** `place` is served where neither an option nor the configuration says what is. */
function withOptions(config: ServerConfig, options: Options, place: string): ServerConfig {
  const { databases, databasesRoot, root, ...rest } = config;
  const given = options.text('root');
  const isConfigured = [databases, databasesRoot, root].some((source) => source !== undefined);
  const host = options.text('host');
  return {
    ...(given === undefined && isConfigured ? config : { ...rest, root: folderOf(given ?? place) }),
    ...(host === undefined ? {} : { host }),
    ...(options.flag('create') ? { create: true } : {}),
    ...(options.flag('ui') ? { ui: true } : {}),
    port: options.count('port', config.port ?? DEFAULT_PORT, 65_535),
    ...bytesOf(options, config),
  };
}

/** The sizes of the caches that the command line names. */
function bytesOf(
  options: Options,
  config: ServerConfig,
): Pick<ServerConfig, 'cacheBytes' | 'bufferBytes' | 'vectorBytes'> {
  const given = (name: 'cacheBytes' | 'bufferBytes' | 'vectorBytes'): object =>
    options.text(name) === undefined ? {} : { [name]: options.count(name, config[name] ?? 0) };
  return { ...given('cacheBytes'), ...given('bufferBytes'), ...given('vectorBytes') };
}

/** A path, or a `file:` URL; addresses of servers are refused. */
export function folderOf(place: string): string {
  if (/^https?:\/\//i.test(place)) {
    throw new UsageError(
      `${JSON.stringify(place)} is the address of a server. Give --root for the directory to serve.`,
    );
  }
  return resolve(directoryOf(place));
}

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** One JSON document a line, on the stream that is not for data. */
function lineLogger(around: Surroundings, least: (typeof LEVELS)[number]): Logger {
  const logger: Logger = {};
  for (const level of LEVELS.slice(LEVELS.indexOf(least), -1) as LogLevel[]) {
    logger[level] = (fields, message) =>
      around.error(
        `${safeJson(JSON.stringify({ level, message, time: new Date(systemEnv.now()).toISOString(), ...fields }))}\n`,
      );
  }
  return logger;
}
