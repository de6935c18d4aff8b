/**
 * Assembles src/vector/kernels.wat into src/vector/kernels.wasm.ts, which is checked in, so that
 * neither a build nor a user needs an assembler.
 *
 *   npm run build:wasm
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import wabt from 'wabt';

const source = new URL('../src/vector/kernels.wat', import.meta.url);
const target = new URL('../src/vector/kernels.wasm.ts', import.meta.url);
const LINE = 96;

/** The module's text as TypeScript, from the WebAssembly text in `wat`. */
export async function assemble(wat) {
  const { parseWat } = await wabt();
  const parsed = parseWat('kernels.wat', wat, { simd: true });
  try {
    parsed.resolveNames();
    parsed.validate();
    const { buffer } = parsed.toBinary({ canonicalize_lebs: true, write_debug_names: false });
    const base64 = Buffer.from(buffer).toString('base64');
    const lines = base64.match(new RegExp(`.{1,${LINE}}`, 'g'));
    return `/**
 * The assembled form of kernels.wat, in base64. Made by \`npm run build:wasm\`; edit that file, not
 * this one.
 */
export const KERNELS_BASE64 = [
${lines.map((line) => `  '${line}',`).join('\n')}
].join('');
`;
  } finally {
    parsed.destroy();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(target, await assemble(readFileSync(source, 'utf8')));
}
