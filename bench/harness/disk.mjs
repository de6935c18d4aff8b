import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The bytes of the files under a folder, or of those whose name matches. */
export function bytesIn(path, name = /./) {
  const found = statSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path, { withFileTypes: true }).reduce((sum, entry) => {
    if (entry.isDirectory()) return sum + bytesIn(join(path, entry.name), name);
    return name.test(entry.name) ? sum + statSync(join(path, entry.name)).size : sum;
  }, 0);
}
