/** The operations of the random kills on a real catalog, and reading back all that a caller sees. */
import type { Connection } from '../../src/index.ts';
import { type Done, type Operation, type Versions, visible } from './kill-model.ts';

/** Runs an operation for real. */
export async function perform(connection: Connection, operation: Operation): Promise<Done> {
  const made = { made: true };
  if (operation.kind === 'create namespace') {
    await connection.createNamespace([operation.ns]);
    return made;
  }
  if (operation.kind === 'drop namespace') {
    await connection.dropNamespace([operation.ns], { behavior: operation.behavior });
    return made;
  }
  const [ns, name] = operation.id;
  const open = () => connection.openTable(name, [ns]);
  const data =
    'rows' in operation ? operation.rows.map((row) => ({ row, text: `row ${row}` })) : [];
  switch (operation.kind) {
    case 'create':
      await connection.createTable(name, data, [ns]);
      break;
    case 'append':
      await (await open()).add(data);
      break;
    case 'overwrite':
      await (await open()).add(data, { mode: 'overwrite' });
      break;
    case 'delete rows':
      await (await open()).delete(`row = ${operation.row}`);
      break;
    case 'update': {
      const values = { row: operation.to, text: `row ${operation.to}` };
      await (await open()).update({ values, where: `row = ${operation.row}` });
      break;
    }
    case 'compact': {
      const { version } = await optimize(connection, operation.id);
      return { made: version !== undefined };
    }
    case 'clean up':
      await connection.namespace.cleanupTable?.({
        id: [ns, name],
        // Younger than now by any clock: whatever is not the newest goes.
        older_than_millis: 0,
        orphan_grace_millis: 0,
      });
      break;
    case 'rename': {
      const [newNs, newName] = operation.to;
      await connection.renameTable(name, newName, {
        namespacePath: [ns],
        newNamespacePath: [newNs],
      });
      break;
    }
    case 'drop':
      await connection.dropTable(name, [ns]);
      break;
    case 'undrop':
      await connection.undropTable(name, [ns]);
  }
  return made;
}

async function optimize(
  connection: Connection,
  [ns, name]: readonly [string, string],
): Promise<{ readonly version?: number }> {
  const { optimizeTable } = connection.namespace;
  if (optimizeTable === undefined) throw new Error('the catalog cannot compact');
  return optimizeTable.call(connection.namespace, { id: [ns, name] });
}

/** Every version of every table; throws at anything half made. */
export async function readBack(connection: Connection): Promise<string> {
  const namespaces: Record<string, Record<string, Versions>> = {};
  for (const ns of (await connection.listNamespaces()).namespaces) {
    await connection.describeNamespace([ns]);
    const tables: Record<string, Versions> = {};
    namespaces[ns] = tables;
    for (const name of await connection.tableNames([ns])) {
      const described = await connection.describeTable(name, [ns], {
        load_detailed_metadata: true,
      });
      const table = await connection.openTable(name, [ns]);
      const versions = await table.listVersions();
      const read: (readonly number[] | undefined)[] = [];
      for (const { version } of versions) {
        while (read.length < version - 1) read.push(undefined);
        const old = await connection.openTable(name, [ns], { version });
        const rows = await old.query().toArray();
        if ((await old.countRows()) !== rows.length)
          throw new Error(`${ns} ${name} v${version} counts wrongly`);
        for (const { row, text } of rows)
          if (text !== `row ${row}`) throw new Error(`${ns} ${name} v${version}: ${row} ${text}`);
        read.push(rows.map(({ row }) => Number(row)));
      }
      if (described.version !== read.length)
        throw new Error(`${ns} ${name} is described as version ${described.version}`);
      tables[name] = read;
    }
  }
  return visible(namespaces);
}
