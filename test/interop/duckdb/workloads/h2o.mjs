// The questions of the db-benchmark of H2O: ten of groups over one table, and five of joins with a small, a middle and
// a large one.

const number = (key, salt, count) => `(hash(${key} * 64 + ${salt}) % ${count})::BIGINT`;

export function tables(scale) {
  const rows = Math.max(1000, Math.round(1_000_000 * scale));
  const groups = 100;
  const many = Math.max(10, Math.round(rows / groups));
  const id = (salt, count, width) =>
    `'id' || lpad((${number('k', salt, count)} + 1)::VARCHAR, ${width}, '0')`;
  const middle = Math.max(10, Math.round(rows / 1000));
  const small = Math.max(10, Math.round(rows / 1_000_000) * 10);
  const side = (count) => `SELECT i::INTEGER AS k FROM range(1, ${count} + 1) r(i)`;
  return {
    h2o_groups: `SELECT ${id(1, groups, 3)} AS id1, ${id(2, groups, 3)} AS id2, ${id(3, many, 10)} AS id3,
        (${number('k', 4, groups)} + 1)::INTEGER AS id4, (${number('k', 5, groups)} + 1)::INTEGER AS id5,
        (${number('k', 6, many)} + 1)::INTEGER AS id6, (${number('k', 7, 5)} + 1)::INTEGER AS v1,
        (${number('k', 8, 15)} + 1)::INTEGER AS v2, ${number('k', 9, 100_000_000)} / 1000000 AS v3
      FROM range(${rows}) r(k)`,
    h2o_x: `SELECT (${number('k', 11, Math.round(small * 1.1))} + 1)::INTEGER AS id1, (${number('k', 12, Math.round(middle * 1.1))} + 1)::INTEGER AS id2,
        (${number('k', 13, Math.round(rows * 1.1))} + 1)::INTEGER AS id3, 'id' || (${number('k', 11, Math.round(small * 1.1))} + 1) AS id4,
        'id' || (${number('k', 12, Math.round(middle * 1.1))} + 1) AS id5, 'id' || (${number('k', 13, Math.round(rows * 1.1))} + 1) AS id6,
        ${number('k', 14, 100_000_000)} / 1000000 AS v1
      FROM range(${rows}) r(k)`,
    h2o_small: `SELECT k AS id1, 'id' || k AS id4, ${number('k', 15, 100_000_000)} / 1000000 AS v2 FROM (${side(small)})`,
    h2o_medium: `SELECT (${number('k', 16, small)} + 1)::INTEGER AS id1, k AS id2, 'id' || (${number('k', 16, small)} + 1) AS id4,
        'id' || k AS id5, ${number('k', 17, 100_000_000)} / 1000000 AS v2 FROM (${side(middle)})`,
    h2o_big: `SELECT (${number('k', 18, small)} + 1)::INTEGER AS id1, (${number('k', 19, middle)} + 1)::INTEGER AS id2, k AS id3,
        'id' || (${number('k', 18, small)} + 1) AS id4, 'id' || (${number('k', 19, middle)} + 1) AS id5, 'id' || k AS id6,
        ${number('k', 20, 100_000_000)} / 1000000 AS v2 FROM (${side(rows)})`,
  };
}

const joined = (join, table, on) =>
  `SELECT count(*) AS n, sum(x.v1) AS v1, sum(y.v2) AS v2, min(y.id4) AS least, max(x.id6) AS most FROM h2o_x x ${join} ${table} y ON ${on}`;

export const statements = () => ({
  'group 1': 'SELECT id1, sum(v1) AS v1 FROM h2o_groups GROUP BY id1',
  'group 2': 'SELECT id1, id2, sum(v1) AS v1 FROM h2o_groups GROUP BY id1, id2',
  'group 3': 'SELECT id3, sum(v1) AS v1, avg(v3) AS v3 FROM h2o_groups GROUP BY id3',
  'group 4': 'SELECT id4, avg(v1) AS v1, avg(v2) AS v2, avg(v3) AS v3 FROM h2o_groups GROUP BY id4',
  'group 5': 'SELECT id6, sum(v1) AS v1, sum(v2) AS v2, sum(v3) AS v3 FROM h2o_groups GROUP BY id6',
  'group 6':
    'SELECT id4, id5, median(v3) AS median_v3, stddev(v3) AS sd_v3 FROM h2o_groups GROUP BY id4, id5',
  'group 7': 'SELECT id3, max(v1) - min(v2) AS range_v1_v2 FROM h2o_groups GROUP BY id3',
  'group 8': `SELECT id6, largest2_v3 FROM (SELECT id6, v3 AS largest2_v3, row_number() OVER (PARTITION BY id6 ORDER BY v3 DESC) AS place
    FROM h2o_groups WHERE v3 IS NOT NULL) AS sub WHERE place <= 2`,
  'group 9': 'SELECT id2, id4, power(corr(v1, v2), 2) AS r2 FROM h2o_groups GROUP BY id2, id4',
  'group 10':
    'SELECT id1, id2, id3, id4, id5, id6, sum(v3) AS v3, count(*) AS n FROM h2o_groups GROUP BY id1, id2, id3, id4, id5, id6',
  'join 1, small': joined('JOIN', 'h2o_small', 'x.id1 = y.id1'),
  'join 2, medium': joined('JOIN', 'h2o_medium', 'x.id2 = y.id2'),
  'join 3, medium, left': joined('LEFT JOIN', 'h2o_medium', 'x.id2 = y.id2'),
  'join 4, medium, by text': joined('JOIN', 'h2o_medium', 'x.id5 = y.id5'),
  'join 5, large': joined('JOIN', 'h2o_big', 'x.id3 = y.id3'),
  'join 5, all columns':
    'SELECT x.id1, x.id2, x.id3, x.id4, y.id4 AS y4, x.id5, y.id5 AS y5, x.id6, x.v1, y.v2 FROM h2o_x x JOIN h2o_big y ON x.id3 = y.id3',
});
