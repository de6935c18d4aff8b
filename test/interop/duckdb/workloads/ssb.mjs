// Star Schema Benchmark: one table of sales by line with four dimensions, and its 13 questions.

const number = (key, salt, count) => `(hash(${key} * 64 + ${salt}) % ${count})::BIGINT`;
const list = (texts) => `[${texts.map((text) => `'${text}'`).join(', ')}]`;
const NATIONS = list([
  ...[
    'ALGERIA',
    'ETHIOPIA',
    'KENYA',
    'MOROCCO',
    'MOZAMBIQUE',
    'ARGENTINA',
    'BRAZIL',
    'CANADA',
    'PERU',
  ],
  ...[
    'UNITED STATES',
    'CHINA',
    'INDIA',
    'INDONESIA',
    'JAPAN',
    'VIETNAM',
    'FRANCE',
    'GERMANY',
    'ROMANIA',
  ],
  ...['RUSSIA', 'UNITED KINGDOM', 'EGYPT', 'IRAN', 'IRAQ', 'JORDAN', 'SAUDI ARABIA'],
]);
const REGIONS = list(['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST']);
const DAYS = 2557;
const dayKey = (date) => `strftime(${date}, '%Y%m%d')::INTEGER`;
const place = (prefix) =>
  `rpad((${NATIONS})[n + 1], 9, ' ')[1:9] || ${number('k', 2, 10)} AS ${prefix}_city, (${NATIONS})[n + 1] AS ${prefix}_nation, (${REGIONS})[n // 5 + 1] AS ${prefix}_region`;

export function tables(scale) {
  const at = (count) => Math.max(1, Math.round(count * scale));
  const [lines, customers, suppliers, parts] = [6_000_000, 30_000, 2_000, 200_000].map(at);
  return {
    ssb_dates: `SELECT ${dayKey('d')} AS d_datekey, strftime(d, '%B %-d, %Y') AS d_date, year(d)::INTEGER AS d_year,
        (year(d) * 100 + month(d))::INTEGER AS d_yearmonthnum, strftime(d, '%b%Y') AS d_yearmonth,
        (dayofyear(d) // 7 + 1)::INTEGER AS d_weeknuminyear
      FROM (SELECT DATE '1992-01-01' + i::INTEGER AS d FROM range(${DAYS}) r(i))`,
    ssb_customer: `SELECT k::INTEGER AS c_custkey, 'Customer#' || k AS c_name, ${place('c')}
      FROM (SELECT k, ${number('k', 1, 25)} AS n FROM range(1, ${customers + 1}) r(k))`,
    ssb_supplier: `SELECT k::INTEGER AS s_suppkey, 'Supplier#' || k AS s_name, ${place('s')}
      FROM (SELECT k, ${number('k', 3, 25)} AS n FROM range(1, ${suppliers + 1}) r(k))`,
    ssb_part: `SELECT k::INTEGER AS p_partkey, 'MFGR#' || m AS p_mfgr, 'MFGR#' || m || c AS p_category,
        'MFGR#' || m || c || (${number('k', 6, 40)} + 1) AS p_brand1
      FROM (SELECT k, ${number('k', 4, 5)} + 1 AS m, ${number('k', 5, 5)} + 1 AS c FROM range(1, ${parts + 1}) r(k))`,
    ssb_lines: `SELECT (k // 4 + 1)::INTEGER AS lo_orderkey, (k % 4 + 1)::INTEGER AS lo_linenumber,
        (${number('(k // 4)', 7, customers)} + 1)::INTEGER AS lo_custkey, (${number('k', 8, parts)} + 1)::INTEGER AS lo_partkey,
        (${number('k', 9, suppliers)} + 1)::INTEGER AS lo_suppkey,
        ${dayKey(`DATE '1992-01-01' + ${number('(k // 4)', 10, 2406)}::INTEGER`)} AS lo_orderdate,
        q::INTEGER AS lo_quantity, p::INTEGER AS lo_extendedprice, e::INTEGER AS lo_discount,
        (p * (100 - e) // 100)::INTEGER AS lo_revenue, (p * 6 // 10 // q)::INTEGER AS lo_supplycost
      FROM (SELECT k, ${number('k', 11, 50)} + 1 AS q, ${number('k', 12, 5_000_000)} + 90000 AS p, ${number('k', 13, 11)} AS e
        FROM range(${lines}) r(k))`,
  };
}

