/** Bounds of JSON that is still arriving, against the parsed values of random documents. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  JsonBounds,
  MAX_JSON_DEPTH,
  MAX_JSON_PARTS,
  MAX_JSON_VALUES,
} from '../../src/server/http/json-bounds.ts';
import { casesOf } from '../helpers/long.ts';
import { ask, restPair, type Wire } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function refusal(text: string, size = text.length): string | undefined {
  const bounds = new JsonBounds();
  const whole = bytes(text);
  try {
    for (let at = 0; at < whole.length; at += size) bounds.take(whole.subarray(at, at + size));
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
}

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const list = (count: number, item: string): string => `[${Array(count).fill(item).join(',')}]`;

describe('a text', () => {
  test.each([
    ['levels', nested(MAX_JSON_DEPTH), nested(MAX_JSON_DEPTH + 1)],
    ['levels', '{"a":'.repeat(64), `${'{"a":'.repeat(64)}[`],
    ['values', list(MAX_JSON_VALUES, '1'), list(MAX_JSON_VALUES + 1, '1')],
    ['texts', list(MAX_JSON_PARTS - 1, '""'), list(MAX_JSON_PARTS, '""')],
    ['objects', list(MAX_JSON_PARTS - 1, '{}'), list(MAX_JSON_PARTS, '{}')],
    ['lists', list(MAX_JSON_PARTS - 1, '[]'), list(MAX_JSON_PARTS, '[]')],
    ['names', `{${'"a":1,'.repeat(MAX_JSON_PARTS - 1)}`, `{${'"a":1,'.repeat(MAX_JSON_PARTS)}`],
  ])('has no more %s than the bound', (what, most, more) => {
    for (const size of [1, 7, 65_536]) {
      expect(refusal(most, size)).toBeUndefined();
      expect(refusal(more, size)).toContain(what);
    }
  });

  test('may hold brackets, commas and quotes in texts, cut anywhere', () => {
    const text = JSON.stringify('[{,"\\'.repeat(100_000));
    for (const size of [1, 2, 3, 1000]) expect(refusal(text, size)).toBeUndefined();
    expect(refusal(`["\\\\",${nested(64)}]`)).toContain('levels');
    expect(refusal(`["\\"",${nested(63)}]`)).toBeUndefined();
  });

  test('of random values is refused only where its values are beyond the bounds', () => {
    const depthOf = (value: unknown): number =>
      typeof value !== 'object' || value === null
        ? 0
        : 1 + Math.max(0, ...Object.values(value).map(depthOf));
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 6 }),
        fc.nat({ max: 64 }),
        fc.integer({ min: 1, max: 20 }),
        (value, around, size) => {
          const text = '['.repeat(around) + JSON.stringify(value) + ']'.repeat(around);
          const beyond = depthOf(value) + around > MAX_JSON_DEPTH;
          expect(refusal(text, size) !== undefined).toBe(beyond);
        },
      ),
      { numRuns: casesOf(200, 500) },
    );
  });
});

describe('a request', () => {
  test.each(['inject', 'socket'] as const satisfies readonly Wire[])(
    'whose body is nested too deeply or has too many parts is a 400: %s',
    async (wire) => {
      const pair = await restPair({ namespace: stubNamespace() }, { wire });
      const headers = { 'content-type': 'application/json' };
      for (const body of ['['.repeat(8_000_000), list(200_000, '{}'), list(2_000_000, '1')]) {
        const answer = await ask(pair, 'POST', '/v1/table/t/describe', body, headers);
        expect(answer).toMatchObject({ status: 400, json: { code: 13 } });
        expect(answer.json.error).toContain('The JSON body has more than');
      }
    },
  );
});
