/** Long JSON bodies are parsed in steps, to the values and refusals of JSON.parse, which is the oracle. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { systemEnv } from '../../src/env.ts';
import { parseJsonInSteps } from '../../src/json-steps.ts';
import { toRecordBatchStream } from '../../src/sdk/convert/data.ts';
import { casesOf } from '../helpers/long.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { ask, restPair } from '../helpers/rest-pair.ts';
import { type Answers, stubNamespace } from '../helpers/stub-namespace.ts';

function parsed(text: string, piece?: number): { value: unknown; steps: number } {
  const parsing = parseJsonInSteps(text, piece);
  for (let steps = 0; ; steps++) {
    const { done, value } = parsing.next();
    if (done === true) return { value, steps };
  }
}

/** The value as text, so that the order of members and what `__proto__` is are compared too. */
function outcome(parse: () => unknown): string | undefined {
  try {
    return JSON.stringify(parse());
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return undefined;
  }
}

function expectSame(text: string, piece: number): void {
  expect([text, outcome(() => parsed(text, piece).value)]).toEqual([
    text,
    outcome(() => JSON.parse(text)),
  ]);
}

const PIECES = [1, 2, 3, 5, 9, 20, 1000];

describe('a text in pieces', () => {
  test('has the values that it has at once, with blanks anywhere', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 1, 4), (value, blanks) => {
        const text = JSON.stringify(value, undefined, blanks);
        for (const piece of PIECES) expectSame(` ${text}\n\t`, piece);
      }),
      { numRuns: casesOf(120, 300) },
    );
  });

  test('is refused where it is refused at once, whatever is wrong with it', () => {
    const parts = ['[', ']', '{', '}', ',', ':', '"', '\\', '1', '-', 'true', '"a"', '"a":', ' '];
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 3 }),
        fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom('', ...parts)), { maxLength: 3 }),
        (value, changes) => {
          let text = JSON.stringify(value);
          for (const [where, gone, put] of changes) {
            const at = where % (text.length + 1);
            text = text.slice(0, at) + put + text.slice(at + gone);
          }
          for (const piece of PIECES) expectSame(text, piece);
        },
      ),
      { numRuns: casesOf(400, 1000) },
    );
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 12 }), (texts) => {
        for (const piece of PIECES) expectSame(texts.join(''), piece);
      }),
      { numRuns: casesOf(700, 2000) },
    );
  });

  test.each([
    '[]',
    '[ ]',
    `[${' '.repeat(50)}]`,
    `{${' '.repeat(50)}}`,
    `[1${' '.repeat(50)},2]`,
    `{"a"${' '.repeat(50)}:1}`,
    `["a"${' '.repeat(50)}]`,
    '[1,]',
    '[1, ]',
    '[,1]',
    '{"a":1,}',
    '{,}',
    '[1}',
    '{"a":1]',
    '[{],[}]',
    '[1] 2',
    '["\\"]',
    '["\\\\"]',
    '{"a":1,"b":2,"a":3}',
    '{"b":0,"2":[1,2,3,4,5,6,7],"1":0,"b":{"c":[1,2,3,4]}}',
    '{"__proto__":{"x":1},"a":[1,2,3,4,5,6,7,8,9]}',
    '{"a":0,"__proto__":[1,2,3,4,5,6,7,8,9]}',
    '"text"',
    '12345678901234567890',
    '',
    '[',
    '{"a"',
    '{"a":',
  ])('%s', (text) => {
    for (const piece of PIECES) expectSame(text, piece);
  });

  test('is parsed in as many steps as it has pieces', () => {
    const numbers = Array.from({ length: 100_000 }, (_, at) => at / 7);
    const texts = Object.fromEntries(numbers.slice(0, 20_000).map((x) => [`m${x}`, x]));
    const nested = Array.from({ length: 500 }, () => numbers.slice(0, 200));
    for (const value of [numbers, { vector: { multi: numbers } }, texts, nested]) {
      const text = JSON.stringify(value);
      const { value: found, steps } = parsed(text);
      expect(found).toEqual(value);
      expect(steps).toBeGreaterThanOrEqual(text.length / (1 << 14));
    }
  });
});

/** How often the event loop went round while the work was done. */
async function roundsOf(work: () => Promise<unknown>): Promise<number> {
  let rounds = 0;
  let over = false;
  const count = (): void => {
    rounds += 1;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  await work();
  over = true;
  return rounds;
}

describe('a request', () => {
  const json = { 'content-type': 'application/json' };

  async function served() {
    const asked: { row_ids?: unknown; predicate?: unknown }[] = [];
    const answer = async (request: object) => {
      asked.push(request);
      return { count: 1, version: 2, num_deleted_rows: 3 };
    };
    const namespace = stubNamespace({ countTableRows: answer, deleteRows: answer } as Answers);
    const pair = await restPair({ namespace }, { wire: 'inject' });
    const post = (path: string, body: string) => ask(pair, 'POST', path, body, json);
    return { asked, post };
  }

  test('with a long body reaches its operation as it was sent, or is refused', async () => {
    const { asked, post } = await served();
    const predicate = `x IN (${Array.from({ length: 20_000 }, (_, at) => at).join()})`;
    const body = JSON.stringify({ predicate });
    const path = '/v1/table/t/count_rows';
    expect((await post(path, body)).status).toBe(200);
    expect(asked).toEqual([expect.objectContaining({ predicate })]);
    const broken = await post(path, `${body.slice(0, -1)},}`);
    expect(broken).toMatchObject({ status: 400, json: { error: 'The body is not valid JSON.' } });
  });

  test('with long lists is parsed, and its row ids made, in turns', async () => {
    let now = 0;
    const clock = vi.spyOn(systemEnv, 'now').mockImplementation(() => (now += 10));
    const { asked, post } = await served();
    const send = async (count: number): Promise<number> => {
      const row_ids = Array.from({ length: count }, (_, at) => (at % 2 === 0 ? at : `${at}`));
      const text = JSON.stringify({ row_ids });
      return roundsOf(async () => {
        expect((await post('/v1/dirspace/table/t/delete_rows', text)).status).toBe(200);
      });
    };
    const few = await send(10);
    const rounds = await send(60_000);
    clock.mockRestore();
    expect(asked[1]?.row_ids).toEqual(Array.from({ length: 60_000 }, (_, at) => BigInt(at)));
    // Over 400 KB of JSON, and eight parts of row ids.
    expect(rounds).toBeGreaterThanOrEqual(few + 20);
  });

  test.each([
    ['-1', true],
    ['"x"', false],
    ['1.5', false],
    ['null', false],
  ])(
    'with a long list that has %s in it is judged as one with a short list',
    async (item, right) => {
      const namespace = await openDirectoryNamespace({ root: '/r', fs: memoryFs() });
      const rows = [{ id: 1 }];
      await namespace.createTable({ id: ['t'] }, await toRecordBatchStream(rows));
      const pair = await restPair({ namespace }, { wire: 'inject' });
      const answers: unknown[] = [];
      for (const count of [9, 10_000]) {
        const text = `{"row_ids":[7${',7'.repeat(count - 1)},${item}]}`;
        const answer = await ask(pair, 'POST', '/v1/dirspace/table/t/delete_rows', text, json);
        expect(answer.status).toBe(right ? 200 : 400);
        answers.push(
          right ? answer.json.num_deleted_rows : answer.json.error.replace(`[${count}]`, '[n]'),
        );
      }
      expect(answers[1]).toBe(answers[0]);
    },
  );
});
