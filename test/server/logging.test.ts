/** What is logged of a request: one line with plain members, at a level that fits its end. */
import { describe, expect, test, vi } from 'vitest';
import { DirspaceError, type ErrorCode } from '../../src/errors.ts';
import { type Logger, type LogLevel, RequestLog } from '../../src/server/settings/logging.ts';
import { ask, restPair } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';

interface Line {
  readonly level: LogLevel;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

function collecting(levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']) {
  const lines: Line[] = [];
  const logger: Logger = {};
  for (const level of levels) {
    logger[level] = (fields, message) =>
      void lines.push({ level, fields: { ...(fields as object) }, message });
  }
  return { lines, logger };
}

const failing = (code: ErrorCode) =>
  stubNamespace({
    describeTable: () => {
      throw new DirspaceError(code, 'It is so.');
    },
  });

describe('a request', () => {
  test('that was answered: who asked what, how it ended, and how long it took', async () => {
    const { lines, logger } = collecting();
    const grants = [{ namespace: [], permission: 'admin' as const }];
    const pair = await restPair({
      databases: { one: stubNamespace({ describeTable: () => ({ location: 'x' }) }) },
      auth: { apiKeys: [{ key: 'secret', name: 'ann', grants }] },
      logger,
    });
    const headers = {
      'x-api-key': 'secret',
      'x-request-id': 'r-9',
      'x-service-database': 'one',
    };
    const path = '/v1/table/a$b/describe';
    expect((await ask(pair, 'POST', `${path}?with_table_uri=true`, {}, headers)).status).toBe(200);
    expect(lines).toEqual([
      {
        level: 'info',
        message: 'request',
        fields: {
          time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          requestId: 'r-9',
          method: 'POST',
          path,
          operation: 'DescribeTable',
          status: 200,
          millis: expect.any(Number),
          principal: 'key:ann',
          database: 'one',
        },
      },
    ]);
  });

  test.each<[ErrorCode, LogLevel, number]>([
    ['TableNotFound', 'info', 404],
    ['InvalidInput', 'info', 400],
    ['ServiceUnavailable', 'warn', 503],
    ['Internal', 'error', 500],
  ])('that failed with %s is a line of level %s', async (code, level, status) => {
    const { lines, logger } = collecting();
    const pair = await restPair({ namespace: failing(code), logger });
    await ask(pair, 'POST', '/v1/table/t/describe', {});
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ level, fields: { status, operation: 'DescribeTable' } });
    expect(lines[0]?.fields).toHaveProperty(level === 'error' ? 'failure' : 'code');
  });

  test('that publishes a version and is refused says why, as clients of Lance do not', async () => {
    const { lines, logger } = collecting();
    const refused = (): never => {
      throw new DirspaceError('Unsupported', 'It is so.');
    };
    const namespace = stubNamespace({ createTableVersion: refused, describeTable: refused });
    const pair = await restPair({ namespace, logger });
    const version = { version: 2, manifest_path: 'm' };
    await ask(pair, 'POST', '/v1/table/t/version/create', version);
    await ask(pair, 'POST', '/v1/table/t/describe', {});
    const told = lines.map(({ fields: { operation, code, reason } }) => [operation, code, reason]);
    expect(told).toEqual([
      ['CreateTableVersion', 'Unsupported', 'It is so.'],
      ['DescribeTable', 'Unsupported', undefined],
    ]);
  });

  test('that came over a socket names its peer', async () => {
    const { lines, logger } = collecting();
    const pair = await restPair(
      { namespace: failing('TableNotFound'), logger },
      { wire: 'socket' },
    );
    await ask(pair, 'POST', '/v1/table/t/describe', {});
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    expect(lines[0]?.fields).toMatchObject({ peer: '127.0.0.1', status: 404 });
  });

  test('is answered though its line cannot be written', async () => {
    const logger = {
      info: () => {
        throw new Error('disk full');
      },
    };
    const pair = await restPair({ namespace: failing('TableNotFound'), logger });
    expect((await ask(pair, 'POST', '/v1/table/t/describe', {})).status).toBe(404);
  });

  test('is not logged where its level is not taken', async () => {
    const { lines, logger } = collecting(['warn', 'error']);
    const pair = await restPair({ namespace: failing('TableNotFound'), logger });
    await ask(pair, 'POST', '/v1/table/t/describe', {});
    expect(lines).toEqual([]);
  });
});

test('a secret that is a part of another leaves nothing of that in a line', () => {
  const { lines, logger } = collecting();
  const log = new RequestLog(logger);
  log.hide('abcd', 'abcdefgh');
  log.hide('abcdefgh', 'abcd-and-more');
  log.write('info', { path: '/abcdefgh/abcd' }, 'abcd-and-more');
  const path = '/[redacted]/[redacted]';
  expect(lines).toEqual([{ level: 'info', fields: { path }, message: '[redacted]' }]);
});