const FROM = (...dimensions) =>
  `FROM ssb_lines, ${dimensions.map((one) => `ssb_${one}`).join(', ')} WHERE ${dimensions
    .map(
      (one) =>
        ({
          dates: 'lo_orderdate = d_datekey',
          customer: 'lo_custkey = c_custkey',
          supplier: 'lo_suppkey = s_suppkey',
          part: 'lo_partkey = p_partkey',
        })[one],
    )
    .join(' AND ')}`;
const discounted = (terms) =>
  `SELECT sum(lo_extendedprice * lo_discount) AS revenue ${FROM('dates')} AND ${terms}`;
const brands = (terms) =>
  `SELECT sum(lo_revenue) AS revenue, d_year, p_brand1 ${FROM('dates', 'part', 'supplier')} AND ${terms}
    GROUP BY d_year, p_brand1 ORDER BY d_year, p_brand1`;
const flights = (by, terms) =>
  `SELECT c_${by}, s_${by}, d_year, sum(lo_revenue) AS revenue ${FROM('customer', 'supplier', 'dates')} AND ${terms}
    GROUP BY c_${by}, s_${by}, d_year ORDER BY d_year, revenue DESC, c_${by}, s_${by}`;
const profits = (columns, terms) =>
  `SELECT ${columns}, sum(lo_revenue - lo_supplycost) AS profit ${FROM('dates', 'customer', 'supplier', 'part')} AND ${terms}
    GROUP BY ${columns} ORDER BY ${columns}`;
const CITIES = "IN ('UNITED KI1', 'UNITED KI5')";

export const statements = () => ({
  'q1.1': discounted('d_year = 1993 AND lo_discount BETWEEN 1 AND 3 AND lo_quantity < 25'),
  'q1.2': discounted(
    'd_yearmonthnum = 199401 AND lo_discount BETWEEN 4 AND 6 AND lo_quantity BETWEEN 26 AND 35',
  ),
  'q1.3': discounted(
    'd_weeknuminyear = 6 AND d_year = 1994 AND lo_discount BETWEEN 5 AND 7 AND lo_quantity BETWEEN 26 AND 35',
  ),
  'q2.1': brands("p_category = 'MFGR#12' AND s_region = 'AMERICA'"),
  'q2.2': brands("p_brand1 BETWEEN 'MFGR#2221' AND 'MFGR#2228' AND s_region = 'ASIA'"),
  'q2.3': brands("p_brand1 = 'MFGR#2221' AND s_region = 'EUROPE'"),
  'q3.1': flights(
    'nation',
    "c_region = 'ASIA' AND s_region = 'ASIA' AND d_year >= 1992 AND d_year <= 1997",
  ),
  'q3.2': flights(
    'city',
    "c_nation = 'UNITED STATES' AND s_nation = 'UNITED STATES' AND d_year >= 1992 AND d_year <= 1997",
  ),
  'q3.3': flights(
    'city',
    `c_city ${CITIES} AND s_city ${CITIES} AND d_year >= 1992 AND d_year <= 1997`,
  ),
  'q3.4': flights('city', `c_city ${CITIES} AND s_city ${CITIES} AND d_yearmonth = 'Dec1997'`),
  'q4.1': profits(
    'd_year, c_nation',
    "c_region = 'AMERICA' AND s_region = 'AMERICA' AND (p_mfgr = 'MFGR#1' OR p_mfgr = 'MFGR#2')",
  ),
  'q4.2': profits(
    'd_year, s_nation, p_category',
    "c_region = 'AMERICA' AND s_region = 'AMERICA' AND (d_year = 1997 OR d_year = 1998) AND (p_mfgr = 'MFGR#1' OR p_mfgr = 'MFGR#2')",
  ),
  'q4.3': profits(
    'd_year, s_city, p_brand1',
    "c_region = 'AMERICA' AND s_nation = 'UNITED STATES' AND (d_year = 1997 OR d_year = 1998) AND p_category = 'MFGR#14'",
  ),
});
