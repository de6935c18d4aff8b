/** Files at addresses: credentials, redirects, and files that change between ranges. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { nameOfAddress, urlSource } from '../../../src/interchange/files/url-source.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function served(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function textAt(address: string): Promise<string> {
  let text = '';
  for await (const piece of (await urlSource(address)).pieces()) text += Buffer.from(piece);
  return text;
}

const problemOf = async (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.unreachable('nothing was refused'),
    (error: Error) => error,
  );

/** All that a log would show of an error. */
const shown = (error: unknown): string =>
  error instanceof Error
    ? `${error.message} ${error.stack} ${JSON.stringify(error)} ${JSON.stringify(Reflect.get(error, 'details') ?? '')} ${shown(error.cause)}`
    : String(error);

describe('a user and a password in an address', () => {
  test.each([
    ['user:secret@', 'user:secret'],
    ['us%40er:p%C3%A4ss%3Aw@', 'us@er:päss:w'],
    ['token@', 'token:'],
    [':alone@', ':alone'],
    ['a%zz:b@', 'a%zz:b'],
  ])('%s is sent as Basic authorization', async (part, expected) => {
    const asked: (string | undefined)[] = [];
    const host = await served(({ headers }, response) => {
      asked.push(headers.authorization);
      response.end('a\n1\n');
    });
    expect(await textAt(`http://${part}${host}/x.csv`)).toBe('a\n1\n');
    expect(asked).toEqual([`Basic ${Buffer.from(expected).toString('base64')}`]);
    expect((await urlSource(`http://${part}${host}/x.csv`)).name).toBe(`http://${host}/x.csv`);
  });

  test('go to another path of the server on a redirect, and to no other server', async () => {
    const asked: (string | undefined)[] = [];
    const other = await served(({ headers }, response) => {
      asked.push(headers.authorization);
      response.end('other');
    });
    const host = await served(({ headers, url }, response) => {
      if (url === '/x.csv') response.writeHead(302, { location: '/own' }).end();
      else if (url === '/y.csv') response.writeHead(307, { location: `http://${other}/` }).end();
      else {
        asked.push(headers.authorization);
        response.end('own');
      }
    });
    expect(await textAt(`http://user:secret@${host}/x.csv`)).toBe('own');
    expect(await textAt(`http://user:secret@${host}/y.csv`)).toBe('other');
    expect(asked).toEqual(['Basic dXNlcjpzZWNyZXQ=', undefined]);
  });

  test.each(['refused', 'gone', 'cut off', 'unreadable', 'unreadable with a slash'])(
    'and the query are not shown where the file is %s',
    async (what) => {
      const host = await served((_, response) => {
        if (what === 'refused') response.writeHead(401).end();
        else {
          response.writeHead(200, { 'content-length': 100 });
          response.write('a');
          setImmediate(() => response.destroy());
        }
      });
      const places: Record<string, string> = {
        gone: '127.0.0.1:1',
        unreadable: 'ho st',
        'unreadable with a slash': 'x/y@ho st',
      };
      const address = `http://user:secret@${places[what] ?? host}/x.csv?token=hidden#hidden`;
      const error = await problemOf(textAt(address));
      expect(error).toMatchObject({ code: 'InvalidInput' });
      expect(shown(error)).not.toMatch(/secret|hidden/);
    },
  );

  test('a query is not shown of an address that cannot be read', () => {
    expect(() => nameOfAddress('http://ho st/x.csv?token=hidden')).toThrow(
      '"http://ho st/x.csv" is no address',
    );
  });
});

describe('ranges of a file at an address', () => {
  const bytes = Buffer.from('0123456789');

  /** A server that compares tags as RFC 9110 demands. */
  async function ranged(headersOf: (request: number) => Record<string, string>) {
    const matches: (string | undefined)[] = [];
    let requests = 0;
    const host = await served(({ headers: { range, 'if-match': match } }, response) => {
      matches.push(match);
      const headers = { 'accept-ranges': 'bytes', ...headersOf(requests++) };
      const [, from, to] = /bytes=(\d+)-(\d+)/.exec(range ?? '') ?? [];
      const isWeak = match?.startsWith('W/') === true;
      if (match !== undefined && (isWeak || match !== (headers as { etag?: string }).etag)) {
        response.writeHead(412, headers).end();
      } else if (from === undefined) {
        response.writeHead(200, { ...headers, 'content-length': bytes.length }).end(bytes);
      } else {
        const extent = { 'content-range': `bytes ${from}-${to}/${bytes.length}` };
        const part = bytes.subarray(Number(from), Number(to) + 1);
        response.writeHead(206, { ...headers, ...extent }).end(part);
      }
    });
    const { remoteRanges } = await urlSource(`http://${host}/x.parquet`);
    const read = async (from: number, to: number): Promise<string> =>
      Buffer.from((await remoteRanges?.read(from, to)) ?? []).toString();
    return { read, matches };
  }

  test('a strong tag is sent with each', async () => {
    const { read, matches } = await ranged(() => ({ etag: '"1"' }));
    expect(await read(2, 5)).toBe('234');
    expect(matches).toEqual([undefined, '"1"']);
  });

  test('a weak tag is not sent, and compared', async () => {
    const { read, matches } = await ranged(() => ({ etag: 'W/"1"' }));
    expect(await read(2, 5)).toBe('234');
    expect(matches).toEqual([undefined, undefined]);
  });

  test('a tag that is weak for the whole file and strong for a range is the same', async () => {
    const { read } = await ranged((request) => ({ etag: request === 0 ? 'W/"1"' : '"1"' }));
    expect(await read(2, 5)).toBe('234');
  });

  test('an answer without marks is taken', async () => {
    const marks = { etag: 'W/"1"', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' };
    const { read } = await ranged((request) => (request === 0 ? marks : ({} as never)));
    expect(await read(2, 5)).toBe('234');
  });

  test.each([
    ['weak tag', { etag: 'W/"1"' }, { etag: 'W/"2"' }, 'a range of another file'],
    ['strong tag', { etag: '"1"' }, { etag: '"2"' }, '412'],
    [
      'time',
      { 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' },
      { 'last-modified': 'Thu, 01 Jan 2026 00:00:01 GMT' },
      'a range of another file',
    ],
  ])('are refused where the %s is another', async (_, before, after, found) => {
    const { read } = await ranged((request) => (request < 2 ? before : after) as never);
    expect(await read(0, 2)).toBe('01');
    expect(await problemOf(read(2, 5))).toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining(`it answered ${found}.`),
    });
  });
});
