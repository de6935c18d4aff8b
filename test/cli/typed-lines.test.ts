/** Where the lines that were typed at the prompt are kept. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { historyFile } from '../../src/cli/typed-lines.ts';

test('an empty or relative folder of the environment is passed over', () => {
  const own = join(homedir(), '.local', 'state', 'dirspace', 'sql-history');
  expect(historyFile({})).toBe(own);
  expect(historyFile({ XDG_STATE_HOME: '' })).toBe(own);
  expect(historyFile({ XDG_STATE_HOME: 'state' })).toBe(own);
  const folder = join(homedir(), 'elsewhere');
  expect(historyFile({ XDG_STATE_HOME: folder })).toBe(join(folder, 'dirspace', 'sql-history'));
});
