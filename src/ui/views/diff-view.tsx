/** `DiffView`: what two versions of a table have apart from each other. */
import {
  Answered,
  ask,
  type Described,
  Pairs,
  typeText,
  useAnswer,
  type Version,
  type ViewProps,
} from '../base/index.ts';

interface Compared {
  readonly from: Described;
  readonly to: Described;
  readonly rows: readonly [number, number];
  readonly between: readonly Version[];
}

export function DiffView({ facts, location }: ViewProps) {
  const { from, to } = location.query;
  const isAsked = from !== undefined && to !== undefined && from !== to;
  const asked = useAnswer<Compared>(
    isAsked ? 'compare' : undefined,
    { id: facts.id, branch: facts.branch, from: Number(from), to: Number(to) },
    compare,
  );
  if (!isAsked) {
    return <p class="note">Choose two versions, From and To, to see what is different.</p>;
  }
  return (
    <section class="diff" aria-label={`Differences of versions ${from} and ${to}`}>
      <h3>
        From version {from} to {to}
      </h3>
      <Answered asked={asked}>
        {(found) => (
          <Pairs
            label="Differences"
            of={[
              [
                'Rows',
                `${found.rows[0].toLocaleString('en')} → ${found.rows[1].toLocaleString('en')}`,
              ],
              ...columnChanges(found.from, found.to),
            ]}
          />
        )}
      </Answered>
    </section>
  );
}

async function compare(_: string, body: object, signal: AbortSignal): Promise<Compared> {
  const { id, branch, from, to } = body as {
    id: string[];
    branch?: string;
    from: number;
    to: number;
  };
  const of = (version: number): object => ({
    id,
    version,
    ...(branch === undefined ? {} : { branch }),
  });
  const described = (version: number): Promise<Described> =>
    ask('DescribeTable', { ...of(version), load_detailed_metadata: true }, signal);
  const rows = (version: number): Promise<number> => ask('CountTableRows', of(version), signal);
  const [a, b, before, after] = await Promise.all([
    described(from),
    described(to),
    rows(from),
    rows(to),
  ]);
  return { from: a, to: b, rows: [before, after], between: [] };
}

function columnChanges(from: Described, to: Described): [string, string][] {
  const types = ({ schema }: Described): Map<string, string> =>
    new Map((schema?.fields ?? []).map(({ name, type }) => [name, typeText(type)]));
  const [before, after] = [types(from), types(to)];
  const changes: [string, string][] = [];
  for (const [name, type] of after) {
    const old = before.get(name);
    if (old === undefined) changes.push([name, `column added: ${type}`]);
    else if (old !== type) changes.push([name, `type ${old} → ${type}`]);
  }
  for (const [name, type] of before) {
    if (!after.has(name)) changes.push([name, `column removed: ${type}`]);
  }
  return changes.length > 0 ? changes : [['Columns', 'the same']];
}
