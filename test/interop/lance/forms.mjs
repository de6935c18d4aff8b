/**
 * Counts the versions below a root that have fragments of a form of their own (`formsIn`): columns beside
 * fragments, deletion files that fragments share, compressed columns.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FORMS = ['overlays', 'shared_deletions', 'zstd'];

/**
 * As a line of text. @throws Error where at least so many tables were made, and one form is in none
 * @param asked the forms that some of so many tables must have
 */
export function formsIn(root, tables, asked = FORMS) {
  const counts = new Map(FORMS.map((form) => [form, 0]));
  for (const file of readdirSync(root, { recursive: true })) {
    if (!/versions-[0-9a-f-]+\/[0-9]+\.json$/.test(file)) continue;
    const { features = [] } = JSON.parse(readFileSync(join(root, file), 'utf8'));
    for (const form of FORMS) if (features.includes(form)) counts.set(form, counts.get(form) + 1);
  }
  const line = [...counts].map(([form, versions]) => `${form} in ${versions}`).join(', ');
  if (tables >= 25 && asked.some((form) => counts.get(form) === 0))
    throw new Error(`No table had a form that Lance is to read: ${line}.`);
  return `${line} of all versions`;
}
