/** The REST error body: the rows of the error table, there and back, and bodies of other servers. */
import { describe, expect, it } from 'vitest';
import { DirspaceError, ERROR_KINDS, type ErrorCode } from '../../src/errors.ts';
import {
  ERROR_STATUSES,
  type ErrorBody,
  formatErrorBody,
  parseErrorBody,
} from '../../src/protocol/error-body.ts';
import { normalize } from '../../src/protocol/normalize.ts';

const KINDS = Object.keys(ERROR_KINDS) as ErrorCode[];
const instance = '/v1/table/a%24t/describe';

describe('the body', () => {
  it.each<[ErrorCode, number, string, string]>([
    ['InvalidInput', 400, '/errors/bad-request', 'Malformed request'],
    [
      'Unauthenticated',
      401,
      '/errors/unauthorized-request',
      'No valid authentication credentials for the operation',
    ],
    ['PermissionDenied', 403, '/errors/forbidden-request', 'Not authorized to make this request'],
    ['TableNotFound', 404, '/errors/not-found-error', 'Not found Error'],
    ['Internal', 500, '/errors/server-error', 'Internal Server Error'],
    ['ServiceUnavailable', 503, '/errors/service-unavailable', 'Slow down'],
  ])('of %s has status %i, type %s and title %s', (code, status, type, title) => {
    expect(formatErrorBody(new DirspaceError(code, 'why'), { instance })).toMatchObject({
      status,
      type,
      title,
      instance,
    });
  });

  it('tells the beginning of a name that is too long to read', () => {
    const message = `There is no column ${'n'.repeat(100_000)}; give another.`;
    const { detail, error } = formatErrorBody(new DirspaceError('InvalidInput', message), {
      instance,
    });
    const told = `There is no column ${'n'.repeat(200)}... (100,001 characters) give another.`;
    expect([detail, error]).toEqual([told, told]);
    const words = 'as long as it is '.repeat(200);
    expect(formatErrorBody(new DirspaceError('InvalidInput', words), { instance }).detail).toBe(
      words,
    );
  });

  it.each<[ErrorCode, string]>([
    ['Unsupported', '/errors/unsupported-operation'],
    ['TableAlreadyExists', '/errors/conflict'],
    ['PayloadTooLarge', '/errors/payload-too-large'],
    ['UnsupportedMediaType', '/errors/unsupported-media-type'],
  ])('of %s has the type %s', (code, type) => {
    expect(formatErrorBody(new DirspaceError(code, 'why'), { instance }).type).toBe(type);
  });

  it('says the message twice, for people and for protocol clients, with the code beside it', () => {
    const error = new DirspaceError('TableAlreadyExists', 'The table a.t already exists.');
    expect(formatErrorBody(error, { instance })).toEqual({
      type: '/errors/conflict',
      title: 'Conflict',
      status: 409,
      detail: 'The table a.t already exists.',
      instance,
      error: 'The table a.t already exists.',
      code: 5,
    });
  });

  it('can have another status than the kind has', () => {
    const error = new DirspaceError('Throttling', 'slow');
    expect(formatErrorBody(error, { instance, status: 429 })).toMatchObject({
      status: 429,
      type: '/errors/too-many-requests',
      code: 21,
    });
  });

  it.each([
    new Error('secret /srv/data'),
    new DirspaceError('Internal', 'secret /srv/data'),
    'secret',
    undefined,
  ])('is opaque for an unknown failure', (error) => {
    const body = formatErrorBody(error, { instance, requestId: 'r-1' });
    expect(body).toMatchObject({ status: 500, code: 18, type: '/errors/server-error' });
    expect(JSON.stringify(body)).not.toContain('secret');
    expect(body.detail).toContain('r-1');
  });

  it.each(KINDS)('of %s fits its model and its status has a row', (code) => {
    const body: ErrorBody = formatErrorBody(new DirspaceError(code, 'why'), { instance });
    expect(normalize('ErrorResponse', body)).toMatchObject({ code: ERROR_KINDS[code].number });
    expect(Object.keys(ERROR_STATUSES)).toContain(String(ERROR_KINDS[code].status));
  });
});

