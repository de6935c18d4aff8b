/** docs/functions.md lists the functions that there are, with their arguments and results. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Schema, Vector } from '../../src/arrow/apache.ts';
import { recordBatch } from '../../src/arrow/arrow-data.ts';
import { ALIASES, FUNCTION_NAMES, SIGNATURES } from '../../src/sql/bind/bind-call.ts';
import { compileExpression } from '../../src/sql/expression.ts';
import { typeText } from '../../src/sql/typed/index.ts';

const page = readFileSync(new URL('../../docs/functions.md', import.meta.url), 'utf8');
const section = page;
const KINDS: Readonly<Record<string, string>> = {
  t: 'text',
  i: 'integer',
  n: 'number',
  f: 'number',
  l: 'list',
};

/** `tii?` is `text, integer[, integer]`. */
const written = (args: string): string =>
  [...args.matchAll(/(\w)(\??)/g)]
    .map(([, kind = '', optional], place) => {
      const text = `${place === 0 ? '' : ', '}${KINDS[kind]}`;
      return optional === '?' ? `[${text}]` : text;
    })
    .join('');

it('with the signatures of the source', () => {
  const listed = section.split('\n').flatMap((row) => {
    const [, result = '', functions = ''] = /^\| ([a-z][^|]*) \| (`.*) \|$/.exec(row) ?? [];
    return [...functions.matchAll(/`([^`]+)`/g)].map(([, text]) => `${text} ${result}`);
  });
  const source = Object.entries(SIGNATURES)
    .filter(([name]) => /^[a-z]/.test(name) && name !== 'negate')
    .map(([name, [args, result]]) => {
      const gives = result === 'same' ? 'as the first argument' : typeText(result);
      return `${name}(${written(args)}) ${gives}`;
    });
  expect(listed).toEqual(source.toSorted((a, b) => listed.indexOf(a) - listed.indexOf(b)));
});

it('with all names, and no others', () => {
  const aliases = Object.entries(ALIASES).filter(([name]) => name !== 'concat_op');
  const [tables = '', others = ''] = section.split('Other names for them:');
  const named = [...tables.matchAll(/`(\w+)\(/g)].map(([, name]) => name);
  const groups = others.replace(/\s+/g, ' ').matchAll(/((?:`\w+`(?: and )?)+) for `(\w+)`/g);
  const also = [...groups].flatMap(([, names = '', real = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => [name, real]),
  );
  expect(also.toSorted()).toEqual(aliases.toSorted());
  const all = new Set([...named, ...also.map(([name]) => name)]);
  expect([...all].toSorted()).toEqual([...FUNCTION_NAMES].toSorted());
});

/** Arguments that are to be constants. */
const CONSTANTS: Readonly<Record<string, readonly [place: number, text: string]>> = {
  extract: [0, "'year'"],
  date_part: [0, "'year'"],
  date_trunc: [0, "'day'"],
  date_diff: [0, "'day'"],
  arrow_cast: [1, "'Int32'"],
};
const OF_NULLS: Readonly<Record<string, unknown>> = {
  concat: '',
  make_array: [null],
  typeof: '"NULL"',
};

it('each of which gives NULL for NULL, or what the page says', async () => {
  const calls = section.replace(/\[[^[\]]*\]/g, '').matchAll(/`([a-z]\w*)\(([^`)]+)\)`/g);
  const none = new Schema([]);
  let count = 0;
  for (const [, name = '', list = ''] of calls) {
    const args = list.split(/,| FROM /).filter((arg) => arg.trim() !== '...');
    const [place, text] = CONSTANTS[name] ?? [];
    const nulls = args.map((_, at) => (at === place ? text : 'NULL'));
    const call = `"${name}"(${nulls.join()})`;
    const compiled = await compileExpression(call, none);
    const value: unknown = compiled.evaluate(recordBatch(none, [], 1)).get(0);
    const found = value instanceof Vector ? [...value] : value;
    expect(found, call).toEqual(OF_NULLS[name] ?? null);
    count++;
  }
  expect(count).toBeGreaterThan(100);
});
