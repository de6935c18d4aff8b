// `statement` makes the random SELECTs of outliers.mjs over its tables f, g, h and m: joins of all kinds in
// every order, queries in place of values, groups, windows, sets, orders, texts and dates.

/** Equations between two tables of which neither gives more than a few partners. */
const EDGES = [
  ['f', 'g', 'gid', 'id'],
  ['f', 'h', 'hid', 'id'],
  ['f', 'm', 'mid', 'id'],
  ['g', 'h', 'hid', 'id'],
  ['h', 'm', 'mid', 'id'],
  ['g', 'f', 'fid', 'id'],
  ['f', 'g', 'k', 'k'],
  ['f', 'm', 'c', 'c'],
  ['g', 'm', 'c', 'c'],
  ['h', 'm', 'c', 'c'],
];
const NUMBERS = {
  f: ['id', 'k', 'x', 'mid'],
  g: ['id', 'y', 'k'],
  h: ['id', 'z', 'mid'],
  m: ['id', 'w'],
};
const TEXTS = { f: ['c', 's'], g: ['c'], h: ['name', 'c'], m: ['label', 'c'] };
const SIZES = { f: 300_000, g: 70_000, h: 10_000, m: 1_000 };
const TABLES = Object.keys(NUMBERS);

export function statement({ random, int, pick }) {
  const some = (share) => random() < share;
  /** A condition on one table with an alias. */
  const condition = (table, alias) => {
    const of = (list) => `${alias}.${pick(list)}`;
    const dated = table === 'f' || table === 'g';
    return pick([
      () => `${alias}.id < ${int(SIZES[table])}`,
      () => `${alias}.id % ${2 + int(20)} = ${int(2)}`,
      () => `${of(NUMBERS[table])} > ${int(1000)}`,
      () => `${of(NUMBERS[table])} BETWEEN ${int(20)} AND ${20 + int(800)}`,
      () => `${of(NUMBERS[table])} IS ${some(0.5) ? 'NOT ' : ''}NULL`,
      () => `${alias}.c = '${pick(['amber', 'birch', 'jade'])}-${int(100)}'`,
      () =>
        `${of(TEXTS[table])} LIKE '${pick(['a%', '%er%', '%-1_', 'de%a%', '%frost%inlet%', '%9'])}'`,
      () => `${of(TEXTS[table])} ILIKE '${pick(['%ER%', 'B%', '%JADE'])}'`,
      () =>
        `regexp_matches(${of(TEXTS[table])}, '${pick(['^[a-d].*[0-9]$', 'er|th', '(am|em)ber', '[0-9]{2}$', '^(birch|cedar)-1?2'])}')`,
      () => `${of(TEXTS[table])} IN ('amber-1', 'birch-22', 'cedar', 'delta', 'ember-99')`,
      () => `length(${of(TEXTS[table])}) > ${5 + int(12)}`,
      () => `upper(${of(TEXTS[table])}) < 'F'`,
      () => (dated ? `${alias}.d > DATE '2015-0${1 + int(9)}-01'` : `${alias}.id > 5`),
      () => (dated ? `extract(year FROM ${alias}.d) = ${2012 + int(8)}` : `${alias}.id <> 7`),
      () => `(${of(NUMBERS[table])} < 100 OR ${of(TEXTS[table])} > 'h')`,
    ])();
  };
  const value = (table, alias) =>
    pick([
      () => `${alias}.${pick(NUMBERS[table])}`,
      () => `${alias}.${pick(TEXTS[table])}`,
      () => `length(${alias}.${pick(TEXTS[table])})`,
      () => `${alias}.id % ${3 + int(50)}`,
      () => `upper(substr(${alias}.c, 1, ${1 + int(3)}))`,
      () =>
        `CASE WHEN ${condition(table, alias)} THEN 'one' WHEN ${alias}.id % 3 = 0 THEN 'two' ELSE 'three' END`,
      () => `coalesce(${alias}.${pick(TEXTS[table])}, 'none')`,
    ])();
  /** Values of few different kinds, for groups. */
  const key = (table, alias) =>
    pick([
      () => `${alias}.c`,
      () => `${alias}.id % ${3 + int(500)}`,
      () => `substr(${alias}.c, 1, ${1 + int(4)})`,
      () => `length(${alias}.${pick(TEXTS[table])})`,
      () => `split_part(${alias}.c, '-', ${1 + int(2)})`,
      () =>
        table === 'f' || table === 'g'
          ? `CAST(date_trunc('${pick(['month', 'year', 'week'])}', ${alias}.d) AS date)`
          : `${alias}.c`,
      () => (table === 'f' || table === 'g' ? `extract(year FROM ${alias}.d)` : `${alias}.c`),
      () => (table === 'f' ? `extract(hour FROM ${alias}.ts)` : `${alias}.id % 7`),
      () => (table === 'f' ? `${alias}.b` : `${alias}.id % 2 = 0`),
      () => (table === 'f' ? `strftime(${alias}.d, '%Y-%m')` : `${alias}.c`),
      () => `regexp_replace(${alias}.c, '[0-9]+', 'N')`,
      () => `CASE WHEN ${condition(table, alias)} THEN 1 ELSE 0 END`,
    ])();
  const aggregate = (table, alias) => {
    const number = `${alias}.${pick(NUMBERS[table])}`;
    const textual = `${alias}.${pick(TEXTS[table])}`;
    const call = pick([
      'count(*)',
      `count(${number})`,
      `count(DISTINCT ${number})`,
      `count(DISTINCT ${textual})`,
      `sum(${number})`,
      `avg(${number})`,
      `min(${textual})`,
      `max(${number})`,
      `stddev(${number})`,
      `median(${number})`,
      `sum(DISTINCT ${alias}.id % 100)`,
      `max(length(${textual}))`,
      `min(${number} * 2)`,
    ]);
    return some(0.2) ? `${call} FILTER (WHERE ${condition(table, alias)})` : call;
  };
  const named = (list) => list.map((item, at) => `${item} AS v${at}`).join(', ');
  const list = (most, of) => Array.from({ length: 1 + int(most) }, of);
  /** Rows in a whole order: all columns are keys. */
  const ordered = (sql, columns, group) => {
    if (some(0.5)) return { sql, inOrder: false, group };
    const keys = Array.from(
      { length: columns },
      (_, at) => `${at + 1}${some(0.3) ? ' DESC' : ''} NULLS ${some(0.5) ? 'FIRST' : 'LAST'}`,
    );
    const limit = some(0.6)
      ? ` LIMIT ${1 + int(200)}${some(0.3) ? ` OFFSET ${int(500)}` : ''}`
      : '';
    return { sql: `${sql} ORDER BY ${keys.join(', ')}${limit}`, inOrder: true, group };
  };

  /** Tables joined one after the other, and conditions that may stand in WHERE. */
  function chain(length) {
    const start = pick(TABLES);
    const used = [{ table: start, alias: 't0' }];
    const steps = [];
    while (used.length < length) {
      const edges = used.flatMap(({ table, alias }) =>
        EDGES.flatMap(([a, b, x, y]) => [
          ...(a === table ? [{ alias, table: b, ours: x, theirs: y }] : []),
          ...(b === table ? [{ alias, table: a, ours: y, theirs: x }] : []),
        ]),
      );
      const edge = pick(
        edges.filter(
          ({ table }) => used.filter((one) => one.table === table).length < (table === 'f' ? 1 : 2),
        ),
      );
      const alias = `t${used.length}`;
      used.push({ table: edge.table, alias });
      steps.push({
        table: edge.table,
        alias,
        on: `${edge.alias}.${edge.ours} = ${alias}.${edge.theirs}`,
      });
    }
    return { used, steps };
  }
  /** The FROM clause, terms for WHERE, and the tables that may be read above. */
  function from(length) {
    const { used, steps } = chain(length);
    const terms = [];
    if (some(0.25)) {
      terms.push(...steps.map(({ on }) => on));
      const tables = used.map(({ table, alias }) => `${table} ${alias}`);
      if (some(0.5)) tables.reverse();
      return { sql: tables.join(', '), terms, shown: used };
    }
    let sql = `${used[0].table} t0`;
    const shown = [used[0]];
    for (const { table, alias, on } of steps) {
      const kind = pick([
        'JOIN',
        'JOIN',
        'JOIN',
        'LEFT JOIN',
        'LEFT JOIN',
        'RIGHT JOIN',
        'FULL JOIN',
        'SEMI JOIN',
        'ANTI JOIN',
        'BEHIND',
      ]);
      const isHidden = shown.every((one) => !on.startsWith(`${one.alias}.`));
      if (isHidden) break;
      if (kind === 'BEHIND') {
        sql += ` CROSS JOIN ${table} ${alias}`;
        terms.push(on);
      } else {
        const more = some(0.25) && kind !== 'FULL JOIN' ? ` AND ${condition(table, alias)}` : '';
        sql += ` ${kind} ${table} ${alias} ON ${on}${more}`;
      }
      if (kind !== 'SEMI JOIN' && kind !== 'ANTI JOIN') shown.push({ table, alias });
    }
    return { sql, terms, shown };
  }
  const where = (terms) => (terms.length === 0 ? '' : ` WHERE ${terms.join(' AND ')}`);

  const joins = (length = 2 + int(3)) => {
    const { sql, terms, shown } = from(length);
    while (some(0.5)) {
      const { table, alias } = pick(shown);
      terms.push(condition(table, alias));
    }
    const any = () => pick(shown);
    const of = (make) => {
      const { table, alias } = any();
      return make(table, alias);
    };
    if (some(0.6)) {
      const keys = some(0.2) ? [] : list(2, () => of(key));
      const calls = list(3, () => of(aggregate));
      const by = keys.length === 0 ? '' : ` GROUP BY ${keys.map((_, at) => at + 1).join(', ')}`;
      const having = keys.length > 0 && some(0.2) ? ' HAVING count(*) > 3' : '';
      return ordered(
        `SELECT ${named([...keys, ...calls])} FROM ${sql}${where(terms)}${by}${having}`,
        keys.length + calls.length,
        `join ${length} grouped`,
      );
    }
    const items = list(4, () => of(value));
    const distinct = some(0.2) ? 'DISTINCT ' : '';
    return ordered(
      `SELECT ${distinct}${named(items)} FROM ${sql}${where(terms)}`,
      items.length,
      `join ${length} rows`,
    );
  };

  const subqueries = () => {
    const edge = pick(EDGES);
    const [a, b, x, y] = some(0.5) ? edge : [edge[1], edge[0], edge[3], edge[2]];
    const not = some(0.4) ? 'NOT ' : '';
    const inner = some(0.5) ? ` AND ${condition(b, 'i')}` : '';
    const term = pick([
      () => `o.${x} ${not}IN (SELECT i.${y} FROM ${b} i WHERE i.${y} IS NOT NULL${inner})`,
      () => `o.${x} ${not}IN (SELECT i.${y} FROM ${b} i WHERE ${condition(b, 'i')})`,
      () => `${not}EXISTS (SELECT 1 FROM ${b} i WHERE i.${y} = o.${x}${inner})`,
      () =>
        `o.id > (SELECT ${pick(['avg', 'min', 'median'])}(i.id) FROM ${b} i${some(0.5) ? ` WHERE i.${y} = o.${x}` : ''})`,
      () =>
        `(SELECT count(*) FROM ${b} i WHERE i.${y} = o.${x}${inner}) ${pick(['> 1', '= 0', '>= 2'])}`,
      () =>
        `o.id ${pick(['<', '>='])} ${pick(['ALL', 'ANY'])} (SELECT i.id FROM ${b} i WHERE ${condition(b, 'i')})`,
      () =>
        `(${not}EXISTS (SELECT 1 FROM ${b} i WHERE i.${y} = o.${x}${inner}) OR ${condition(a, 'o')})`,
    ])();
    const more = some(0.5) ? ` AND ${condition(a, 'o')}` : '';
    if (some(0.5)) {
      const keys = list(1, () => key(a, 'o'));
      const calls = list(2, () => aggregate(a, 'o'));
      return ordered(
        `SELECT ${named([...keys, ...calls])} FROM ${a} o WHERE ${term}${more} GROUP BY 1`,
        1 + calls.length,
        'sub-select grouped',
      );
    }
    const items = list(3, () => value(a, 'o'));
    if (some(0.2)) items.push(`(SELECT max(i.id) FROM ${b} i WHERE i.${y} = o.${x})`);
    return ordered(
      `SELECT ${named(items)} FROM ${a} o WHERE ${term}${more}`,
      items.length,
      'sub-select rows',
    );
  };

  const groups = () => {
    const table = pick(['f', 'f', 'g', 'h']);
    const keys = list(3, () => key(table, 't'));
    const calls = list(4, () => aggregate(table, 't'));
    const condition1 = some(0.5) ? ` WHERE ${condition(table, 't')}` : '';
    const having = some(0.2)
      ? ` HAVING ${aggregate(table, 't').replace(/min\(t\.[a-z]+\)/, 'count(*)')} IS NOT NULL`
      : '';
    return ordered(
      `SELECT ${named([...keys, ...calls])} FROM ${table} t${condition1} GROUP BY ${keys.map((_, at) => at + 1).join(', ')}${having}`,
      keys.length + calls.length,
      'groups',
    );
  };

  const windows = () => {
    const table = pick(['f', 'g', 'g', 'h']);
    const number = () => `t.${pick(NUMBERS[table])}`;
    const call = () => {
      const by = some(0.8) ? `PARTITION BY ${key(table, 't')} ` : '';
      const order = `ORDER BY ${some(0.5) ? `t.c${some(0.5) ? ' DESC NULLS LAST' : ''}, ` : ''}t.id`;
      return pick([
        `row_number() OVER (${by}${order})`,
        `rank() OVER (${by}ORDER BY t.c)`,
        `lag(${number()}) OVER (${by}${order})`,
        `sum(t.id) OVER (${by}${order})`,
        `avg(t.id) OVER (${by}${order} ROWS BETWEEN ${int(20)} PRECEDING AND ${int(5)} FOLLOWING)`,
        `count(*) OVER (${by.trim()})`,
        `max(${number()}) OVER (${by.trim()})`,
        `first_value(${number()}) OVER (${by}${order})`,
        `ntile(4) OVER (${by}${order})`,
        `min(t.c) OVER (${by}${order})`,
      ]);
    };
    const where1 = some(0.4) ? ` WHERE ${condition(table, 't')}` : '';
    if (some(0.3)) {
      return ordered(
        `SELECT t.id, t.c FROM ${table} t${where1} QUALIFY row_number() OVER (PARTITION BY ${key(table, 't')} ORDER BY t.id DESC) <= ${1 + int(3)}`,
        2,
        'windows',
      );
    }
    const calls = list(3, call);
    if (some(0.4)) {
      return ordered(
        `SELECT ${named(['v0 % 10', 'count(*)'])} FROM (SELECT ${named(calls)} FROM ${table} t${where1}) q GROUP BY 1`.replace(
          'v0 % 10 AS v0',
          'q.v0 IS NULL AS w0',
        ),
        2,
        'windows',
      );
    }
    return ordered(
      `SELECT t.id, ${named(calls)} FROM ${table} t${where1}`,
      1 + calls.length,
      'windows',
    );
  };

  const sets = () => {
    const arm = () => {
      const table = pick(TABLES);
      return pick([
        () => `SELECT t.id AS v0, t.c AS v1 FROM ${table} t WHERE ${condition(table, 't')}`,
        () => `SELECT t.id % ${100 + int(1000)} AS v0, t.c AS v1 FROM ${table} t`,
        () => `SELECT count(*) AS v0, t.c AS v1 FROM ${table} t GROUP BY t.c`,
      ])();
    };
    const word = () => pick(['UNION', 'UNION ALL', 'EXCEPT', 'INTERSECT', 'UNION']);
    const sql = `${arm()} ${word()} ${arm()}${some(0.3) ? ` ${word()} ${arm()}` : ''}`;
    if (some(0.4))
      return ordered(`SELECT v1, count(*), sum(v0) FROM (${sql}) q GROUP BY v1`, 3, 'sets');
    return ordered(sql, 2, 'sets');
  };

  const common = () => {
    const [a, b, x, y] = pick(EDGES);
    return pick([
      () =>
        ordered(
          `WITH q AS (SELECT ${y} AS k, count(*) AS n, max(id) AS top FROM ${b} GROUP BY ${y}) SELECT t.c, sum(q.n) AS n, max(q.top) AS top FROM ${a} t ${pick(['JOIN', 'LEFT JOIN'])} q ON t.${x} = q.k WHERE ${condition(a, 't')} GROUP BY t.c`,
          3,
          'CTE',
        ),
      () =>
        ordered(
          `WITH q AS (SELECT * FROM ${a} t WHERE ${condition(a, 't')}), r AS (SELECT c, count(*) AS n FROM q GROUP BY c) SELECT q.id, r.n FROM q JOIN r ON q.c = r.c WHERE r.n > ${1 + int(5)}`,
          2,
          'CTE',
        ),
      () =>
        ordered(
          `WITH q AS (SELECT c, avg(id) AS mean FROM ${a} GROUP BY c) SELECT t.id, t.id - q.mean AS above FROM ${a} t, q WHERE q.c = t.c AND t.id > q.mean AND ${condition(a, 't')}`,
          2,
          'CTE',
        ),
      () =>
        ordered(
          `SELECT q.c, count(*) AS n, min(i.id) AS least FROM (SELECT DISTINCT c, ${x} AS k FROM ${a}) q LEFT JOIN ${b} i ON q.k = i.${y} AND i.id % 3 = 1 GROUP BY q.c`,
          3,
          'CTE',
        ),
      () =>
        ordered(
          `SELECT t.c, t.id FROM ${a} t JOIN (SELECT c, max(id) AS id FROM ${a} GROUP BY c) q ON t.c = q.c AND t.id = q.id`,
          2,
          'CTE',
        ),
      () =>
        ordered(
          `WITH q AS (SELECT id, row_number() OVER (PARTITION BY c ORDER BY id DESC) AS n, ${x} AS k FROM ${a}) SELECT q.k, count(*) AS n, max(i.id) AS most FROM q LEFT JOIN ${b} i ON i.${y} = q.k WHERE q.n <= ${1 + int(50)} GROUP BY q.k`,
          3,
          'CTE',
        ),
    ])();
  };

  const plain = () => {
    const table = pick(['f', 'f', 'g', 'h']);
    const items = list(4, () => value(table, 't'));
    const terms = list(3, () => condition(table, 't'));
    const distinct = some(0.2) ? 'DISTINCT ' : '';
    if (some(0.1))
      terms.push(pick(['1 = 0', `t.id = 1 AND t.id = 2`, `t.c = 'x' AND t.c = 'y'`, 'NULL']));
    return ordered(
      `SELECT ${distinct}${named(items)} FROM ${table} t${where(terms)}`,
      items.length,
      'rows',
    );
  };
  return pick([
    joins,
    joins,
    joins,
    joins,
    subqueries,
    subqueries,
    groups,
    windows,
    sets,
    common,
    common,
    plain,
  ])();
}
