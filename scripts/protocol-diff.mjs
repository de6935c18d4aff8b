/**
 * Prints what the newest release of the protocol has that this package has not, or has otherwise:
 * `npm run protocol:diff`, or `node scripts/protocol-diff.mjs FOLDER` for an unpacked package.
 *
 * Their side is the generated client for Python from PyPI, fetched with pip; ours is the OpenAPI
 * document, which follows from operations.ts and the models. Needs the built package. Exits with 1
 * where something differs that is not listed as known.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientShapes, differences, documentShapes } from './protocol-shapes.mjs';

const PACKAGE = 'lance-namespace-urllib3-client';

/** Differences that are meant, as they are printed, each with its reason. */
const KNOWN = JSON.parse(readFileSync(new URL('./protocol-known.json', import.meta.url), 'utf8'));

const work = mkdtempSync(join(tmpdir(), 'dirspace-protocol-'));
try {
  const folder = process.argv[2] ?? newestClient();
  const version = readdirSync(folder)
    .map((name) => /-([\d.]+)\.dist-info$/.exec(name)?.[1])
    .find((found) => found !== undefined);
  const { different, beyond } = differences(
    clientShapes(folder),
    documentShapes(await ourDocument()),
  );
  const known = new Map(
    KNOWN.flatMap(({ differences: texts, why }) => texts.map((text) => [text, why])),
  );
  const fresh = different.filter((text) => !known.has(text));
  const gone = [...known.keys()].filter((text) => !different.includes(text));
  console.log(`${PACKAGE} ${version ?? ''}`);
  print('What the protocol has otherwise', fresh);
  print('Known differences that are none any more', gone);
  print(`Beyond the protocol (${beyond.length})`, process.argv.includes('--beyond') ? beyond : []);
  console.log(`${fresh.length} new differences, ${different.length - fresh.length} known ones.`);
  process.exitCode = fresh.length + gone.length === 0 ? 0 : 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}

function print(title, lines) {
  if (lines.length > 0) console.log(`${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`);
}

/** The folder of the newest package, unpacked. Its code is read as text and never run. */
function newestClient() {
  const python = (...args) =>
    execFileSync(process.platform === 'win32' ? 'python' : 'python3', args, { stdio: 'inherit' });
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:'];
  python('-m', 'pip', 'download', ...quiet, '--dest', work, PACKAGE);
  const [wheel] = readdirSync(work);
  const folder = join(work, 'unpacked');
  python('-m', 'zipfile', '-e', join(work, wheel), folder);
  return folder;
}

async function ourDocument() {
  const { createServer } = await import(new URL('../dist/server.js', import.meta.url).href);
  const server = await createServer({ root: join(work, 'catalog'), create: true });
  try {
    return await (await server.fetch('http://127.0.0.1/openapi.json')).json();
  } finally {
    await server.close();
  }
}
