/**
 * Builds the programs of this folder that are written in TypeScript, one file each: `buildPrograms(FOLDER)`.
 * They hand the built package objects of apache-arrow, so every part of that package stays outside them: a
 * second copy of its classes is refused by the first.
 */
import { join } from 'node:path';
import { rolldown } from 'rolldown';

export const PROGRAMS = ['tables', 'check-lancedb', 'path', 'read_datasets'];

export async function buildPrograms(folder) {
  for (const name of PROGRAMS) {
    const made = await rolldown({
      input: join(import.meta.dirname, `${name}.ts`),
      platform: 'node',
      external: /^apache-arrow(\/|$)/,
      logLevel: 'silent',
    });
    const file = join(folder, `${name}.mjs`);
    await made.write({ file, format: 'esm', codeSplitting: false });
    await made.close();
  }
}
