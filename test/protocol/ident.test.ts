/** Identifiers: the component rule, and that parsing and formatting string ids are inverses. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DirspaceError, isDirspaceError } from '../../src/errors.ts';
import {
  checkComponent,
  checkPath,
  equalPaths,
  errorNaming,
  formatId,
  namedBy,
  parseId,
} from '../../src/protocol/ident.ts';

const LEGAL = /^[A-Za-z0-9_.-]+$/;
const component = fc.stringMatching(/^[A-Za-z0-9_.-]{1,8}$/);

function failure(run: () => unknown): { code: string; message: string; details: unknown } {
  try {
    run();
  } catch (error) {
    if (isDirspaceError(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

function* strings(alphabet: string, longest: number): Generator<string> {
  yield '';
  if (longest === 0) return;
  for (const character of alphabet) {
    for (const rest of strings(alphabet, longest - 1)) yield character + rest;
  }
}

describe('components', () => {
  it('takes exactly the legal ones of all short strings', () => {
    for (const text of strings('aZ0_-.$/ %é', 3)) {
      const legal = LEGAL.test(text);
      if (legal) expect(checkComponent(text)).toBe(text);
      else expect(failure(() => checkComponent(text)).code).toBe('InvalidInput');
    }
  });

  it.each(['__proto__', 'constructor', 'toString', '.', '..', '-', 'a'.repeat(500)])(
    'takes %s',
    (text) => {
      expect(checkComponent(text)).toBe(text);
    },
  );

  it('names the component, its position, the offset and the rule', () => {
    const error = failure(() => checkPath(['ok', 'a b']));
    expect(error.message).toContain('Component 2, "a b", has " " at offset 1');
    expect(error.message).toContain('letters');
    expect(error.details).toEqual({ component: 'a b', position: 1, offset: 1 });
    expect(failure(() => checkPath(['a', ''])).message).toContain('Component 2, "", is empty');
  });

  it('cuts what it names after 80 letters, and details after 256', () => {
    const rule = 'a component has one or more letters (a-z), digits, "_", "-" or "."';
    for (const [length, shown] of [
      [79, ` ${'a'.repeat(79)}`],
      [80, ` ${'a'.repeat(79)}...`],
      [300, ` ${'a'.repeat(79)}...`],
    ] as const) {
      const error = failure(() => checkComponent(` ${'a'.repeat(length)}`, 4));
      expect(error.message).toBe(`Component 5, "${shown}", has " " at offset 0; ${rule}.`);
      expect(error.details).toEqual({
        component: ` ${'a'.repeat(Math.min(length, 255))}`,
        position: 4,
        offset: 0,
      });
    }
    expect(failure(() => checkComponent('', 1))).toMatchObject({
      message: `Component 2, "", is empty; ${rule}.`,
      details: { component: '', position: 1 },
    });
    expect(failure(() => checkComponent('a\u{1f600}')).message).toContain(
      'has "\u{1f600}" at offset 1',
    );
  });

  it('keeps messages short, whatever it is given', () => {
    expect(failure(() => checkComponent(' '.repeat(100_000))).message.length).toBeLessThan(300);
  });

  it('rejects letters and digits beyond ASCII, and a trailing line feed', () => {
    for (const text of ['é', '٣', 'a\n', '\u212a', '\u{1f600}', '\ud800']) {
      expect(failure(() => checkComponent(text)).code).toBe('InvalidInput');
    }
  });
});

describe('string ids', () => {
  it('joins with $ and takes the delimiter alone for the root', () => {
    expect(formatId(['prod', 'search', 'user'])).toBe('prod$search$user');
    expect(parseId('prod$search$user')).toEqual(['prod', 'search', 'user']);
    expect(formatId([])).toBe('$');
    expect(parseId('$')).toEqual([]);
    expect(parseId('::', '::')).toEqual([]);
    expect(parseId('a::b', '::')).toEqual(['a', 'b']);
    expect(parseId('a.b', '.')).toEqual(['a', 'b']);
  });

  it.each(['', '$$', 'a$', '$a', 'a$$b', 'a/b'])('rejects the id %j', (id) => {
    expect(failure(() => parseId(id)).code).toBe('InvalidInput');
  });

  it('rejects an empty delimiter', () => {
    expect(failure(() => parseId('a', '')).message).toContain('delimiter is empty');
    expect(failure(() => formatId(['a'], '')).message).toContain('delimiter is empty');
  });

  it('rejects a component that contains the delimiter', () => {
    const error = failure(() => formatId(['a', 'b.c'], '.'));
    expect(error.message).toContain(
      'Component 2, "b.c", contains the delimiter "."; use another one.',
    );
    expect(error.details).toEqual({ path: ['a', 'b.c'], delimiter: '.', position: 1 });
    expect(failure(() => formatId(['b.c', 'a'], '.')).message).toContain(
      'Component 1, "b.c", contains the delimiter "."',
    );
  });

  it('rejects a delimiter that appears where components meet', () => {
    const error = failure(() => formatId(['ba', 'ab'], 'aa'));
    expect(error.message).toBe(
      'The delimiter "aa" makes "baaaab" read as another path; use another one.',
    );
    expect(error.details).toEqual({ path: ['ba', 'ab'], delimiter: 'aa', position: -1 });
  });

  it('parses what it formats, and formats what it parses, for every short id', () => {
    const delimiters = [...strings('a.$', 2)].filter((delimiter) => delimiter !== '');
    const components = [...strings('a.', 2)].filter((text) => text !== '');
    const paths = [
      [],
      ...components.map((a) => [a]),
      ...components.flatMap((a) => components.map((b) => [a, b])),
    ];
    let formatted = 0;
    for (const delimiter of delimiters) {
      const seen = new Map<string, readonly string[]>();
      for (const path of paths) {
        let id: string;
        try {
          id = formatId(path, delimiter);
        } catch {
          continue;
        }
        formatted++;
        expect(parseId(id, delimiter)).toEqual(path);
        expect(seen.has(id)).toBe(false);
        seen.set(id, path);
      }
      for (const id of strings('a.$', 3)) {
        let path: string[];
        try {
          path = parseId(id, delimiter);
        } catch {
          continue;
        }
        expect(formatId(path, delimiter)).toBe(id);
      }
    }
    expect(formatted).toBeGreaterThan(300);
  });

  it('round trips any path with the default delimiter', () => {
    fc.assert(
      fc.property(fc.array(component, { maxLength: 6 }), (path) => {
        expect(parseId(formatId(path))).toEqual(path);
      }),
    );
  });

  it('round trips any path with any delimiter that formats it', () => {
    const delimiter = fc.string({ minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(component, { maxLength: 4 }), delimiter, (path, between) => {
        let id: string;
        try {
          id = formatId(path, between);
        } catch (error) {
          expect(isDirspaceError(error, 'InvalidInput')).toBe(true);
          expect(LEGAL.test(between)).toBe(true);
          return;
        }
        expect(parseId(id, between)).toEqual(path);
      }),
    );
  });
});

describe('paths', () => {
  it('compares component by component', () => {
    expect(equalPaths(['a', 'b'], ['a', 'b'])).toBe(true);
    expect(equalPaths(['a'], ['a', 'b'])).toBe(false);
    expect(equalPaths(['a', 'b'], ['a'])).toBe(false);
    expect(equalPaths(['a', 'b'], ['b', 'a'])).toBe(false);
    expect(equalPaths(['a', 'b'], ['a', 'c'])).toBe(false);
    expect(equalPaths([], [])).toBe(true);
  });
});

it('an error that names objects is worded with other names, and others stay as they are', () => {
  const cause = new Error('below');
  const details = { id: ['a', 'b'] };
  const error = errorNaming('TableNotFound', (show) => `${show(['a', 'b'])} was not found.`, {
    details,
    cause,
  });
  expect([error.message, error.details]).toEqual(['a$b was not found.', details]);
  const named = namedBy(error, (id) => id.join('.'));
  expect(named).toMatchObject({
    code: 'TableNotFound',
    message: 'a.b was not found.',
    details,
    cause,
  });
  const other = new DirspaceError('TableNotFound', 'a$b was not found.');
  for (const one of [other, cause, undefined]) expect(namedBy(one, String)).toBe(one);
});
