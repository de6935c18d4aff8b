/**
 * Assembles each .wat of src into a .wasm.ts beside it, which is checked in, so that neither a build
 * nor a user needs an assembler.
 *
 *   npm run build:wasm
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import wabt from 'wabt';

const SOURCES = [
  'vector/kernels',
  'sql/select/count',
  'sql/evaluate/numbers',
  'sql/texts/texts',
  'ipc/codecs/zstd',
  'statements/keys/recent',
];
const LINE = 96;

/** The module's text as TypeScript, from the WebAssembly text in `wat`; `name` is the file's. */
export async function assemble(wat, name) {
  const { parseWat } = await wabt();
  const parsed = parseWat(`${name}.wat`, wat, { simd: true });
  try {
    parsed.resolveNames();
    parsed.validate();
    const { buffer } = parsed.toBinary({ canonicalize_lebs: true, write_debug_names: false });
    const base64 = Buffer.from(buffer).toString('base64');
    const lines = base64.match(new RegExp(`.{1,${LINE}}`, 'g'));
    return `/**
 * Holds the assembled form of ${name}.wat, in base64. Made by \`npm run build:wasm\`; edit that
 * file, not this one.
 */
export const ${name.toUpperCase()}_BASE64 = [
${lines.map((line) => `  '${line}',`).join('\n')}
].join('');
`;
  } finally {
    parsed.destroy();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const source of SOURCES) {
    const file = fileURLToPath(new URL(`../src/${source}`, import.meta.url));
    const name = source.slice(source.lastIndexOf('/') + 1);
    writeFileSync(`${file}.wasm.ts`, await assemble(readFileSync(`${file}.wat`, 'utf8'), name));
  }
}
