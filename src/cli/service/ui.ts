/**
 * `dirspace ui` serves the browser page of a catalog in a directory on this machine only, until the
 * process is asked to end. It prints an address that opens one session. The catalog is opened
 * read-only. Routes that read the catalog need that session, or a secret that is not printed.
 */
import { randomBytes } from 'node:crypto';
import type { GrantInput } from '../../server/index.ts';
import { EXIT, type ServiceCall, type ServiceCommand, UsageError } from '../terminal/index.ts';
import { folderOf } from './serve.ts';

export const ui: ServiceCommand = {
  name: 'ui',
  summary: 'Show a catalog in a browser, read-only',
  otherNames: ['view', 'viewer', 'browse', 'web'],
  arguments: [['[root]', 'the directory of the catalog; --root if absent']],
  options: [{ flags: '--port <number>', summary: 'the port to listen on (default: any free one)' }],
  examples: ['dirspace ui', 'dirspace ui ./catalog --port 4213'],
  service: true,
  async run({ arguments: [place], options, around }: ServiceCall): Promise<number> {
    options.refuse(['uri'], 'a server shows its own catalog where it is started with --ui.');
    const given = options.text('root');
    if (place !== undefined && given !== undefined) {
      throw new UsageError('The directory is given twice, as an argument and as --root; give one.');
    }
    const port = options.count('port', 0, 65_535);
    // The other commands start faster without the server.
    const { startServer } = await import('../../server/index.ts');
    const [secret, token] = [randomText(), randomText()];
    const grants: readonly GrantInput[] = ['read:$'];
    around.outliveReaders?.();
    const stopped = around.interrupted?.();
    const server = await startServer({
      root: folderOf(place ?? given ?? (around.env.DIRSPACE_URI || '.')),
      readOnly: true,
      port,
      // Names of this machine alone, with credentials too.
      allowedHosts: ['localhost'],
      auth: {
        authenticate: ({ token: sent }) => (sent === secret ? { name: 'you', grants } : undefined),
      },
      ui: { ticket: { token, credentials: { token: secret } } },
    });
    const url = `${server.url}/ui/?ticket=${token}`;
    if (options.flag('json')) around.out(`${JSON.stringify({ url })}\n`);
    else around.out(`Open ${url}\nThe address opens one session. Ctrl-C ends the server.\n`);
    await stopped;
    await server.close();
    return EXIT.ok;
  },
};

const randomText = (): string => randomBytes(32).toString('base64url');
