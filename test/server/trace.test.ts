/** W3C Trace Context: taken where it is well formed, told in the log, handed on with a new parent. */
import { describe, expect, test } from 'vitest';
import { traceOf } from '../../src/server/settings/trace-context.ts';
import { ask, restPair } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const UUID = '12345678-0000-4000-8000-00009abcdef0';
const SPAN = '123456789abcdef0';

const trace = (traceparent: string, tracestate?: string) =>
  traceOf({ traceparent, ...(tracestate === undefined ? {} : { tracestate }) }, () => UUID);

describe('traceparent', () => {
  test.each([
    [`00-${TRACE}-${PARENT}-01`, '01'],
    [`00-${TRACE}-${PARENT}-00`, '00'],
    [`00-${TRACE}-${PARENT}-03`, '03'],
    // Flags that are not known are not sent on.
    [`00-${TRACE}-${PARENT}-ff`, '03'],
    // Of a later version: as this one, with more at its end.
    [`cc-${TRACE}-${PARENT}-01`, '01'],
    [`cc-${TRACE}-${PARENT}-01-more`, '01'],
  ])('%s is taken', (given, flags) => {
    expect(trace(given)).toEqual({
      traceId: TRACE,
      spanId: SPAN,
      context: { traceparent: `00-${TRACE}-${SPAN}-${flags}` },
    });
  });

  test.each([
    '',
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01-more`,
    `cc-${TRACE}-${PARENT}-01more`,
    `00-${TRACE}-${PARENT}`,
    `00-${TRACE}-${PARENT}-1`,
    `0-${TRACE}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${TRACE.slice(1)}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}g-01`,
    `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
    ` 00-${TRACE}-${PARENT}-01\n`,
  ])('%j is as none', (given) => {
    expect(trace(given, 'a=1')).toBeUndefined();
  });

  test('a parent is never zero', () => {
    const zero = traceOf({ traceparent: `00-${TRACE}-${PARENT}-01` }, () =>
      UUID.replace(/\w/g, '0'),
    );
    expect(zero?.spanId).toBe('0000000000000001');
  });
});

describe('tracestate', () => {
  const state = (given: string): string | undefined =>
    trace(`00-${TRACE}-${PARENT}-01`, given)?.context.tracestate;
  const many = (count: number): string =>
    Array.from({ length: count }, (_, at) => `k${at}=v`).join(',');

  test.each([
    ['a=1', 'a=1'],
    ['rojo=00f067aa0ba902b7, congo=t61rcWkgMzE', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'],
    ['a=1,,\t b=2 ,', 'a=1,b=2'],
    ['t@s=x y', 't@s=x y'],
    [many(32), many(32)],
    [`${'k'.repeat(256)}=${'v'.repeat(256)}`, `${'k'.repeat(256)}=${'v'.repeat(256)}`],
  ])('%j goes on', (given, sent) => {
    expect(state(given)).toBe(sent);
  });

  test.each([
    '',
    ' , ',
    'a',
    'a=',
    'A=1',
    '=1',
    'a=1=2',
    'a=1,a=2',
    'a=ü',
    'a=1\n',
    many(33),
    `${'k'.repeat(257)}=v`,
    `k=${'v'.repeat(257)}`,
  ])('%j is left out, and the trace goes on', (given) => {
    expect(trace(`00-${TRACE}-${PARENT}-01`, given)?.traceId).toBe(TRACE);
    expect(state(given)).toBeUndefined();
  });

  test('blanks inside of a member take time in proportion', () => {
    expect(state(`a=1${' '.repeat(100_000)}2`)).toBeUndefined();
    expect(state(`${' '.repeat(100_000)}a=1${'\t'.repeat(100_000)}`)).toBe('a=1');
  });
});

describe.each(['inject', 'socket'] as const)('a server before another one: %s', (wire) => {
  async function chain(headers: Readonly<Record<string, string>> = {}) {
    const lines: Readonly<Record<string, unknown>>[] = [];
    const behind: (readonly [unknown, unknown])[] = [];
    const back = await restPair(
      {
        namespace: stubNamespace({
          describeTable: (_: unknown, { traceContext }: { traceContext?: unknown }) => {
            behind.push(['context', traceContext]);
            return { location: '/x' };
          },
          deleteFromTable: (_: unknown, { traceContext }: { traceContext?: unknown }) => {
            behind.push(['context', traceContext]);
            return { version: 1 };
          },
        }),
        logger: { info: (fields) => void behind.push([fields.traceId, fields.spanId]) },
      },
      { wire, headers },
    );
    const front = await restPair(
      { namespace: back.client, logger: { info: (fields) => void lines.push(fields) } },
      { wire },
    );
    const describe = (sent: Record<string, string>) =>
      ask(front, 'POST', '/v1/table/t/describe', { branch: 'b' }, sent);
    return { front, describe, lines, behind };
  }

  test('both are parts of one trace, each with a parent of its own', async () => {
    const { describe, lines, behind } = await chain({ tracestate: 'of=connection' });
    const sent = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'a=1,b=2' };
    expect((await describe(sent)).status).toBe(200);
    const [{ traceId, spanId } = {}] = lines;
    expect(traceId).toBe(TRACE);
    expect(spanId).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
    expect(spanId).not.toBe(PARENT);
    const spans = behind.filter(([kind]) => kind !== 'context');
    expect(spans.length).toBeGreaterThan(0);
    for (const [id, span] of spans) {
      expect(id).toBe(TRACE);
      expect(span).not.toBe(spanId);
    }
    for (const [, context] of behind.filter(([kind]) => kind === 'context')) {
      expect(context).toMatchObject({
        traceparent: expect.stringMatching(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`)),
        tracestate: 'a=1,b=2',
      });
    }
    expect((await describe({ traceparent: `00-${TRACE}-${PARENT}-00` })).status).toBe(200);
    const last = behind.filter(([kind]) => kind === 'context').at(-1)?.[1];
    // Neither the state of the connection, which is that of another trace, nor of the last request.
    expect(last).toEqual({ traceparent: expect.stringMatching(/-00$/) });
    expect(lines.map((line) => line.spanId)).not.toContain(PARENT);
    expect(new Set(lines.map((line) => line.spanId)).size).toBe(2);
  });

  test('the question whether a branch is honoured is a part of it', async () => {
    const { front, behind } = await chain();
    const sent = { traceparent: `00-${TRACE}-${PARENT}-01` };
    const body = { predicate: 'true', branch: 'b' };
    expect((await ask(front, 'POST', '/v1/table/t/delete', body, sent)).status).toBe(200);
    const contexts = behind.filter(([kind]) => kind === 'context').map(([, value]) => value);
    const traceparent = expect.stringContaining(TRACE);
    expect(contexts).toEqual([{ traceparent }, { traceparent }]);
  });

  test('none, and a malformed one, begin no trace', async () => {
    const { describe, lines, behind } = await chain();
    for (const sent of [{}, { traceparent: 'nonsense', tracestate: 'a=1' }]) {
      expect((await describe(sent as Record<string, string>)).status).toBe(200);
    }
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line).not.toHaveProperty('traceId');
      expect(line).not.toHaveProperty('spanId');
    }
    expect(behind.every(([kind, value]) => kind === 'context' || value === undefined)).toBe(true);
    expect(behind.filter(([kind]) => kind === 'context').map(([, value]) => value)).toEqual(
      behind.filter(([kind]) => kind === 'context').map(() => undefined),
    );
  });
});
