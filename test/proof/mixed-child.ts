/** Changes one table in all ways, and says which version each change made and what it was. */
import { connect, isDirspaceError } from '../../src/index.ts';
import { seeded } from '../helpers/seeded.ts';
import { message, say } from './child-process.ts';
import { type Change, MIXED, type MixedLine, type MixedTask } from './mixed-writers.ts';

const tell = (line: MixedLine): void => say(line);

tell({ ready: true });
const { root, writer, changes, seed } = await message<MixedTask>();
const random = seeded(seed);
const connection = await connect(root, { durability: 'relaxed' });
const table = await connection.openTable('t');
for (let n = 0; n < changes; n++) {
  const kind = MIXED[Math.floor(random() * MIXED.length)] as Change['kind'];
  const row = writer * 1_000_000 + n;
  // Few groups, so that changes of several writers meet in one.
  const group = Math.floor(random() * 5);
  const change: Change = { kind, row, group };
  try {
    tell({ change, version: await make(change) });
  } catch (error) {
    const clash = isDirspaceError(error, 'ConcurrentModification');
    tell({ change, ...(clash ? { clash: true } : { error: String((error as Error).stack) }) });
  }
}
await connection.close();

/** The version that the change made; undefined when it had nothing to change. */
async function make({ kind, row, group }: Change): Promise<number | undefined> {
  switch (kind) {
    case 'append':
      return (await table.add([{ row, grp: group }])).version;
    case 'overwrite':
      return (await table.add([{ row, grp: group }], { mode: 'overwrite' })).version;
    case 'delete': {
      const { version, numDeletedRows } = await table.delete(`grp = ${group}`);
      return numDeletedRows === 0 ? undefined : version;
    }
    case 'update': {
      const values = { row: String(row), grp: 'grp + 1' };
      const where = `grp = ${group}`;
      const { version, rowsUpdated } = await table.update({ valuesSql: values, where });
      return rowsUpdated === 0 ? undefined : version;
    }
    case 'compact': {
      const { optimizeTable } = connection.namespace;
      const done = await optimizeTable?.call(connection.namespace, { id: ['t'] });
      return done?.version;
    }
  }
}
