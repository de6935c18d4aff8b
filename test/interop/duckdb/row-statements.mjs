// `statement` makes random SELECTs for outliers.mjs: functions that give rows (series of numbers and times, items of
// lists), FROM without SELECT, `* REPLACE`, UNION BY NAME, lists in order, and functions of whole numbers and texts.

export function statement({ random, int, pick }) {
  const some = (share) => random() < share;
  const number = () => int(40) - 15;
  const list = () =>
    `[${number()}, ${Array.from({ length: 1 + int(5) }, () => (some(0.2) ? 'NULL' : number())).join(', ')}]`;
  const series = (start = number(), end = number()) => {
    const name = pick(['generate_series', 'range']);
    const by = pick(['', '', `, ${1 + int(4)}`, `, -${1 + int(4)}`]);
    return `${name}(${some(0.05) ? 'NULL' : start}, ${end}${by})`;
  };
  const time = () =>
    `${pick(['DATE', 'TIMESTAMP'])} '19${60 + int(20)}-0${1 + int(9)}-${10 + int(19)}'`;
  const times = () =>
    `${pick(['generate_series', 'range'])}(${time()}, ${time()}, INTERVAL '${pick(['1 month', '40 days', '-3 months', '-500 hours', '1 year', '1 month 3 days'])}')`;
  const items = `(VALUES (1, ${list()}), (2, NULL), (3, ${list()}), (4, ${list()})) v(i, l)`;
  const answer = (sql) => ({ sql, inOrder: false });
  return pick([
    () => answer(`SELECT x FROM ${series()} r(x)`),
    () => answer(`SELECT x, epoch_ms(x) AS ms FROM ${times()} r(x)`),
    () =>
      answer(`SELECT date_trunc('year', x) AS y, count(*) AS n FROM ${times()} r(x) GROUP BY 1`),
    () =>
      answer(
        `SELECT i, x FROM ${items}, unnest(v.l) u(x)${some(0.5) ? ` WHERE x > ${number()} OR i = 1` : ''}`,
      ),
    () => answer(`SELECT i, x FROM ${items} LEFT JOIN unnest(v.l) u(x) ON true`),
    () => answer(`SELECT i, count(x) AS n, sum(x) AS s FROM ${items}, unnest(l) u(x) GROUP BY i`),
    () => answer(`SELECT i, x FROM ${items}, ${pick(['range', 'generate_series'])}(i) r(x)`),
    () =>
      answer(
        `SELECT a.x, b.x AS y FROM ${series()} a(x) ${pick(['JOIN', 'LEFT JOIN', 'FULL JOIN'])} ${series()} b(x) ON a.x = b.x`,
      ),
    () => answer(`SELECT m.id, x FROM m JOIN ${series(0, 30)} r(x) ON m.id = r.x * ${1 + int(9)}`),
    () => answer(`FROM m SELECT count(*) AS n, max(id) AS x WHERE id % ${2 + int(5)} = 1`),
    () => answer(`SELECT * REPLACE (-id AS id, w * 2 AS w) FROM m WHERE id < ${int(50)}`),
    () =>
      answer(
        `SELECT id, w FROM m WHERE id < ${int(20)} UNION ${pick(['', 'ALL '])}BY NAME SELECT ${pick(['id', 'w AS id', '1 AS other, id'])} FROM m WHERE id < ${int(30)}`,
      ),
    () =>
      answer(
        `SELECT i, list_sort(l) AS a, list_reverse_sort(l) AS b, list_reverse(l) AS c FROM ${items}`,
      ),
    () =>
      answer(
        `SELECT id, gcd(id, ${number()}) AS g, lcm(id, ${number()}) AS l, md5(c) AS m, sha256(c) AS s, hex(c) AS h FROM m WHERE id < 40`,
      ),
    () =>
      answer(
        `WITH d AS (SELECT x FROM ${series()} r(x)) SELECT x, (SELECT count(*) FROM d) AS n FROM d WHERE x NOT IN (SELECT y FROM ${series()} q(y))`,
      ),
    () =>
      answer(
        `SELECT strftime(ts, '${pick(['%Y-%m', '%d.%m.', '%H', '%H:%M', '%a %j', '%Y'])}') AS k, count(*) AS n FROM f WHERE id < ${1000 + int(9000)} GROUP BY 1`,
      ),
  ])();
}
