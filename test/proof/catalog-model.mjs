/** What a catalog should hold, as plain JSON, and the operations that the kill proof runs on it. */

/**
 * state: {namespaces: {name: {table: [rows of version 1, rows of version 2, ...]}},
 *         trash: [[namespace, table, versions], ...], next: number}
 */
export const emptyState = () => ({ namespaces: {}, trash: [], next: 1 });

const NAMESPACES = ['a', 'b', 'c'];
const TABLES = ['t', 'u', 'v'];
/** Tables are replaced before their history grows long. */
const MOST_VERSIONS = 12;

const pick = (random, list) => list[Math.floor(random() * list.length)];

/** The next operation: always one that can succeed. */
export function choose(random, state) {
  const namespaces = Object.keys(state.namespaces);
  const tables = namespaces.flatMap((ns) =>
    Object.keys(state.namespaces[ns]).map((name) => [ns, name]),
  );
  const free = namespaces.flatMap((ns) =>
    TABLES.filter((name) => state.namespaces[ns][name] === undefined).map((name) => [ns, name]),
  );
  const undroppable = state.trash.filter(([ns, name]) =>
    free.some(([freeNs, freeName]) => freeNs === ns && freeName === name),
  );
  for (;;) {
    const kind = pick(random, KINDS);
    const table = pick(random, tables);
    const place = pick(random, free);
    switch (kind) {
      case 'create namespace': {
        const ns = pick(random, NAMESPACES);
        if (state.namespaces[ns] === undefined) return { kind, ns };
        break;
      }
      case 'drop namespace': {
        const ns = pick(random, namespaces);
        if (ns === undefined || namespaces.length < 2) break;
        const empty = Object.keys(state.namespaces[ns]).length === 0;
        return { kind, ns, behavior: empty ? 'restrict' : 'cascade' };
      }
      case 'create':
        if (place !== undefined)
          return { kind, id: place, rows: fresh(state, 1 + Math.floor(random() * 3)) };
        break;
      case 'append':
      case 'overwrite':
        if (table === undefined || versionsOf(state, table).length >= MOST_VERSIONS) break;
        return { kind, id: table, rows: fresh(state, 1 + Math.floor(random() * 3)) };
      case 'delete rows': {
        if (table === undefined || versionsOf(state, table).length >= MOST_VERSIONS) break;
        const rows = versionsOf(state, table).at(-1);
        if (rows.length > 0) return { kind, id: table, row: pick(random, rows) };
        break;
      }
      case 'rename':
        if (table !== undefined && place !== undefined) return { kind, id: table, to: place };
        break;
      case 'drop':
        if (table !== undefined) return { kind, id: table };
        break;
      default: {
        const found = pick(random, undroppable);
        if (found !== undefined) return { kind: 'undrop', id: found.slice(0, 2) };
      }
    }
  }
}

const KINDS = [
  ...['create namespace', 'drop namespace', 'create', 'create', 'append', 'append', 'append'],
  ...['overwrite', 'delete rows', 'rename', 'drop', 'undrop'],
];

const fresh = (state, count) => Array.from({ length: count }, (_, at) => state.next + at);
const versionsOf = (state, [ns, name]) => state.namespaces[ns][name];

/** The state after an operation. */
export function applied(before, operation) {
  const state = structuredClone(before);
  const { kind, id, rows } = operation;
  const tables = id === undefined ? undefined : state.namespaces[id[0]];
  const name = id?.[1];
  if (rows !== undefined) state.next += rows.length;
  switch (kind) {
    case 'create namespace':
      state.namespaces[operation.ns] = {};
      break;
    case 'drop namespace':
      for (const [table, versions] of Object.entries(state.namespaces[operation.ns]))
        state.trash.push([operation.ns, table, versions]);
      delete state.namespaces[operation.ns];
      break;
    case 'create':
      tables[name] = [rows];
      break;
    case 'append':
      tables[name].push([...tables[name].at(-1), ...rows]);
      break;
    case 'overwrite':
      tables[name].push(rows);
      break;
    case 'delete rows':
      tables[name].push(tables[name].at(-1).filter((row) => row !== operation.row));
      break;
    case 'rename':
      state.namespaces[operation.to[0]][operation.to[1]] = tables[name];
      delete tables[name];
      break;
    case 'drop':
      state.trash.push([...id, tables[name]]);
      delete tables[name];
      break;
    default: {
      const at = state.trash.findLastIndex(([ns, table]) => ns === id[0] && table === name);
      tables[name] = state.trash[at][2];
      state.trash.splice(at, 1);
    }
  }
  return state;
}

/** What a caller sees of it, in one order, so that two of them compare as text. */
export const visible = (state) =>
  JSON.stringify(
    Object.keys(state.namespaces)
      .sort()
      .map((ns) => [
        ns,
        Object.keys(state.namespaces[ns])
          .sort()
          .map((name) => [name, state.namespaces[ns][name]]),
      ]),
  );

/** Runs an operation for real. */
export async function perform(connection, operation) {
  const { kind, id, rows } = operation;
  const data = rows?.map((row) => ({ row, text: `row ${row}` }));
  const open = () => connection.openTable(id[1], [id[0]]);
  switch (kind) {
    case 'create namespace':
      return connection.createNamespace([operation.ns]);
    case 'drop namespace':
      return connection.dropNamespace([operation.ns], { behavior: operation.behavior });
    case 'create':
      return connection.createTable(id[1], data, [id[0]]);
    case 'append':
      return (await open()).add(data);
    case 'overwrite':
      return (await open()).add(data, { mode: 'overwrite' });
    case 'delete rows': {
      const table = await open();
      const found = await table.query().select(['row']).withRowId().toArray();
      const { _rowid } = found.find(({ row }) => row === operation.row);
      return table.deleteRows([_rowid]);
    }
    case 'rename':
      return connection.renameTable(id[1], operation.to[1], {
        namespacePath: [id[0]],
        newNamespacePath: [operation.to[0]],
      });
    case 'drop':
      return connection.dropTable(id[1], [id[0]]);
    default:
      return connection.undropTable(id[1], [id[0]]);
  }
}

/** Reads all a caller can see, every version of every table; throws at anything half made. */
export async function readBack(connection) {
  const namespaces = {};
  for (const ns of (await connection.listNamespaces()).namespaces) {
    await connection.describeNamespace([ns]);
    namespaces[ns] = {};
    for (const name of await connection.tableNames([ns])) {
      const described = await connection.describeTable(name, [ns], {
        load_detailed_metadata: true,
      });
      const table = await connection.openTable(name, [ns]);
      const versions = await table.listVersions();
      const read = [];
      for (const [at, { version }] of versions.entries()) {
        if (version !== at + 1)
          throw new Error(`${ns} ${name} lists ${version} as its ${at + 1}th`);
        const old = await connection.openTable(name, [ns], { version });
        const rows = await old.query().toArray();
        if ((await old.countRows()) !== rows.length)
          throw new Error(`${ns} ${name} v${version} counts wrongly`);
        for (const { row, text } of rows)
          if (text !== `row ${row}`) throw new Error(`${ns} ${name} v${version}: ${row} ${text}`);
        read.push(rows.map(({ row }) => row));
      }
      if (described.version !== versions.length)
        throw new Error(`${ns} ${name} is described as version ${described.version}`);
      namespaces[ns][name] = read;
    }
  }
  return visible({ namespaces });
}
