/** Long columns go through WebAssembly: what comes out is what short ones and BigInt give. */
import { describe, expect, it } from 'vitest';
import {
  type DataType,
  Field,
  Float32,
  Float64,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import { numberKernels } from '../../src/sql/evaluate/number-kernels.ts';
import { compileExpression, compilePredicate } from '../../src/sql/expression.ts';
import { seededChoices } from '../helpers/random-expression.ts';
import { expectSame } from '../helpers/same.ts';

const LEAST = -(2n ** 63n);
const GREATEST = 2n ** 63n - 1n;
const DOUBLES = [0, -0, 1, -1.5, 0.1, 2 ** 53, -(2 ** 60), 1e308, -1e308, 5e-324, Number.NaN];
const SPECIAL = [...DOUBLES, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
const WIDE = [0n, 1n, -1n, 7n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n, -(2n ** 32n), 2n ** 53n + 1n];
const EXTREMES = [...WIDE, LEAST, LEAST + 1n, GREATEST, GREATEST - 1n, 2n ** 62n, -(2n ** 62n)];

/** Whole blocks, one row more, and less than a pair more. */
const LENGTHS = [1_024, 1_025, 8_192, 8_193, 20_001];

/** Compared as bytes: matchers take seconds for arrays of some thousand values. */
const isSame = (found: Uint8Array | null | undefined, expected: Uint8Array): boolean =>
  found !== null && found !== undefined && Buffer.compare(found, expected) === 0;

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

describe('the kernels', () => {
  const kernels = numberKernels(1_024);

  it('are there, and not for few rows', () => {
    expect(kernels).not.toBeNull();
    expect(numberKernels(1_023)).toBeNull();
  });

  it.each(LENGTHS)('compute doubles as JavaScript does: %i rows', (length) => {
    const { pick } = seededChoices(length);
    const a = Float64Array.from({ length }, () => pick(SPECIAL));
    const b = Float64Array.from({ length }, () => pick(SPECIAL));
    const run = { '+': (x: number, y: number) => x + y, '-': (x: number, y: number) => x - y };
    const more = { '*': (x: number, y: number) => x * y, '/': (x: number, y: number) => x / y };
    for (const [op, compute] of Object.entries({ ...run, ...more })) {
      const of = (x: Float64Array | number, y: Float64Array | number) =>
        kernels?.doubles(op as '+', x, y, length);
      expectSame(
        of(a, b),
        a.map((x, i) => compute(x, b[i] as number)),
      );
      expectSame(
        of(a, 0.1),
        a.map((x) => compute(x, 0.1)),
      );
      expectSame(
        of(-3, b),
        b.map((y) => compute(-3, y)),
      );
    }
    expect(kernels?.doubles('%', a, b, length)).toBeNull();
    const small = Float32Array.from(a);
    expectSame(
      kernels?.doubles('+', small, 1, length),
      Float64Array.from(small, (x) => x + 1),
    );
  });

  it.each(LENGTHS)('compute integers exactly, or not at all: %i rows', (length) => {
    const compute: Record<string, (x: bigint, y: bigint) => bigint> = {
      '+': (x, y) => x + y,
      '-': (x, y) => x - y,
      '*': (x, y) => x * y,
      '/': (x, y) => x / y,
      '%': (x, y) => x % y,
    };
    const { pick, int } = seededChoices(length);
    for (const [op, of] of Object.entries(compute)) {
      const a = BigInt64Array.from({ length }, () => BigInt(int(2 ** 40) - 2 ** 39));
      const b = BigInt64Array.from({ length }, () => BigInt(int(2 ** 20) - 2 ** 21));
      const expected = a.map((x, i) => of(x, b[i] as bigint));
      expectSame(kernels?.integers(op as '+', a, b, length), expected, () => op);
      expectSame(
        kernels?.integers(op as '+', a, 7n, length),
        a.map((x) => of(x, 7n)),
      );
      expectSame(
        kernels?.integers(op as '+', -7n, b, length),
        b.map((y) => of(-7n, y)),
      );
      // One extreme pair, anywhere: exact, or left to the loops that know what to say.
      for (let n = 0; n < 60; n++) {
        const [x, y, at] = [pick(EXTREMES), pick(EXTREMES), n % 2 === 0 ? length - 1 : int(length)];
        const [c, d] = [a.slice(), b.slice()];
        c[at] = x;
        d[at] = y;
        const found = kernels?.integers(op as '+', c, d, length) ?? null;
        if (found !== null) expect(found[at], `${x} ${op} ${y}`).toBe(of(x, y));
        const divides = op === '/' || op === '%';
        if (divides && y === 0n) expect(found, `${x} ${op} ${y}`).toBeNull();
        else if (BigInt.asIntN(64, of(x, y)) !== of(x, y)) expect(found).toBeNull();
        else if (op !== '*' && op !== '/') expect(found, `${x} ${op} ${y}`).not.toBeNull();
      }
    }
  });

  it('take nothing behind the last row for one', () => {
    const large = new BigInt64Array(8_192).fill(GREATEST);
    expect(kernels?.integers('+', large, large, 8_192)).toBeNull();
    const few = new BigInt64Array(1_025).fill(5n);
    expect(kernels?.integers('+', few, few, 1_025)).toEqual(few.map((value) => value * 2n));
  });

  it.each(LENGTHS)('compare, NaN being the greatest: %i rows', (length) => {
    const { pick } = seededChoices(length);
    const order = (x: number, y: number): number =>
      x === y ? 0 : Number.isNaN(x) ? 1 : x < y ? -1 : 1;
    const holds: Record<string, (order: number) => boolean> = {
      '=': (o) => o === 0,
      '<>': (o) => o !== 0,
      '<': (o) => o < 0,
      '<=': (o) => o <= 0,
      '>': (o) => o > 0,
      '>=': (o) => o >= 0,
    };
    const a = Float64Array.from({ length }, () => pick(SPECIAL));
    const w = BigInt64Array.from({ length }, () => pick(EXTREMES));
    for (const [op, of] of Object.entries(holds)) {
      for (const c of SPECIAL.filter((c) => !Number.isNaN(c))) {
        const expected = Uint8Array.from(a, (x) => (of(order(x, c)) ? 2 : 0));
        expect(isSame(kernels?.compareNumbers(op as '=', a, c), expected), `${op} ${c}`).toBe(true);
      }
      for (const c of EXTREMES) {
        const expected = Uint8Array.from({ length }, (_, i) =>
          of(w[i] === c ? 0 : (w[i] as bigint) < c ? -1 : 1) ? 2 : 0,
        );
        expect(isSame(kernels?.compareIntegers(op as '=', w, c), expected), `${op} ${c}`).toBe(
          true,
        );
      }
    }
  });

  it.each([...LENGTHS, 65_536, 65_537, 140_000])('join, count, find truth: %i rows', (length) => {
    const { int } = seededChoices(length);
    const a = Uint8Array.from({ length }, () => int(3));
    const b = Uint8Array.from({ length }, () => int(3));
    for (const isAnd of [true, false]) {
      const out = a.slice();
      kernels?.join(isAnd, out, b);
      const expected = a.map((x, i) => Math[isAnd ? 'min' : 'max'](x, b[i] as number));
      expect(Buffer.compare(out, expected)).toBe(0);
    }
    for (const wanted of [0, 1, 2]) {
      expect(kernels?.count(a, wanted)).toBe(a.filter((x) => x === wanted).length);
    }
    const rows = Uint32Array.from(a.keys()).filter((row) => a[row] === 2);
    const found = kernels?.trueRows(a, rows.length);
    expect(isSame(found && bytesOf(found), bytesOf(rows))).toBe(true);
  });
});

describe('an expression over many rows gives what it gives over few', () => {
  const random = seededChoices(42);
  const rows = 3_001;
  const maybe = <T>(value: () => T): T | null => (random.next() < 0.2 ? null : value());
  const columns: Record<string, [DataType, () => unknown]> = {
    x: [new Float64(), () => random.pick([...SPECIAL, random.next()])],
    f: [new Float32(), () => random.pick([0, 0.5, -1.5, Number.NaN])],
    i: [new Int32(), () => random.int(100) - 50],
    id: [new Int64(), () => BigInt(random.int(2 ** 40))],
    w: [new Int64(), () => random.pick(WIDE)],
    g: [new Int64(), () => BigInt(random.int(1_000))],
  };
  const types = Object.entries(columns).map(([name, [type]]) => new Field(name, type, true));
  const schema = new Schema(types);
  const values = Object.entries(columns).map(([name, [, make]]) =>
    Array.from({ length: rows }, () => (name === 'g' ? make() : maybe(make))),
  );
  const batch = (from: number, to: number): RecordBatch => {
    const children = values.map(
      (column, at) =>
        vectorFromArray(column.slice(from, to) as never[], (types[at] as Field).type).data[0],
    );
    const type = new Struct(schema.fields);
    return new RecordBatch(
      schema,
      makeData({ type, length: to - from, nullCount: 0, children: children as never[] }),
    );
  };
  const whole = batch(0, rows);
  const pieces = Array.from({ length: Math.ceil(rows / 500) }, (_, n) =>
    batch(n * 500, Math.min(rows, n * 500 + 500)),
  );

  it.each([
    ...['x * 2 > 0.99 AND id % 7 = 0', 'x + x <= 1', '2 / x >= x', 'x - 0.5 < x', 'x = 0.5'],
    ...['f * 2 = 1', 'i + 0.5 > 3', 'i * 2 % 7 = 1', 'id + w > 7', 'id - w <> 3', '-id < 100'],
    ...['id * 3 >= w OR x > 0', 'g / 7 = 3 AND g % 7 <= 2', 'id / -3 < w', '1000 % g > 3'],
    ...['x <> 1.5 OR id % 2 = 1 OR w = 7', 'NOT (x > 0 AND w > 0)', 'g > 100 AND 7 / g = 0'],
    ...['w = 9007199254740993', 'w > 1.5', 'x > 9007199254740993', 'w * w > 5 OR g = 1'],
    ...['(x > 0 AND id > 5) IS UNKNOWN', 'i < 3 AND (w + g) * 2 > g'],
  ])('%s', async (sql) => {
    const run = async (work: (batch: RecordBatch) => unknown[]): Promise<unknown> => {
      try {
        return work(whole);
      } catch (error) {
        return (error as Error).message;
      }
    };
    const compiled = await compilePredicate(sql, schema);
    const few = pieces.flatMap((piece, n): (number | string)[] => {
      try {
        return [...compiled.select(piece)].map((row) => row + n * 500);
      } catch (error) {
        return [(error as Error).message];
      }
    });
    const failed = few.find((row) => typeof row === 'string');
    const found = await run((all) => [...compiled.select(all)]);
    if (failed !== undefined) expect(found).toBe(failed);
    else {
      expect(found).toEqual(few);
      expect(compiled.count(whole)).toBe(few.length);
    }
  });

  it.each(['x * 2', 'id % 7', 'id + g', 'w - 1', 'g * g', 'i * 0.5', 'g / 3'])(
    '%s',
    async (sql) => {
      const compiled = await compileExpression(sql, schema);
      const few = pieces.flatMap((piece) => [...compiled.evaluate(piece)]);
      expect([...compiled.evaluate(whole)]).toEqual(few);
    },
  );
});
