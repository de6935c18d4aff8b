/** `dirspace verify`: checks every byte and every reference of a catalog. */
import { DirspaceError } from '../errors.ts';
import type { VerifyResponse } from '../protocol/extensions.ts';
import { unsupported } from '../protocol/namespace.ts';
import type { Answer, Call, Command } from './command.ts';
import { parsePath } from './ids.ts';
import { facts } from './output.ts';

export const verify: Command = {
  name: 'verify',
  summary: 'Check every byte and every reference of a catalog',
  arguments: [['[path]', 'a namespace; the root if absent']],
  examples: ['dirspace verify', 'dirspace verify prod --json'],
  reads: true,
  async run(call: Call): Promise<Answer> {
    const { namespace } = call.connection;
    if (namespace.verify === undefined) throw unsupported('Verify');
    const report = await namespace.verify({ id: parsePath(call.arguments[0] ?? '/') });
    const { problems } = report;
    if (problems.length === 0) return { json: report, text: textOf(report) };
    const lines = problems.map(({ path, what }) => `${path}: ${what}`);
    throw new DirspaceError(
      'Corrupt',
      `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'} found. \`dirspace repair\` says which of them can be taken out of the way.\n${lines.join('\n')}`,
      { details: { ...report } },
    );
  },
};

const textOf = ({ counts, leftovers }: VerifyResponse): string =>
  facts([...Object.entries(counts), ['leftovers', leftovers.length], ['problems', 0]]);
