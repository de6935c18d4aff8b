/**
 * `dirspace verify` checks the files of a catalog, or of one namespace, for damage and for
 * references to missing files. It lists the problems found and fails with Corrupt if there are any;
 * leftovers are counted, but are no problems. `--trash` includes the tables in the trash. A server
 * that does not offer verify throws Unsupported.
 */
import { DirspaceError } from '../../errors.ts';
import { unsupported, type VerifyProgress, type VerifyResponse } from '../../protocol/index.ts';
import {
  type Answer,
  type Call,
  type Command,
  counted,
  facts,
  parsePath,
} from '../terminal/index.ts';

export const verify: Command = {
  name: 'verify',
  summary: 'Check every byte and every reference of a catalog',
  otherNames: ['check', 'fsck'],
  arguments: [['[path]', 'a namespace; the root if absent']],
  options: [{ flags: '--trash', summary: 'read the tables in the trash too' }],
  examples: ['dirspace verify', 'dirspace verify prod --json', 'dirspace verify --trash'],
  reads: true,
  async run(call: Call): Promise<Answer> {
    const { namespace } = call.connection;
    if (namespace.verify === undefined) throw unsupported('Verify');
    let read: VerifyProgress | undefined;
    call.progress(() =>
      read === undefined
        ? 'reading'
        : `${counted(read.tables, 'table')}, ${(read.bytes / 1e6).toFixed(0)} MB`,
    );
    const request = {
      id: parsePath(call.arguments[0] ?? '/'),
      ...(call.options.flag('trash') ? { trash: true } : {}),
    };
    const report = await namespace.verify(request, {
      signal: call.signal,
      on_progress: (progress) => {
        read = progress;
      },
    });
    const { problems } = report;
    if (problems.length === 0) return { json: report, text: textOf(report) };
    const lines = problems.map(({ path, what }) => `${path}: ${what}`);
    const failure = new DirspaceError(
      'Corrupt',
      `${counted(problems.length, 'problem')} found. \`dirspace repair\` says which of them can be taken out of the way.\n${lines.join('\n')}`,
    );
    return { json: report, failure };
  },
};

function textOf({ counts, leftovers, trash_checked }: VerifyResponse): string {
  const dropped = leftovers.filter(({ kind }) => kind === 'trash').length;
  const read = trash_checked === true ? 'read' : 'not read; --trash reads it';
  const foreign = leftovers.filter(({ kind }) => kind === 'foreign').length;
  const unsynced = leftovers.filter(({ kind }) => kind === 'unsynced').length;
  return facts([
    ...Object.entries(counts),
    ['leftovers', leftovers.length - unsynced - foreign],
    ...(foreign === 0
      ? []
      : ([['files of others', `${foreign}; they lie beside the folders of the catalog`]] as const)),
    ...(unsynced === 0
      ? []
      : ([['unsynced', `${unsynced}; \`dirspace lance sync\` makes up for it`]] as const)),
    ...(dropped === 0 ? [] : ([['trash', read]] as const)),
    ['problems', 0],
  ]);
}
