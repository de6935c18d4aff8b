/**
 * `checkServerOptions` checks the names and types of the options of a server, and throws
 * InvalidInput. Unknown names are refused: a misspelt `readOnly` would allow writing, and a
 * misspelt `auth` would let everyone in. The functions of a logger are checked too; members of other
 * options that are objects, such as `limits`, are checked where they are used.
 */
import { DirspaceError } from '../errors.ts';
import { suggestion } from '../known-names.ts';
import type { StartOptions } from './server.ts';
import type { LogLevel } from './settings/index.ts';

type Names = Readonly<Record<keyof StartOptions, string>>;

const TYPES: Names = {
  namespace: 'object',
  root: 'string',
  databases: 'object',
  databasesRoot: 'string',
  auth: 'object',
  limits: 'object',
  metrics: 'object',
  databaseRouting: 'object',
  allowedHosts: 'object',
  cors: 'object',
  tls: 'object',
  create: 'boolean',
  readOnly: 'boolean',
  trashRetention: 'number or string',
  locations: 'object',
  cacheBytes: 'number',
  bufferBytes: 'number',
  vectorBytes: 'number',
  logger: 'object',
  dialects: 'object',
  env: 'object',
  ui: 'boolean or object',
  host: 'string',
  port: 'number',
};

/** What an option of `connect` is called here, or where to put it. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  fs: 'Open the catalog with connect(root, { fs }) and give its "namespace" in place of "root".',
  host: 'Give it to listen(), or to startServer().',
  port: 'Give it to listen(), or to startServer().',
};

const LEVELS = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[];

/** @throws InvalidInput that names the option, and the one that was meant where it comes near */
export function checkServerOptions(options: object, listens: boolean): void {
  if (typeof options !== 'object' || options === null) {
    throw invalid('The options of a server are no object.');
  }
  const known = Object.keys(TYPES).filter((name) => listens || !['host', 'port'].includes(name));
  for (const [name, value] of Object.entries(options)) {
    if (!known.includes(name)) {
      const where = Object.hasOwn(ELSEWHERE, name)
        ? ` ${ELSEWHERE[name]}`
        : suggestion(name, known);
      throw invalid(
        `There is no option ${JSON.stringify(name)}; there is ${known.join(', ')}.${where}`,
      );
    }
    const expected = TYPES[name as keyof Names];
    const found = value === null ? 'null' : typeof value;
    if (value !== undefined && !expected.split(' or ').includes(found)) {
      throw invalid(`The option ${name} is of type ${found}; it is of type ${expected}.`);
    }
  }
  const { cacheBytes, bufferBytes, vectorBytes, logger } = options as Partial<StartOptions>;
  for (const level of LEVELS) {
    const write: unknown = logger?.[level];
    if (write === undefined || typeof write === 'function') continue;
    throw invalid(`The option logger.${level} is of type ${typeof write}; give a function.`);
  }
  for (const [name, bytes] of Object.entries({ cacheBytes, bufferBytes, vectorBytes })) {
    if (bytes !== undefined && !(bytes >= 0)) {
      throw invalid(`The option ${name} is ${bytes}; it is a number of bytes from 0 on.`);
    }
  }
}

const invalid = (message: string): DirspaceError => new DirspaceError('InvalidInput', message);
