// TPC-H: makes its eight tables in DuckDB with the keys, ranges and distributions that its specification gives, and
// asks its 22 business questions with the parameters of its validation run. Texts of comments are words at random. What
// differs from the specification: q8, q14 and q17 divide by doubles, as a quotient of decimals has fewer digits in
// dirspace than in DuckDB, and rows of equal order get one more key.

const words = (text) => text.split(/\s+/).filter((word) => word !== '');
const list = (texts) => `[${texts.map((text) => `'${text}'`).join(', ')}]`;
const NATIONS = `ALGERIA-0 ARGENTINA-1 BRAZIL-1 CANADA-1 EGYPT-4 ETHIOPIA-0 FRANCE-3 GERMANY-3 INDIA-2 INDONESIA-2 IRAN-4
  IRAQ-4 JAPAN-2 JORDAN-4 KENYA-0 MOROCCO-0 MOZAMBIQUE-0 PERU-1 CHINA-2 ROMANIA-3 SAUDI_ARABIA-4 VIETNAM-2 RUSSIA-3
  UNITED_KINGDOM-3 UNITED_STATES-1`;
const REGIONS = list(['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST']);
const COLOURS = list(
  words(`almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse
    chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted
    gainsboro ghost goldenrod green grey honeydew hot indian ivory khaki lace lavender lawn lemon light lime linen
    magenta maroon medium metallic midnight mint misty moccasin navajo navy olive orange orchid pale papaya peach peru
    pink plum powder puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke snow spring
    steel tan thistle tomato turquoise violet wheat white yellow`),
);
const TYPES = [
  words('STANDARD SMALL MEDIUM LARGE ECONOMY PROMO'),
  words('ANODIZED BURNISHED PLATED POLISHED BRUSHED'),
  words('TIN NICKEL BRASS STEEL COPPER'),
].map(list);
const CONTAINERS = [words('SM LG MED JUMBO WRAP'), words('CASE BOX BAG JAR PKG PACK CAN DRUM')].map(
  list,
);
const SEGMENTS = list(words('AUTOMOBILE BUILDING FURNITURE MACHINERY HOUSEHOLD'));
const PRIORITIES = list(['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW']);
const INSTRUCTIONS = list(['DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN']);
const MODES = list(words('REG_AIR AIR RAIL SHIP TRUCK MAIL FOB')).replace('REG_', 'REG ');
const TEXT = list(
  words(`packages requests accounts deposits foxes ideas theodolites instructions dependencies excuses platelets
    asymptotes courts dolphins multipliers sauternes warthogs frets dinos attainments somas pinto beans sleep wake are
    cajole haggle nag use boost affix detect integrate maintain nod was lose sublate solve thrash promise engage
    special pending unusual express furious sly careful blithe quick fluffy slow quiet ruthless thin close dogged
    daring brave stealthy permanent enticing idle busy regular final ironic even bold silent`),
);

/** Texts of SQL for a number from 0 on, one of a list, and so many words. */
const number = (key, salt, count) => `(hash(${key} * 64 + ${salt}) % ${count})::BIGINT`;
const one = (key, salt, texts) =>
  `(${texts})[${number(key, salt, texts.split("', '").length)} + 1]`;
const comment = (key, salt, count) =>
  Array.from({ length: count }, (_, at) => one(`(${key} * 9 + ${at})`, salt, TEXT)).join(
    " || ' ' || ",
  );
const money = (key, salt, low, high) =>
  `((${number(key, salt, high - low + 1)} + ${low}) / 100)::DECIMAL(15, 2)`;
const phone = (key, nation) =>
  `(${nation} + 10)::VARCHAR || '-' || (${number(key, 11, 900)} + 100) || '-' || (${number(key, 12, 900)} + 100) || '-' || (${number(key, 13, 9000)} + 1000)`;
const address = (key) =>
  `substr(md5((${key})::VARCHAR), 1, (${number(key, 14, 21)} + 10)::INTEGER)`;
const price = (key) =>
  `((90000 + (${key} // 10) % 20001 + 100 * (${key} % 1000)) / 100)::DECIMAL(15, 2)`;

