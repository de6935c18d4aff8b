/**
 * `optionsOf`: reads the command line of the bench. Returns undefined for `--help`, and throws BadOption,
 * whose message says what was given and what there is, for whatever is no option or no value of one.
 */
import { parseArgs } from 'node:util';
import { SIDES } from './peers.mjs';

/** Name, what its value is called and what it does; without a value it is a switch. */
const OPTIONS = [
  ['suite', 'NAME,NAME', 'only the rows of these suites'],
  ['only', 'TEXT', 'only rows whose name has the text; may be given again'],
  ['samples', 'N', 'samples of each side, in place of what each row takes'],
  ['scale', '0.01', 'a share of the rows of data; times then say nothing'],
  ['peers', 'NAME,NAME', `none, or some of ${SIDES.join(', ')}; all of them where it is left out`],
  ['json', 'FILE', 'writes medians, minima, processor time and samples'],
  ['growth', '', 'draws how costs grow with versions, fragments and tables, in place of the rows'],
  ['out', 'FOLDER', 'where --growth writes, in place of docs/'],
  ['help', '', 'shows this'],
];

/** What was typed cannot be used. */
export class BadOption extends Error {}

const COMMAND = 'npm run bench -- --help shows what there is.';

export function usage(suites) {
  const lines = OPTIONS.map(
    ([name, value, what]) => `  ${`--${name} ${value}`.padEnd(20)} ${what}`,
  );
  return [
    'Usage: npm run bench [-- OPTION...]',
    '',
    ...lines,
    '',
    `Suites: ${suites.join(', ')}.`,
    'docs/benchmarks.md says what each measures, and how to read the rows.',
  ].join('\n');
}

export function optionsOf(words, suites) {
  const values = parsed(words);
  if (values.help) return undefined;
  const rows = ['suite', 'only', 'json'].filter((name) => values[name] !== undefined);
  if (values.growth && rows.length > 0) {
    throw new BadOption(
      `--growth measures no rows, so --${rows[0]} does not go with it. ${COMMAND}`,
    );
  }
  if (!values.growth && values.out !== undefined) {
    throw new BadOption(`--out is where --growth writes; give --json FILE for rows. ${COMMAND}`);
  }
  const chosen = values.suite?.split(',') ?? suites;
  for (const name of chosen) among('suite', name, suites);
  for (const name of values.peers?.split(',') ?? []) among('peers', name, ['none', ...SIDES]);
  const scale = Number(values.scale ?? 1);
  if (!(scale > 0)) throw wrong('scale', values.scale, 'give a number above 0, 1 for all rows');
  const samples = values.samples === undefined ? undefined : Number(values.samples);
  if (samples !== undefined && !(Number.isInteger(samples) && samples > 0)) {
    throw wrong('samples', values.samples, 'give a whole number above 0');
  }
  return { ...values, suites: chosen, scale, samples };
}

function parsed(words) {
  const entries = OPTIONS.map(([name, value]) => [
    name,
    { type: value === '' ? 'boolean' : 'string', ...(name === 'only' ? { multiple: true } : {}) },
  ]);
  try {
    return parseArgs({ args: words, options: Object.fromEntries(entries) }).values;
  } catch (error) {
    const names = OPTIONS.map(([name]) => `--${name}`).join(', ');
    throw new BadOption(`${error.message}\nThe options are ${names}. ${COMMAND}`);
  }
}

function among(option, name, known) {
  if (!known.includes(name)) throw wrong(option, name, `there is ${known.join(', ')}`);
}

const wrong = (option, given, what) =>
  new BadOption(`--${option} ${JSON.stringify(given)}: ${what}. ${COMMAND}`);
