// `statement` makes further random SELECTs for outliers.mjs: queries in place of values in SELECT and HAVING, queries
// of WITH named twice, the first rows of joins, frames of windows, grouping sets, keys of CASE and of regular
// expressions, dates with intervals, decimals, and sets in order.

const NUMBERS = { f: ['id', 'k', 'x', 'mid'], g: ['id', 'y', 'k'], h: ['id', 'z'], m: ['id', 'w'] };
const LINKS = [
  ['f', 'g', 'gid', 'id'],
  ['f', 'h', 'hid', 'id'],
  ['f', 'm', 'mid', 'id'],
  ['g', 'h', 'hid', 'id'],
  ['h', 'm', 'mid', 'id'],
  ['g', 'f', 'id', 'gid'],
  ['h', 'g', 'id', 'hid'],
  ['m', 'h', 'id', 'mid'],
  ['h', 'f', 'id', 'hid'],
  ['g', 'm', 'c', 'c'],
];

export function statement({ random, int, pick }) {
  const some = (share) => random() < share;
  const list = (most, of) => Array.from({ length: 1 + int(most) }, of);
  const named = (items) => items.map((item, at) => `${item} AS v${at}`).join(', ');
  const numbers = (count) => Array.from({ length: count }, (_, at) => at + 1);
  const ordered = (sql, columns, group, always = false) => {
    if (!always && some(0.6)) return { sql, inOrder: false, group };
    const keys = numbers(columns).map(
      (at) => `${at}${some(0.3) ? ' DESC' : ''} NULLS ${some(0.5) ? 'FIRST' : 'LAST'}`,
    );
    const limit = always || some(0.6) ? ` LIMIT ${1 + int(100)}` : '';
    return { sql: `${sql} ORDER BY ${keys.join(', ')}${limit}`, inOrder: true, group };
  };
  const hasDate = (table) => table === 'f' || table === 'g';
  const number = (table, alias) => `${alias}.${pick(NUMBERS[table])}`;
  const price = (table, alias) =>
    `CAST(${alias}.${table === 'f' ? 'x' : table === 'h' ? 'z' : 'id'} AS decimal(12, 2))`;
  const day = () =>
    `DATE '20${12 + int(8)}-${1 + int(9)}-${10 + int(18)}'`.replace(/-(\d)-/, '-0$1-');
  const condition = (table, alias) =>
    pick([
      () => `${number(table, alias)} % ${2 + int(9)} < ${1 + int(3)}`,
      () => `${alias}.c SIMILAR TO '(amber|birch|jade)-[0-9]+'`,
      () => `${alias}.c ~ '^[a-e].*[05]$'`,
      () => `${price(table, alias)} > ${int(900)}.${int(10)}`,
      () => `starts_with(${alias}.c, '${pick(['am', 'be', 'fr'])}')`,
      () => `${alias}.c BETWEEN 'cedar' AND 'frost-5'`,
      () => `(${alias}.c, ${alias}.id % 3) IN (('amber-1', 1), ('birch-7', 2), ('jade-11', 0))`,
      () => `NOT (${alias}.id > ${int(1000)} AND ${alias}.c < 'h')`,
      () => `${alias}.id IS DISTINCT FROM ${int(500)}`,
      () =>
        hasDate(table)
          ? `${alias}.d >= ${day()} - INTERVAL '${1 + int(6)} months'`
          : `${alias}.id > 3`,
      () =>
        hasDate(table)
          ? `${alias}.d + INTERVAL '${1 + int(60)} days' < ${day()}`
          : `${alias}.id > 3`,
      () =>
        table === 'f'
          ? `${alias}.ts - INTERVAL '36 hours' > TIMESTAMP '2014-03-05 06:07:08'`
          : `${alias}.id > 3`,
      () => `coalesce(nullif(${alias}.c, 'jade-3'), 'none') <> 'none'`,
    ])();
  const key = (table, alias) =>
    pick([
      () =>
        `CASE WHEN ${condition(table, alias)} THEN 'a' WHEN ${condition(table, alias)} THEN 'b' END`,
      () =>
        `CASE ${alias}.id % 5 WHEN 0 THEN 'zero' WHEN 1 THEN ${alias}.c ELSE substr(${alias}.c, 1, 2) END`,
      () => `regexp_extract(${alias}.c, '([a-z]+)-([0-9])', ${1 + int(2)})`,
      () => `regexp_replace(${alias}.c, '([aeiou])', '<\\1>', 'g')`,
      () => `regexp_matches(${alias}.c, '(er|ro).*[1-4]$')`,
      () => `left(${alias}.c, 3) || '/' || right(${alias}.c, 1)`,
      () => `replace(${alias}.c, '-', '_')`,
      () => `reverse(${alias}.c)`,
      () => `upper(${alias}.c)`,
      () => `floor(${number(table, alias)} / ${10 + int(90)})`,
      () => `round(${price(table, alias)}, ${int(2)})`,
      () => `CAST(${price(table, alias)} AS decimal(10, 0))`,
      () => `CAST(${alias}.id % 100 AS varchar)`,
      () => `(${alias}.id * 7919) % 97`,
      () =>
        hasDate(table)
          ? `date_part('${pick(['quarter', 'dow', 'doy', 'month', 'week'])}', ${alias}.d)`
          : `${alias}.c`,
      () =>
        hasDate(table)
          ? `${pick(['year', 'month', 'quarter', 'dayofweek', 'weekofyear'])}(${alias}.d)`
          : `${alias}.c`,
      () =>
        hasDate(table)
          ? `CAST(date_trunc('${pick(['month', 'quarter', 'year'])}', ${alias}.d) AS date)`
          : `${alias}.c`,
      () => (hasDate(table) ? `date_diff('month', ${alias}.d, ${day()})` : `${alias}.c`),
      () =>
        table === 'f'
          ? `CAST(date_trunc('day', ${alias}.ts + INTERVAL '90 minutes') AS date)`
          : `${alias}.c`,
      () => (table === 'f' ? `(${alias}.b AND ${alias}.x > 500)` : `length(${alias}.c)`),
    ])();
  const aggregate = (table, alias) => {
    const n = number(table, alias);
    return pick([
      () => `sum(${price(table, alias)})`,
      () => `avg(${price(table, alias)})`,
      () => `sum(CASE WHEN ${condition(table, alias)} THEN ${n} ELSE 0 END)`,
      () => `count(CASE WHEN ${condition(table, alias)} THEN 1 END)`,
      () => `median(${n})`,
      () => `quantile_cont(${n}, 0.${1 + int(9)})`,
      () => `quantile_disc(${n}, 0.${1 + int(9)})`,
      () => `quantile_disc(${n}, [0.1, 0.5, 0.9])`,
      () => `quantile_cont(${n}, [0.25, 0.75])`,
      () => `quantile_disc(${hasDate(table) ? `${alias}.d` : `${alias}.c`}, 0.5)`,
      () =>
        hasDate(table)
          ? `date_part('year', max(${alias}.d)) - date_part('year', min(${alias}.d))`
          : `max(${alias}.c)`,
      () => `max(${alias}.c || '!')`,
      () => `string_agg(DISTINCT substr(${alias}.c, 1, 1), ',' ORDER BY substr(${alias}.c, 1, 1))`,
      () => `arg_max(${alias}.c, ${alias}.id)`,
      () => `arg_min(${alias}.id, ${alias}.id) FILTER (WHERE ${condition(table, alias)})`,
      () => `bool_or(${condition(table, alias)})`,
      () => `stddev_pop(${n})`,
      () => `var_samp(${alias}.id)`,
      () => `count(DISTINCT (${alias}.id % 13) || ${alias}.c)`,
      () => `count(DISTINCT ${key(table, alias)})`,
      () => `corr(${alias}.id, ${n})`,
      () => `bit_xor(${alias}.id)`,
      () => `sum(${n}) FILTER (WHERE ${condition(table, alias)})`,
      () => `max(abs(${n} - 50))`,
    ])();
  };

  const scalarInSelect = () => {
    const [a, b, x, y] = pick(LINKS);
    const value = () =>
      pick([
        `(SELECT count(*) FROM ${b} i WHERE i.${y} = o.${x})`,
        `(SELECT max(i.id) FROM ${b} i WHERE i.${y} = o.${x} AND ${condition(b, 'i')})`,
        `(SELECT sum(${number(b, 'i')}) FROM ${b} i WHERE i.${y} = o.${x})`,
        `coalesce((SELECT min(i.c) FROM ${b} i WHERE i.${y} = o.${x}), 'nothing')`,
        `(SELECT i.id FROM ${b} i WHERE i.${y} = o.${x} ORDER BY i.id DESC LIMIT 1)`,
        `CASE WHEN EXISTS (SELECT 1 FROM ${b} i WHERE i.${y} = o.${x} AND ${condition(b, 'i')}) THEN 1 ELSE 0 END`,
        `(o.${x} IN (SELECT i.${y} FROM ${b} i WHERE ${condition(b, 'i')}))`,
        `o.id - (SELECT avg(i.id) FROM ${b} i)`,
      ]);
    if (some(0.5)) {
      const items = ['o.id', ...list(2, value)];
      return ordered(
        `SELECT ${named(items)} FROM ${a} o${some(0.5) ? ` WHERE ${condition(a, 'o')}` : ''}`,
        items.length,
        'scalar in SELECT',
      );
    }
    const items = ['o.c', `count(${value()})`, 'count(*)'];
    return ordered(`SELECT ${named(items)} FROM ${a} o GROUP BY 1`, 3, 'scalar in aggregate');
  };

  const scalarInHaving = () => {
    const [a, b, x, y] = pick(LINKS);
    return ordered(
      pick([
        () =>
          `SELECT o.${x} AS k, count(*) AS n FROM ${a} o GROUP BY o.${x} HAVING count(*) > (SELECT avg(n) FROM (SELECT count(*) AS n FROM ${a} GROUP BY ${x}) q)`,
        () =>
          `SELECT o.${x} AS k, count(*) AS n FROM ${a} o GROUP BY o.${x} HAVING count(*) >= (SELECT count(*) FROM ${b} i WHERE i.${y} = o.${x})`,
        () =>
          `SELECT o.c AS k, max(o.id) AS n FROM ${a} o GROUP BY o.c HAVING EXISTS (SELECT 1 FROM ${b} i WHERE i.c = o.c AND ${condition(b, 'i')})`,
        () =>
          `SELECT o.c AS k, min(o.id) AS n FROM ${a} o GROUP BY o.c HAVING max(o.id) NOT IN (SELECT i.id FROM ${b} i WHERE ${condition(b, 'i')})`,
      ])(),
      2,
      'scalar in HAVING',
    );
  };

  const twice = () => {
    const [a, b, x, y] = pick(LINKS);
    return ordered(
      pick([
        () =>
          `WITH q AS (SELECT c, count(*) AS n, sum(id) AS s FROM ${a} GROUP BY c), r AS (SELECT max(n) AS most, avg(s) AS mean FROM q) SELECT q.c, q.n - r.most AS v, q.s > r.mean AS w FROM q, r`,
        () =>
          `WITH q AS (SELECT ${key(a, 't')} AS k, count(*) AS n FROM ${a} t GROUP BY 1) SELECT a.k, a.n, b.n AS m FROM q a JOIN q b ON a.k < b.k AND a.n = b.n + 1`,
        () =>
          `WITH q AS (SELECT ${x} AS k, id FROM ${a} WHERE ${condition(a, a)}), r AS (SELECT q.k, count(*) AS n FROM q JOIN ${b} i ON i.${y} = q.k GROUP BY q.k) SELECT r.k, r.n, count(q.id) AS m FROM r JOIN q ON q.k = r.k GROUP BY r.k, r.n`,
        () =>
          `WITH q AS (SELECT c, id FROM ${a} WHERE id < 20000), r AS (SELECT c, id FROM q WHERE id % 2 = 0) SELECT q.c, count(r.id) AS n, count(DISTINCT q.id) AS m FROM q LEFT JOIN r ON r.id = q.id + 1 GROUP BY q.c`,
      ])(),
      3,
      'WITH twice',
    );
  };

  const frames = () => {
    const table = pick(['f', 'g', 'h']);
    const by = some(0.7) ? `PARTITION BY ${pick(['t.c', 'substr(t.c, 1, 2)', 't.id % 50'])} ` : '';
    const rows = () =>
      pick([
        `ROWS BETWEEN ${int(200)} PRECEDING AND CURRENT ROW`,
        `ROWS BETWEEN ${int(9)} PRECEDING AND ${int(900)} FOLLOWING`,
        'ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING',
        `ROWS BETWEEN UNBOUNDED PRECEDING AND ${1 + int(5)} PRECEDING`,
      ]);
    const call = () =>
      pick([
        () =>
          `${pick(['sum', 'avg', 'min', 'max', 'count'])}(t.id) OVER (${by}ORDER BY t.id ${rows()})`,
        () => `${pick(['min', 'max'])}(t.c) OVER (${by}ORDER BY t.id ${rows()})`,
        () => `${pick(['first_value', 'last_value'])}(t.c) OVER (${by}ORDER BY t.id ${rows()})`,
        () =>
          `sum(t.id) OVER (${by}ORDER BY t.id RANGE BETWEEN ${int(2000)} PRECEDING AND ${int(10)} FOLLOWING)`,
        () =>
          hasDate(table)
            ? `count(*) OVER (${by}ORDER BY t.d RANGE BETWEEN INTERVAL '${1 + int(30)} days' PRECEDING AND CURRENT ROW)`
            : `count(*) OVER (${by}ORDER BY t.id RANGE BETWEEN 5 PRECEDING AND 5 FOLLOWING)`,
        () => `median(t.id) OVER (${by.trim()})`,
        () => `count(DISTINCT t.c) OVER (${by.trim()})`,
        () => `sum(${price(table, 't')}) OVER (${by}ORDER BY t.id)`,
        () => `lag(t.c, ${1 + int(3)}, 'none') OVER (${by}ORDER BY t.id)`,
        () => `nth_value(t.id, ${1 + int(4)}) OVER (${by}ORDER BY t.id)`,
        () => `dense_rank() OVER (${by}ORDER BY ${key(table, 't')})`,
        () => `t.id - lag(t.id) OVER (${by}ORDER BY t.id)`,
        () => `percent_rank() OVER (${by}ORDER BY t.id % 100)`,
      ])();
    const calls = list(2, call);
    return ordered(
      `SELECT t.id, ${named(calls)} FROM ${table} t${some(0.4) ? ` WHERE ${condition(table, 't')}` : ''}`,
      1 + calls.length,
      'frames',
    );
  };

  const groupedWindows = () => {
    const table = pick(['f', 'g', 'h']);
    return ordered(
      pick([
        () =>
          `SELECT t.c AS k, count(*) AS n, rank() OVER (ORDER BY count(*) DESC, t.c) AS r FROM ${table} t GROUP BY t.c`,
        () =>
          `SELECT ${key(table, 't')} AS k, sum(count(*)) OVER () AS n, count(*) AS m FROM ${table} t GROUP BY 1`,
        () =>
          `SELECT t.c AS k, sum(t.id) * 100.0 / sum(sum(t.id)) OVER () AS n, count(*) AS m FROM ${table} t GROUP BY t.c`,
        () =>
          `SELECT substr(t.c, 1, 1) AS k, t.c AS n, row_number() OVER (PARTITION BY substr(t.c, 1, 1) ORDER BY count(*) DESC, t.c) AS m FROM ${table} t GROUP BY 1, 2 QUALIFY m <= 3`,
      ])(),
      3,
      'grouped windows',
    );
  };

  const groupingSets = () => {
    const table = pick(['f', 'g', 'h']);
    const keys = [`substr(t.c, 1, 1)`, 't.id % 7', key(table, 't')].slice(0, 2 + int(2));
    const calls = list(2, () => aggregate(table, 't'));
    const grouping = some(0.3) ? [`grouping(${keys[0]})`] : [];
    const by = pick([
      `ROLLUP (${keys.join(', ')})`,
      `CUBE (${keys.join(', ')})`,
      `GROUPING SETS ((${keys.join(', ')}), (${keys[1]}), ())`,
      `GROUPING SETS (${keys.join(', ')})`,
      `${keys[0]}, ROLLUP (${keys.slice(1).join(', ')})`,
    ]);
    const items = [...keys, ...calls, ...grouping];
    return ordered(
      `SELECT ${named(items)} FROM ${table} t GROUP BY ${by}`,
      items.length,
      'grouping sets',
    );
  };

  const sets = () => {
    const arm = () => {
      const table = pick(['f', 'g', 'h', 'm']);
      return pick([
        () => `SELECT c AS k, id % 100 AS n FROM ${table} t WHERE ${condition(table, 't')}`,
        () => `SELECT c AS k, count(*) AS n FROM ${table} GROUP BY c HAVING count(*) > 1`,
        () => `(SELECT c AS k, id AS n FROM ${table} t ORDER BY id DESC LIMIT ${1 + int(500)})`,
        () =>
          `SELECT CASE WHEN ${key(table, 't')} IS NULL THEN 'none' ELSE c END AS k, id % 11 AS n FROM ${table} t`,
      ])();
    };
    const word = () =>
      pick(['UNION', 'UNION ALL', 'EXCEPT', 'INTERSECT', 'EXCEPT ALL', 'INTERSECT ALL']);
    return ordered(
      `${arm()} ${word()} ${arm()}${some(0.3) ? ` ${word()} ${arm()}` : ''}`,
      2,
      'sets',
      some(0.5),
    );
  };

  const topOfJoins = () => {
    const [a, b, x, y] = pick(LINKS);
    const kind = pick(['JOIN', 'LEFT JOIN', 'JOIN']);
    const more = some(0.5) ? ` WHERE ${condition(a, 'o')}` : '';
    const columns = [pick(['o.c', 'i.c', key(b, 'i')]), 'o.id', 'i.id'];
    return ordered(
      `SELECT ${named(columns)} FROM ${a} o ${kind} ${b} i ON i.${y} = o.${x}${more}`,
      3,
      'top of joins',
      true,
    );
  };

  const lateral = () => {
    const [a, b, x, y] = pick(LINKS);
    return ordered(
      pick([
        () =>
          `SELECT o.id, q.n FROM ${a} o, LATERAL (SELECT count(*) AS n FROM ${b} i WHERE i.${y} = o.${x}) q`,
        () =>
          `SELECT o.id, q.n FROM ${a} o LEFT JOIN LATERAL (SELECT i.id AS n FROM ${b} i WHERE i.${y} = o.${x} ORDER BY i.id LIMIT 2) q ON true`,
      ])(),
      2,
      'lateral',
    );
  };

  const oddJoins = () => {
    const [a, b, x, y] = pick(LINKS);
    return ordered(
      pick([
        () =>
          `SELECT o.c, count(*) AS n, max(i.id) AS m FROM ${a} o JOIN ${b} i ON i.${y} = o.${x} AND (i.c > o.c OR i.id % 2 = o.id % 2) GROUP BY o.c`,
        () =>
          `SELECT upper(o.c) AS k, count(i.id) AS n, min(i.id) AS m FROM ${a} o LEFT JOIN ${b} i ON i.${y} = o.${x} AND o.id % 3 <> 1 AND ${condition(b, 'i')} GROUP BY 1`,
        () =>
          `SELECT a.w, count(*) AS n, sum(b.id) AS m FROM m a JOIN h b ON b.id BETWEEN a.id AND a.id + a.w GROUP BY a.w`,
        () =>
          `SELECT a.c, count(*) AS n, count(DISTINCT b.c) AS m FROM m a JOIN m b ON a.c < b.c AND a.w = b.w GROUP BY a.c`,
        () =>
          `SELECT o.c, i.c AS d, count(*) AS n FROM ${a} o FULL JOIN ${b} i ON i.${y} = o.${x} GROUP BY 1, 2`,
        () =>
          `SELECT o.id, o.c, i.n FROM ${a} o JOIN (VALUES ('amber-1', 1), ('birch-2', 2), ('cedar-3', 3)) i(c, n) ON i.c = o.c`,
        () =>
          `SELECT lower(o.c) AS k, o.id % 9 AS n, count(*) AS m FROM ${a} o JOIN ${b} i ON upper(i.c) = upper(o.c) AND i.id % 50 = o.id % 50 GROUP BY 1, 2`,
      ])(),
      3,
      'odd joins',
    );
  };

  const groups = () => {
    const table = pick(['f', 'f', 'g', 'h']);
    const keys = list(2, () => key(table, 't'));
    const calls = list(3, () => aggregate(table, 't'));
    const filter = some(0.4) ? ` WHERE ${condition(table, 't')}` : '';
    return ordered(
      `SELECT ${named([...keys, ...calls])} FROM ${table} t${filter} GROUP BY ${numbers(keys.length).join(', ')}`,
      keys.length + calls.length,
      'groups',
    );
  };

  const rows = () => {
    const table = pick(['f', 'g', 'h']);
    const items = ['t.id', ...list(3, () => key(table, 't'))];
    const terms = list(2, () => condition(table, 't'));
    return ordered(
      `SELECT ${some(0.2) ? 'DISTINCT ' : ''}${named(items)} FROM ${table} t WHERE ${terms.join(some(0.5) ? ' AND ' : ' OR ')}`,
      items.length,
      'rows',
    );
  };

  const marks = () => {
    const [a, b, x, y] = pick(LINKS);
    const not = some(0.5) ? 'NOT ' : '';
    const term = pick([
      () =>
        `o.${x} IS NOT NULL AND (o.${x}, o.id % 3) ${not}IN (SELECT i.${y}, i.id % 3 FROM ${b} i WHERE i.${y} IS NOT NULL AND ${condition(b, 'i')})`,
      () =>
        `(o.${x} ${not}IN (SELECT i.${y} FROM ${b} i WHERE ${condition(b, 'i')}) OR ${condition(a, 'o')})`,
      () =>
        `(${not}EXISTS (SELECT 1 FROM ${b} i WHERE i.${y} = o.${x} AND ${condition(b, 'i')}) OR ${condition(a, 'o')})`,
      () => `${not}EXISTS (SELECT 1 FROM ${b} i WHERE i.${y} = o.${x} AND i.id <> o.id)`,
      () =>
        `o.c IS NOT NULL AND o.${x} IS NOT NULL AND (o.c, o.${x}) ${not}IN (SELECT i.c, i.${y} FROM ${b} i WHERE i.c IS NOT NULL AND i.${y} IS NOT NULL)`,
      () => `o.${x} ${not}IN (SELECT i.${y} FROM ${b} i WHERE i.c = o.c)`,
    ])();
    return ordered(
      `SELECT o.c AS k, count(*) AS n, max(o.id) AS m FROM ${a} o WHERE ${term} GROUP BY 1`,
      3,
      'marks',
    );
  };

  return pick([
    scalarInSelect,
    scalarInSelect,
    scalarInHaving,
    twice,
    frames,
    frames,
    groupedWindows,
    groupingSets,
    groupingSets,
    sets,
    sets,
    topOfJoins,
    topOfJoins,
    lateral,
    oddJoins,
    oddJoins,
    groups,
    groups,
    rows,
    marks,
    marks,
  ])();
}