/** By name, the SELECT with which DuckDB makes each table. */
export function tables(scale) {
  const at = (count) => Math.max(1, Math.round(count * scale));
  const [suppliers, customers, parts, orders] = [10_000, 150_000, 200_000, 1_500_000].map(at);
  const supplier = (part, place) =>
    `(${part} + ${place} * (${suppliers} // 4 + (${part} - 1) // ${suppliers})) % ${suppliers} + 1`;
  const nations = words(NATIONS).map((nation, key) => {
    const [name, region] = nation.split('-');
    return `(${key}, '${name.replace('_', ' ')}', ${region})`;
  });
  return {
    region: `SELECT k::INTEGER AS r_regionkey, (${REGIONS})[k + 1] AS r_name, ${comment('k', 1, 8)} AS r_comment
      FROM range(5) r(k)`,
    nation: `SELECT k::INTEGER AS n_nationkey, n AS n_name, r::INTEGER AS n_regionkey, ${comment('k', 2, 8)} AS n_comment
      FROM (VALUES ${nations.join(', ')}) v(k, n, r)`,
    supplier: `SELECT k::INTEGER AS s_suppkey, 'Supplier#' || lpad(k::VARCHAR, 9, '0') AS s_name, ${address('k')} AS s_address,
        n::INTEGER AS s_nationkey, ${phone('k', 'n')} AS s_phone, ${money('k', 15, -99_999, 999_999)} AS s_acctbal,
        CASE WHEN k % 1000 = 7 THEN 'quick Customer slow Complaints nag' ELSE ${comment('k', 3, 8)} END AS s_comment
      FROM (SELECT k, ${number('k', 10, 25)} AS n FROM range(1, ${suppliers + 1}) r(k))`,
    customer: `SELECT k::INTEGER AS c_custkey, 'Customer#' || lpad(k::VARCHAR, 9, '0') AS c_name, ${address('k')} AS c_address,
        n::INTEGER AS c_nationkey, ${phone('k', 'n')} AS c_phone, ${money('k', 16, -99_999, 999_999)} AS c_acctbal,
        ${one('k', 17, SEGMENTS)} AS c_mktsegment, ${comment('k', 4, 9)} AS c_comment
      FROM (SELECT k, ${number('k', 18, 25)} AS n FROM range(1, ${customers + 1}) r(k))`,
    part: `SELECT k::INTEGER AS p_partkey, ${Array.from({ length: 5 }, (_, at) => one('k', 20 + at, COLOURS)).join(" || ' ' || ")} AS p_name,
        'Manufacturer#' || m AS p_mfgr, 'Brand#' || m || (${number('k', 26, 5)} + 1) AS p_brand,
        ${TYPES.map((type, at) => one('k', 27 + at, type)).join(" || ' ' || ")} AS p_type,
        (${number('k', 30, 50)} + 1)::INTEGER AS p_size,
        ${CONTAINERS.map((part, at) => one('k', 31 + at, part)).join(" || ' ' || ")} AS p_container,
        ${price('k')} AS p_retailprice, ${comment('k', 5, 2)} AS p_comment
      FROM (SELECT k, ${number('k', 25, 5)} + 1 AS m FROM range(1, ${parts + 1}) r(k))`,
    partsupp: `SELECT k::INTEGER AS ps_partkey, (${supplier('k', 'i')})::INTEGER AS ps_suppkey,
        (${number('(k * 4 + i)', 33, 9999)} + 1)::INTEGER AS ps_availqty, ${money('(k * 4 + i)', 34, 100, 100_000)} AS ps_supplycost,
        ${comment('(k * 4 + i)', 6, 9)} || ' ' || ${comment('(k * 4 + i)', 7, 9)} AS ps_comment
      FROM range(1, ${parts + 1}) r(k), range(4) s(i)`,
    lineitem: `SELECT o::INTEGER AS l_orderkey, p::INTEGER AS l_partkey, (${supplier('p', number('n', 41, 4))})::INTEGER AS l_suppkey,
        i::INTEGER AS l_linenumber, q::DECIMAL(15, 2) AS l_quantity, (q * ${price('p')})::DECIMAL(15, 2) AS l_extendedprice,
        (${number('n', 42, 11)} / 100)::DECIMAL(15, 2) AS l_discount, (${number('n', 43, 9)} / 100)::DECIMAL(15, 2) AS l_tax,
        CASE WHEN received > DATE '1995-06-17' THEN 'N' WHEN ${number('n', 44, 2)} = 0 THEN 'R' ELSE 'A' END AS l_returnflag,
        CASE WHEN shipped > DATE '1995-06-17' THEN 'O' ELSE 'F' END AS l_linestatus, shipped AS l_shipdate,
        d + (${number('n', 45, 61)} + 30)::INTEGER AS l_commitdate, received AS l_receiptdate,
        ${one('n', 46, INSTRUCTIONS)} AS l_shipinstruct, ${one('n', 47, MODES)} AS l_shipmode, ${comment('n', 8, 4)} AS l_comment
      FROM (SELECT *, shipped + (${number('n', 48, 30)} + 1)::INTEGER AS received
        FROM (SELECT *, d + (${number('n', 49, 121)} + 1)::INTEGER AS shipped, ${number('n', 50, 50)} + 1 AS q, ${number('n', 51, parts)} + 1 AS p
          FROM (SELECT *, k * 8 + i AS n FROM (SELECT k, o, d, unnest(range(1, lines + 1)) AS i
            FROM (SELECT k, k // 8 * 32 + k % 8 AS o, ${number('k', 52, 7)} + 1 AS lines, DATE '1992-01-01' + ${number('k', 53, 2406)}::INTEGER AS d
              FROM range(1, ${orders + 1}) r(k))))))
      ORDER BY n`,
    orders: `SELECT o::INTEGER AS o_orderkey, (CASE WHEN c % 3 = 0 THEN c - 1 ELSE c END)::INTEGER AS o_custkey,
        CASE WHEN l.fs = l.n THEN 'F' WHEN l.fs = 0 THEN 'O' ELSE 'P' END AS o_orderstatus, l.total AS o_totalprice, d AS o_orderdate,
        ${one('k', 54, PRIORITIES)} AS o_orderpriority, 'Clerk#' || lpad((${number('k', 55, at(1000))} + 1)::VARCHAR, 9, '0') AS o_clerk,
        0::INTEGER AS o_shippriority, ${comment('k', 9, 8)} AS o_comment
      FROM (SELECT k, k // 8 * 32 + k % 8 AS o, ${number('k', 56, customers)} + 1 AS c, DATE '1992-01-01' + ${number('k', 53, 2406)}::INTEGER AS d
          FROM range(1, ${orders + 1}) r(k))
        JOIN (SELECT l_orderkey, count(*) AS n, count(*) FILTER (WHERE l_linestatus = 'F') AS fs,
            sum(l_extendedprice * (1 + l_tax) * (1 - l_discount))::DECIMAL(15, 2) AS total FROM lineitem GROUP BY l_orderkey) l
        ON l.l_orderkey = o
      ORDER BY k`,
  };
}

