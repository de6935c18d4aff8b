/**
 * `dirspace repair` lists the damage that keeps a catalog, or one namespace, from being read, and
 * how it would be repaired. It changes nothing unless `--apply` is given: then damaged versions,
 * tags and other files move to a quarantine folder, and nobody else may be writing. Damage that it
 * cannot repair is listed and left alone. A server that does not offer repair throws Unsupported.
 */
import { type RepairResponse, unsupported } from '../../protocol/index.ts';
import { defined } from '../../sdk/index.ts';
import { type Answer, type Call, type Command, columns, parsePath } from '../terminal/index.ts';

export const repair: Command = {
  name: 'repair',
  summary: 'Quarantine damaged versions and tags; says what it would do unless told to',
  otherNames: ['fix'],
  arguments: [['[path]', 'a namespace; the root if absent']],
  options: [
    { flags: '--apply', summary: 'do it; nobody else may be writing' },
    {
      flags: '--managed-versioning <true|false>',
      summary: 'of a catalog that lost its format file: whether its versions were managed',
    },
  ],
  examples: ['dirspace repair', 'dirspace repair --apply'],
  reads: false,
  async run(call: Call): Promise<Answer> {
    const { namespace } = call.connection;
    if (namespace.repair === undefined) throw unsupported('Repair');
    const apply = call.options.flag('apply');
    const managed =
      call.options.text('managedVersioning') === undefined
        ? undefined
        : call.options.choice('managedVersioning', ['true', 'false']) === 'true';
    call.progress(() => 'reading');
    const id = parsePath(call.arguments[0] ?? '/');
    const report = await namespace.repair(defined({ id, apply, managed_versioning: managed }), {
      signal: call.signal,
    });
    const { actions, left } = report;
    const rows = [
      ...actions.map(({ path, why }) => [apply ? 'quarantined' : 'to quarantine', path, why]),
      ...left.map(({ path, what }) => ['left', path, what]),
    ];
    return {
      json: report,
      text: rows.length === 0 ? '' : columns(['what', 'path', 'why'], rows),
      note: noteOf(report),
    };
  },
};

function noteOf({ applied, actions, left }: RepairResponse): string {
  if (actions.length === 0 && left.length === 0) return 'There is nothing to repair.';
  if (applied) return `Quarantined ${actions.length}, left ${left.length}.`;
  return actions.length === 0
    ? `There is nothing to quarantine; repair cannot mend ${left.length}.`
    : `Nothing was changed; give --apply to quarantine ${actions.length}.`;
}
