/** docs/functions.md lists the functions that there are, with their arguments and results. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ALIASES, FUNCTION_NAMES, SIGNATURES } from '../../src/sql/bind/bind-call.ts';
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