const REVENUE = 'sum(l_extendedprice * (1 - l_discount))';

/** By name, the statement. */
export const statements = (scale) => ({
  q1: `SELECT l_returnflag, l_linestatus, sum(l_quantity) AS quantity, sum(l_extendedprice) AS base, ${REVENUE} AS discounted,
      sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS charge, avg(l_quantity) AS mean_quantity,
      avg(l_extendedprice) AS mean_price, avg(l_discount) AS mean_discount, count(*) AS n
    FROM lineitem WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '90' DAY
    GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus`,
  q2: `SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment
    FROM part, supplier, partsupp, nation, region
    WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND p_size = 15 AND p_type LIKE '%BRASS'
      AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'EUROPE'
      AND ps_supplycost = (SELECT min(ps_supplycost) FROM partsupp, supplier, nation, region
        WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND s_nationkey = n_nationkey
          AND n_regionkey = r_regionkey AND r_name = 'EUROPE')
    ORDER BY s_acctbal DESC, n_name, s_name, p_partkey LIMIT 100`,
  q3: `SELECT l_orderkey, ${REVENUE} AS revenue, o_orderdate, o_shippriority FROM customer, orders, lineitem
    WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
      AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15'
    GROUP BY l_orderkey, o_orderdate, o_shippriority ORDER BY revenue DESC, o_orderdate, l_orderkey LIMIT 10`,
  q4: `SELECT o_orderpriority, count(*) AS n FROM orders
    WHERE o_orderdate >= DATE '1993-07-01' AND o_orderdate < DATE '1993-07-01' + INTERVAL '3' MONTH
      AND EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
    GROUP BY o_orderpriority ORDER BY o_orderpriority`,
  q5: `SELECT n_name, ${REVENUE} AS revenue FROM customer, orders, lineitem, supplier, nation, region
    WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey
      AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'ASIA'
      AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1994-01-01' + INTERVAL '1' YEAR
    GROUP BY n_name ORDER BY revenue DESC`,
  q6: `SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem
    WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR
      AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND l_quantity < 24`,
  q7: `SELECT supp_nation, cust_nation, l_year, sum(volume) AS revenue
    FROM (SELECT n1.n_name AS supp_nation, n2.n_name AS cust_nation, extract(year FROM l_shipdate) AS l_year,
        l_extendedprice * (1 - l_discount) AS volume
      FROM supplier, lineitem, orders, customer, nation n1, nation n2
      WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND c_custkey = o_custkey
        AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey
        AND ((n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY') OR (n1.n_name = 'GERMANY' AND n2.n_name = 'FRANCE'))
        AND l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31') AS shipping
    GROUP BY supp_nation, cust_nation, l_year ORDER BY supp_nation, cust_nation, l_year`,
  q8: `SELECT o_year, sum(CASE WHEN nation = 'BRAZIL' THEN volume ELSE 0 END) / CAST(sum(volume) AS double) AS share
    FROM (SELECT extract(year FROM o_orderdate) AS o_year, l_extendedprice * (1 - l_discount) AS volume, n2.n_name AS nation
      FROM part, supplier, lineitem, orders, customer, nation n1, nation n2, region
      WHERE p_partkey = l_partkey AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey AND o_custkey = c_custkey
        AND c_nationkey = n1.n_nationkey AND n1.n_regionkey = r_regionkey AND r_name = 'AMERICA'
        AND s_nationkey = n2.n_nationkey AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
        AND p_type = 'ECONOMY ANODIZED STEEL') AS all_nations
    GROUP BY o_year ORDER BY o_year`,
  q9: `SELECT nation, o_year, sum(amount) AS profit
    FROM (SELECT n_name AS nation, extract(year FROM o_orderdate) AS o_year,
        l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount
      FROM part, supplier, lineitem, partsupp, orders, nation
      WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey AND p_partkey = l_partkey
        AND o_orderkey = l_orderkey AND s_nationkey = n_nationkey AND p_name LIKE '%green%') AS profits
    GROUP BY nation, o_year ORDER BY nation, o_year DESC`,
  q10: `SELECT c_custkey, c_name, ${REVENUE} AS revenue, c_acctbal, n_name, c_address, c_phone, c_comment
    FROM customer, orders, lineitem, nation
    WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate >= DATE '1993-10-01'
      AND o_orderdate < DATE '1993-10-01' + INTERVAL '3' MONTH AND l_returnflag = 'R' AND c_nationkey = n_nationkey
    GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment ORDER BY revenue DESC, c_custkey LIMIT 20`,
  q11: `SELECT ps_partkey, sum(ps_supplycost * ps_availqty) AS worth FROM partsupp, supplier, nation
    WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'GERMANY'
    GROUP BY ps_partkey
    HAVING sum(ps_supplycost * ps_availqty) > (SELECT sum(ps_supplycost * ps_availqty) * ${(0.0001 / scale).toFixed(10)}
      FROM partsupp, supplier, nation WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'GERMANY')
    ORDER BY worth DESC, ps_partkey`,
  q12: `SELECT l_shipmode,
      sum(CASE WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH' THEN 1 ELSE 0 END) AS high,
      sum(CASE WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH' THEN 1 ELSE 0 END) AS low
    FROM orders, lineitem WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP')
      AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
      AND l_receiptdate >= DATE '1994-01-01' AND l_receiptdate < DATE '1994-01-01' + INTERVAL '1' YEAR
    GROUP BY l_shipmode ORDER BY l_shipmode`,
  q13: `SELECT c_count, count(*) AS customers
    FROM (SELECT c_custkey, count(o_orderkey) FROM customer LEFT OUTER JOIN orders
        ON c_custkey = o_custkey AND o_comment NOT LIKE '%special%requests%'
      GROUP BY c_custkey) AS c_orders (c_custkey, c_count)
    GROUP BY c_count ORDER BY customers DESC, c_count DESC`,
  q14: `SELECT 100.00 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END) / CAST(${REVENUE} AS double) AS promo
    FROM lineitem, part WHERE l_partkey = p_partkey
      AND l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-09-01' + INTERVAL '1' MONTH`,
  q15: `WITH revenue AS (SELECT l_suppkey AS supplier_no, ${REVENUE} AS total FROM lineitem
      WHERE l_shipdate >= DATE '1996-01-01' AND l_shipdate < DATE '1996-01-01' + INTERVAL '3' MONTH GROUP BY l_suppkey)
    SELECT s_suppkey, s_name, s_address, s_phone, total FROM supplier, revenue
    WHERE s_suppkey = supplier_no AND total = (SELECT max(total) FROM revenue) ORDER BY s_suppkey`,
  q16: `SELECT p_brand, p_type, p_size, count(DISTINCT ps_suppkey) AS suppliers FROM partsupp, part
    WHERE p_partkey = ps_partkey AND p_brand <> 'Brand#45' AND p_type NOT LIKE 'MEDIUM POLISHED%'
      AND p_size IN (49, 14, 23, 45, 19, 3, 36, 9)
      AND ps_suppkey NOT IN (SELECT s_suppkey FROM supplier WHERE s_comment LIKE '%Customer%Complaints%')
    GROUP BY p_brand, p_type, p_size ORDER BY suppliers DESC, p_brand, p_type, p_size`,
  q17: `SELECT sum(l_extendedprice) / CAST(7 AS double) AS yearly FROM lineitem, part
    WHERE p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container = 'MED BOX'
      AND l_quantity < (SELECT 0.2 * avg(l_quantity) FROM lineitem WHERE l_partkey = p_partkey)`,
  q18: `SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) AS quantity
    FROM customer, orders, lineitem
    WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 300)
      AND c_custkey = o_custkey AND o_orderkey = l_orderkey
    GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice ORDER BY o_totalprice DESC, o_orderdate, o_orderkey LIMIT 100`,
  q19: `SELECT ${REVENUE} AS revenue FROM lineitem, part
    WHERE (p_partkey = l_partkey AND p_brand = 'Brand#12' AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
        AND l_quantity >= 1 AND l_quantity <= 11 AND p_size BETWEEN 1 AND 5
        AND l_shipmode IN ('AIR', 'REG AIR') AND l_shipinstruct = 'DELIVER IN PERSON')
      OR (p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
        AND l_quantity >= 10 AND l_quantity <= 20 AND p_size BETWEEN 1 AND 10
        AND l_shipmode IN ('AIR', 'REG AIR') AND l_shipinstruct = 'DELIVER IN PERSON')
      OR (p_partkey = l_partkey AND p_brand = 'Brand#34' AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
        AND l_quantity >= 20 AND l_quantity <= 30 AND p_size BETWEEN 1 AND 15
        AND l_shipmode IN ('AIR', 'REG AIR') AND l_shipinstruct = 'DELIVER IN PERSON')`,
  q20: `SELECT s_name, s_address FROM supplier, nation
    WHERE s_suppkey IN (SELECT ps_suppkey FROM partsupp
        WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE 'forest%')
          AND ps_availqty > (SELECT 0.5 * sum(l_quantity) FROM lineitem WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey
            AND l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR))
      AND s_nationkey = n_nationkey AND n_name = 'CANADA' ORDER BY s_name`,
  q21: `SELECT s_name, count(*) AS waiting FROM supplier, lineitem l1, orders, nation
    WHERE s_suppkey = l1.l_suppkey AND o_orderkey = l1.l_orderkey AND o_orderstatus = 'F'
      AND l1.l_receiptdate > l1.l_commitdate
      AND EXISTS (SELECT * FROM lineitem l2 WHERE l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey)
      AND NOT EXISTS (SELECT * FROM lineitem l3 WHERE l3.l_orderkey = l1.l_orderkey AND l3.l_suppkey <> l1.l_suppkey
        AND l3.l_receiptdate > l3.l_commitdate)
      AND s_nationkey = n_nationkey AND n_name = 'SAUDI ARABIA'
    GROUP BY s_name ORDER BY waiting DESC, s_name LIMIT 100`,
  q22: `SELECT code, count(*) AS customers, sum(c_acctbal) AS balance
    FROM (SELECT substring(c_phone FROM 1 FOR 2) AS code, c_acctbal FROM customer
      WHERE substring(c_phone FROM 1 FOR 2) IN ('13', '31', '23', '29', '30', '18', '17')
        AND c_acctbal > (SELECT avg(c_acctbal) FROM customer WHERE c_acctbal > 0.00
          AND substring(c_phone FROM 1 FOR 2) IN ('13', '31', '23', '29', '30', '18', '17'))
        AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey)) AS rich
    GROUP BY code ORDER BY code`,
});
