/** Records of CSV are the same wherever the bytes are cut, and their lines are counted. */
import { expect, test } from 'vitest';
import { type CsvDialect, CsvScanner, startOf } from '../../../src/interchange/csv/csv-scanner.ts';
import { casesOf } from '../../helpers/long.ts';
import { seeded } from '../../helpers/seeded.ts';

const DIALECT = { delimiter: 44, quote: 34, escapedBy: 34 };

interface Scanned {
  readonly records: string[][];
  readonly lines: number;
  readonly problems: string[];
}

/** Scans a text as a reader does: up to each cut, then on from the first record that was left. */
function scanned(
  text: string,
  cuts: readonly number[],
  most = 1_000,
  dialect: CsvDialect = DIALECT,
): Scanned {
  const own = Buffer.from(text);
  const bytes = Buffer.concat([own, Buffer.alloc(1)]);
  const scanner = new CsvScanner(dialect, 2, false);
  const found: Scanned & { lines: number } = { records: [], lines: 0, problems: [] };
  let from = 0;
  for (const cut of [...cuts, own.length]) {
    for (let more = true; more; ) {
      // The byte behind a cut is overwritten, so each scan has a copy.
      const copy = Buffer.from(bytes);
      scanner.scan(copy, from, cut, cut === own.length, most);
      for (let row = 0; row < scanner.rows; row++) {
        const cell = (at: number): string => {
          const entry = 4 * row + 2 * at;
          return copy
            .subarray(startOf(scanner.bounds[entry] as number), scanner.bounds[entry + 1])
            .toString();
        };
        found.records.push([cell(0), cell(1)]);
      }
      for (const { problem } of scanner.bad) found.problems.push(problem);
      found.lines += scanner.lines;
      more = scanner.end > from && scanner.end < cut;
      from = scanner.end;
    }
  }
  return found;
}

test('a line break of two bytes is one, wherever it is cut', () => {
  const text = 'a,b\r\nc,d\re,f\n\r\n"g\r\nh",i\r\n';
  const whole = scanned(text, []);
  expect(whole).toEqual({
    records: [
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f'],
      ['g\r\nh', 'i'],
    ],
    lines: 6,
    problems: [],
  });
  for (let cut = 1; cut < text.length; cut++) expect(scanned(text, [cut])).toEqual(whole);
});

test('each kind of line break in quotes is one', () => {
  const field = 'a\rb\nc\r\nd\r\re';
  const doubled = `"${field}",x\r"${field}\r",y\r`;
  expect(scanned(doubled, []).lines).toBe(5 + 1 + 6 + 1);
  for (let cut = 1; cut < doubled.length; cut++) {
    expect(scanned(doubled, [cut])).toEqual(scanned(doubled, []));
  }
  // A break behind a backslash is one as well.
  const backslash = { ...DIALECT, escapedBy: 92 };
  const escaped = '"a\\\rb\\\r\nc\\\nd\\"",x\n';
  expect(scanned(escaped, [], 1_000, backslash).lines).toBe(4);
});

test('random texts are cut at random', () => {
  const random = seeded(3);
  const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)] ?? '';
  const field = (): string =>
    pick(['', 'x', 'é', '""', '"q"', '"a\nb"', '"a""b,c"', '"\r\n"', '"\r"', 'y"z']);
  for (let run = 0; run < casesOf(300, 20_000); run++) {
    const records = Array.from(
      { length: 1 + Math.floor(random() * 8) },
      () => `${field()},${field()}${random() < 0.05 ? ',more' : ''}${pick(['\n', '\r\n', '\r'])}`,
    );
    const text = records.join('');
    const length = Buffer.byteLength(text);
    const cuts = Array.from({ length: 3 }, () => Math.floor(random() * length)).sort(
      (one, other) => one - other,
    );
    expect([text, scanned(text, cuts, 1 + Math.floor(random() * 4))]).toEqual([
      text,
      scanned(text, []),
    ]);
  }
});
