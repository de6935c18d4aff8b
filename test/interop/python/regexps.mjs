/**
 * Answers what the functions of regular expressions give: a JSON object `{texts, cases}` on standard input,
 * one of rows for each case on standard output, or `{error}` where the pattern is refused.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const { connect } = await import(process.env.DIRSPACE_DIST ?? '../../../dist/index.js');

const { texts, cases } = JSON.parse(await text(process.stdin));
const root = mkdtempSync(join(tmpdir(), 'dirspace-regexps-'));
const literal = (value) => `'${value.replaceAll("'", "''")}'`;
const answers = [];
try {
  const db = await connect(root);
  const table = await db.createTable(
    't',
    texts.map((s, at) => ({ at, s })),
  );
  for (const { pattern, flags, template } of cases) {
    const given = `s, ${literal(pattern)}`;
    const columns = {
      at: 'at',
      like: `regexp_like(${given}, ${literal(flags)})`,
      match: `regexp_match(${given}, ${literal(flags)})`,
      replace: `regexp_replace(${given}, ${literal(template)}, ${literal(flags)})`,
      all: `regexp_replace(${given}, ${literal(template)}, ${literal(`${flags}g`)})`,
    };
    try {
      const rows = await table.query().select(columns).limit(texts.length).toArray();
      rows.sort((one, other) => Number(one.at) - Number(other.at));
      answers.push(
        rows.map(({ like, match, replace, all }) => ({
          like,
          match: match === null ? null : [...match],
          replace,
          all,
        })),
      );
    } catch (error) {
      answers.push({ error: error.message });
    }
  }
  await db.close();
} finally {
  rmSync(root, { recursive: true });
}
process.stdout.write(JSON.stringify(answers));