describe('an error', () => {
  it.each(KINDS)('of kind %s comes back from its body', (code) => {
    const sent = new DirspaceError(code, 'why it failed');
    const body = formatErrorBody(sent, { instance });
    const error = parseErrorBody(body.status, JSON.stringify(body), 'DescribeTable');
    expect(error.code).toBe(code);
    expect(error.retryable).toBe(sent.retryable);
    if (code !== 'Internal') expect(error.message).toBe('why it failed');
    expect(error.details).toEqual({ operation: 'DescribeTable', status: body.status, instance });
  });

  it('follows the code, whatever the status', () => {
    const error = parseErrorBody(418, '{"error":"gone","code":4}', 'DescribeTable');
    expect(error).toMatchObject({ code: 'TableNotFound', message: 'gone', status: 404 });
  });

  it('follows the type where there is no code, or none it knows', () => {
    const body = { type: '/errors/not-found-error', detail: 'no such thing' };
    const problem = JSON.stringify({ ...body, type: `https://example.org${body.type}` });
    expect(parseErrorBody(400, JSON.stringify(body), 'DropNamespace')).toMatchObject({
      code: 'NamespaceNotFound',
      message: 'no such thing',
    });
    expect(parseErrorBody(400, problem, 'DropTable').code).toBe('TableNotFound');
    expect(parseErrorBody(400, JSON.stringify({ ...body, code: 99 }), 'DropTable').code).toBe(
      'TableNotFound',
    );
  });

  it.each([
    [
      501,
      '<!DOCTYPE HTML>\n<html lang="en"><head><meta charset="utf-8">\n<title>Error\n response</title></head><body><h1>no</h1></body></html>',
      'DropTable was answered with status 501 and an HTML page titled "Error response"',
    ],
    [
      404,
      '\n<HTML><body><h1 class="x">Not Found</h1><p>nginx</p></body></HTML>',
      'DropTable was answered with status 404 and an HTML page titled "Not Found"',
    ],
    [502, '<html></html>', 'DropTable was answered with status 502 and an HTML page'],
    [
      502,
      `<html><title>${'x'.repeat(9000)}`,
      `DropTable was answered with status 502 and an HTML page titled "${'x'.repeat(100)}"`,
    ],
    [400, '<b>no page</b>', 'DropTable was answered with status 400: <b>no page</b>'],
  ])('names the title of a page for people: %i %s', (status, body, message) => {
    expect(parseErrorBody(status, body, 'DropTable').message).toBe(message);
  });

  it('does not let a body pick a kind that its code is not of', () => {
    const body = { code: 13, context: { 'dirspace.kind': 'Corrupt' } };
    expect(parseErrorBody(400, JSON.stringify(body), 'DropTable').code).toBe('InvalidInput');
    const odd = { code: 13, context: { 'dirspace.kind': 'toString' } };
    expect(parseErrorBody(400, JSON.stringify(odd), 'DropTable').code).toBe('InvalidInput');
  });

  it.each<[number, ErrorCode]>([
    [400, 'InvalidInput'],
    [401, 'Unauthenticated'],
    [403, 'PermissionDenied'],
    [404, 'TableNotFound'],
    [405, 'Unsupported'],
    [406, 'Unsupported'],
    [408, 'ServiceUnavailable'],
    [409, 'ConcurrentModification'],
    [413, 'PayloadTooLarge'],
    [415, 'UnsupportedMediaType'],
    [422, 'InvalidInput'],
    [429, 'Throttling'],
    [500, 'Internal'],
    [501, 'Unsupported'],
    [502, 'Internal'],
    [503, 'ServiceUnavailable'],
  ])('of status %i alone is %s', (status, code) => {
    for (const body of ['', '<html>oops</html>', 'null', '[1]', '"text"', '{}', '{"code":"4"}']) {
      const error = parseErrorBody(status, body, 'UpdateTable');
      expect(error.code).toBe(code);
      expect(error.message).toContain(`UpdateTable was answered with status ${status}`);
    }
  });

  it('of a conflict is what the operation makes of it', () => {
    expect(parseErrorBody(409, '', 'CreateTable').code).toBe('TableAlreadyExists');
    expect(parseErrorBody(409, '', 'CreateNamespace').code).toBe('NamespaceAlreadyExists');
    expect(parseErrorBody(409, '', 'CreateTableTag').code).toBe('TableTagAlreadyExists');
  });

  it('has a message of bounded length', () => {
    const long = 'x'.repeat(1_000_000);
    expect(parseErrorBody(500, long, 'DropTable').message.length).toBeLessThan(400);
    const json = JSON.stringify({ code: 13, error: long });
    expect(parseErrorBody(400, json, 'DropTable').message.length).toBeLessThan(2100);
  });
});
