/**
 * Vector search over the paragraphs of documents. The vectors count hashed words, so that the example
 * needs no model: put yours in the place of `embed`. `node examples/vector-search.mjs "words" file...`
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from 'dirspace';

const DIMENSIONS = 256;
const pages = ['operations', 'reliability', 'vectors'].map((name) =>
  fileURLToPath(new URL(`../docs/${name}.md`, import.meta.url)),
);
const [question = 'backup of a catalog', ...given] = process.argv.slice(2);

const root = await mkdtemp(join(tmpdir(), 'dirspace-search-'));
const db = await connect(root);
try {
  const rows = (await Promise.all((given.length > 0 ? given : pages).map(paragraphsOf))).flat();
  const docs = await db.createTable('paragraph', rows);
  console.log(`${await docs.countRows()} paragraphs`);

  const found = await docs
    .vectorSearch(embed(question))
    .distanceType('cosine')
    .where('words >= 8')
    .select(['file', 'text'])
    .limit(3)
    .toArray();
  for (const { file, text, _distance } of found) {
    console.log(`${_distance.toFixed(3)}  ${file}: ${text.slice(0, 70)}`);
  }
} finally {
  await db.close();
  await rm(root, { recursive: true, force: true });
}

/** The paragraphs of a file as rows: a column whose name says vector becomes one. */
async function paragraphsOf(path) {
  const text = await readFile(path, 'utf8');
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replaceAll(/\s+/g, ' ').trim())
    .filter((paragraph) => /\w/.test(paragraph))
    .map((paragraph) => ({
      file: basename(path),
      text: paragraph,
      words: paragraph.split(' ').length,
      vector: embed(paragraph),
    }));
}

/** How often words occur, each hashed to one of the dimensions, at a length of 1. */
function embed(text) {
  const vector = new Array(DIMENSIONS).fill(0);
  for (const [word] of text.toLowerCase().matchAll(/\p{L}{4,}/gu)) {
    let hash = 7;
    for (const letter of word) hash = (hash * 31 + letter.codePointAt(0)) % 1_000_003;
    vector[hash % DIMENSIONS] += 1;
  }
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((count) => count / length);
}
