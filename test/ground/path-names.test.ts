/** `paths.ts` and `lance-paths.ts` own the names of a catalog's files and folders: nobody else writes one down. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../src/', import.meta.url));
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !/^(?:lance-)?paths\.ts$/.test(file),
);

/** Text between quotes, and regular expressions; comments left out. */
function literalsOf(text: string): string[] {
  const tokens =
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<=[(=,:&|!]\s*)\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//g;
  return [...text.matchAll(tokens)]
    .map(([token]) => token)
    .filter((token) => !/^\/[*/]/.test(token));
}

/** Names that nothing else is called, wherever they stand in a text. */
const NAMES =
  /\.dirspace\b|\.table\.json|\.table\)?[`'"$]|\.namespace\.(?:json|pending|withdrawn)|\.tmp-|latest\.json|branch\.json|format\.json|journal\.json|properties\.json|record\.json|(?<![a-z-])versions-|staged-(?=[$[<])|(?<![a-z])deleted-\$|\$\{[^ {}]*\}\.(?:arrow|json)[`'"]/;
/** Datasets of Lance that users name have this ending too. */
const LANCE = /\.lance\b/;
/** Names that are words as well: literals where they are a part of a path, or one by themselves. */
const WORDS = 'data|deletions|chunks|branches|tags|staging|trash|drops|detached|intents|locks';
const IN_PATH = new RegExp(
  `(?:^[\`'"]|[}\\w])/(?:${WORDS}|transactions|keys)(?:[/\`'"]|$)|[\`'"](?:${WORDS})/`,
);
const ALONE = new RegExp(`^[\`'"](?:${WORDS})[\`'"]$`);

/** Rooms that make paths; elsewhere the words are members of messages, events and commands. */
const MAKES_PATHS = /^(?:store|format|table|directory)\//;

/** What such a word is where it stands for no path. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  // Members of documents.
  'format/catalog/manifest.ts': ["'chunks'"],
  'format/catalog/records.ts': ["'trash'"],
  'directory/catalog/intents.ts': ["'trash'", "'staging'"],
  'directory/catalog/journal.ts': ["'deletions'"],
  // Kinds of trash.
  'directory/catalog/trash.ts': ["'detached'"],
  'table/versions/snapshot.ts': ["'chunks'"],
  'table/verify/verify-files.ts': ["'deletions'", "'chunks'"],
  // Kinds of what verify finds.
  'directory/upkeep/verify.ts': ["'staging'", "'detached'", "'trash'"],
};

/** `@{` stands for a place in a template. */
const template = (text: string): string => text.replaceAll('@{', '$'.concat('{'));

test('literals are told from comments', () => {
  expect(
    literalsOf(
      template("/* 'a' */ x('b', `c/@{d}`); // 'e'\nconst p = /^f\\/[/]g/; const q = 4 / 2; \"h\""),
    ),
  ).toEqual(["'b'", '`c/@{d}`', '/^f\\/[/]g/', '"h"'].map(template));
});

test.each([
  "'.table.json'",
  "'.dirspace/locks'",
  '`@{folder}/branch.json`',
  '`@{table}/data/@{file}.arrow`',
  '`versions-@{id}`',
  '`@{home}/tags`',
  '`.tmp-writer-@{id}`',
  '`@{DETACHED_FOLDER}/@{id}.table`',
  '/^\\.dirspace/',
])('%s is a name of a catalog', (literal) => {
  expect(NAMES.test(template(literal)) || IN_PATH.test(template(literal))).toBe(true);
});

test.each(["'main'", "'metadata'", '`database/@{name}`', '`@{a}-versions`', "'/v1/tables'"])(
  '%s is none',
  (literal) => {
    expect(
      NAMES.test(template(literal)) ||
        IN_PATH.test(template(literal)) ||
        ALONE.test(template(literal)),
    ).toBe(false);
  },
);

test('no file but paths.ts and lance-paths.ts writes down a name of a file or folder of a catalog', () => {
  const found = files.flatMap((file) =>
    literalsOf(readFileSync(join(root, file), 'utf8'))
      .filter(
        (literal) =>
          NAMES.test(literal) ||
          (MAKES_PATHS.test(file) &&
            (LANCE.test(literal) ||
              IN_PATH.test(literal) ||
              (ALONE.test(literal) && MEMBERS[file]?.includes(literal) !== true))),
      )
      .map((literal) => `${file}: ${literal.slice(0, 100)}`),
  );
  expect(found).toEqual([]);
});
