/** `dirspace import` of Lance datasets and of their data files. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT } from '../../src/cli/terminal/exit-codes.ts';
import { openArrowBody } from '../../src/ipc/index.ts';
import { connect } from '../../src/sdk/connect.ts';
import { exactValues } from '../helpers/arrow-samples.ts';
import { callCli } from '../helpers/cli.ts';
import { lanceVersions, writeDataset } from '../helpers/lance-datasets.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

function fresh() {
  const folder = temporaryFolder();
  const root = join(folder, 'catalog');
  const run = (...args: string[]) => callCli([...args, '--root', root]);
  const values = async (name: string): Promise<unknown> => {
    const db = await connect(root);
    const table = await db.openTable(name);
    const { batches, schema } = await table.query().toArrow();
    return { values: exactValues(batches), metadata: [...schema.metadata] };
  };
  return { folder, run, values };
}

/** Datasets without columns that the catalog refuses by its own rules. */
const versions = lanceVersions.filter(({ rows }) => rows.length > 0);

test('versions and tags of datasets become tables', async () => {
  const { folder, run, values } = fresh();
  const done = new Set<string>();
  for (const [at, { dataset, choice, rows }] of versions.entries()) {
    if (at % 5 !== 0 && choice.tag === undefined) continue;
    const home = writeDataset(dataset, folder);
    const chosen = choice.version ?? choice.tag;
    const more = chosen === undefined ? [] : ['--at', String(chosen)];
    const { code, error } = await run('import', home, `t${at}`, ...more);
    expect(error).toContain(`Imported into t${at}: version 1`);
    expect(code).toBe(EXIT.ok);
    const expected = await openArrowBody(rows);
    const batches = [];
    for await (const batch of expected) if (batch.numRows > 0) batches.push(batch);
    const found = (await values(`t${at}`)) as { values: unknown[][]; metadata: unknown };
    if (batches.length > 0) expect(found.values).toEqual(exactValues(batches));
    expect(found.metadata).toEqual([...expected.schema.metadata]);
    done.add(Object.keys(choice)[0] ?? 'newest');
  }
  expect([...done].sort()).toEqual(['newest', 'tag', 'version']);
});

test('rows are appended, and a single data file is one too', async () => {
  const { folder, run } = fresh();
  const { dataset } = versions.find(
    ({ rows, choice }) => choice.version === 1 && rows.length > 2000,
  ) as {
    dataset: string;
  };
  const home = writeDataset(dataset, folder);
  expect((await run('import', home, 't', '--at', '1')).code).toBe(EXIT.ok);
  const again = await run('import', home, 't', '--at', '1', '--mode', 'append');
  expect(again.error).toContain('version 2');
  const [file] = readdirSync(join(home, 'data')) as [string];
  const single = await run('import', join(home, 'data', file), 'single');
  expect(single.error).toContain('Imported into single: version 1');
});

test('what cannot be read says so', async () => {
  const { folder, run } = fresh();
  const home = writeDataset(versions[0]?.dataset as string, folder);
  const missing = await run('import', home, 't', '--at', '99');
  expect(missing.error).toContain('has no version 99');
  expect(missing.code).not.toBe(EXIT.ok);
  const plain = join(folder, 'plain');
  mkdirSync(plain);
  expect((await run('import', plain, 't')).error).toContain(
    'no Lance dataset: it has no folder _versions',
  );
  const rows = join(folder, 'rows.ndjson');
  writeFileSync(rows, '{"n": 1}\n');
  const version = await run('import', rows, 't', '--at', '1');
  expect(version).toMatchObject({ code: EXIT.usage });
  expect(version.error).toContain('--at and --branch name a version of a Lance dataset');
  const other = join(folder, 'x.lance');
  writeFileSync(other, 'no lance');
  expect((await run('import', other, 't')).error).toContain('does not end with LANC');
});
