// Statements of the kind that an analyst writes, over the tables of tpch.mjs: running totals, cohorts, ranks, gaps,
// medians, sets, text, anti joins, several levels of queries. Quantiles are of doubles, as those of decimals are decimals
// in DuckDB and doubles in dirspace.

export const statements = () => ({
  'orders by month': `SELECT date_trunc('month', o_orderdate) AS month, count(*) AS n, sum(o_totalprice) AS total FROM orders GROUP BY 1 ORDER BY 1`,
  'running total by month': `WITH m AS (SELECT date_trunc('month', o_orderdate) AS month, sum(o_totalprice) AS total FROM orders GROUP BY 1)
    SELECT month, total, sum(total) OVER (ORDER BY month) AS running, total - lag(total) OVER (ORDER BY month) AS change FROM m ORDER BY month`,
  'moving average of days': `SELECT d, n, avg(n) OVER (ORDER BY d ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS week
    FROM (SELECT o_orderdate AS d, count(*) AS n FROM orders GROUP BY o_orderdate) q ORDER BY d`,
  'top three orders of each customer': `SELECT o_custkey, o_orderkey, o_totalprice FROM orders
    QUALIFY row_number() OVER (PARTITION BY o_custkey ORDER BY o_totalprice DESC, o_orderkey) <= 3`,
  'last order of each customer': `SELECT DISTINCT ON (o_custkey) o_custkey, o_orderkey, o_orderdate FROM orders ORDER BY o_custkey, o_orderdate DESC, o_orderkey`,
  'latest by arg_max': `SELECT o_custkey, arg_max(o_orderpriority, o_orderkey) AS priority, max(o_orderdate) AS latest FROM orders GROUP BY o_custkey`,
  'days between orders': `SELECT avg(gap) AS mean, max(gap) AS most FROM (SELECT date_diff('day', lag(o_orderdate) OVER (PARTITION BY o_custkey ORDER BY o_orderdate, o_orderkey), o_orderdate) AS gap FROM orders) q WHERE gap IS NOT NULL`,
  'cohorts by first year': `WITH first AS (SELECT o_custkey, min(year(o_orderdate)) AS cohort FROM orders GROUP BY o_custkey)
    SELECT cohort, year(o_orderdate) - cohort AS age, count(DISTINCT o.o_custkey) AS customers, sum(o_totalprice) AS spent
    FROM orders o JOIN first f ON f.o_custkey = o.o_custkey GROUP BY 1, 2 ORDER BY 1, 2`,
  'share of segment in nation': `SELECT n_name, c_mktsegment, count(*) AS n, count(*) * 100.0 / sum(count(*)) OVER (PARTITION BY n_name) AS share
    FROM customer JOIN nation ON n_nationkey = c_nationkey GROUP BY n_name, c_mktsegment ORDER BY 1, 2`,
  'median by mode': `SELECT l_shipmode, median(CAST(l_extendedprice AS double)) AS middle, quantile_cont(CAST(l_extendedprice AS double), 0.9) AS high FROM lineitem GROUP BY l_shipmode ORDER BY 1`,
  'histogram of prices': `SELECT floor(l_extendedprice / 5000) AS bucket, count(*) AS n FROM lineitem GROUP BY 1 ORDER BY 1`,
  'pivot by case': `SELECT l_shipmode, count(*) FILTER (WHERE l_returnflag = 'R') AS r, count(*) FILTER (WHERE l_returnflag = 'A') AS a,
    sum(CASE WHEN l_linestatus = 'O' THEN l_quantity END) AS open FROM lineitem GROUP BY l_shipmode ORDER BY 1`,
  'customers without orders': `SELECT count(*) AS n, sum(c_acctbal) AS total FROM customer c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.o_custkey = c.c_custkey)`,
  'customers without orders by left join': `SELECT count(*) AS n FROM customer LEFT JOIN orders ON o_custkey = c_custkey WHERE o_orderkey IS NULL`,
  'parts never shipped by air': `SELECT count(*) AS n FROM part WHERE p_partkey NOT IN (SELECT l_partkey FROM lineitem WHERE l_shipmode = 'AIR')`,
  'suppliers of everything blue': `SELECT s_name, count(DISTINCT p_partkey) AS n FROM supplier JOIN partsupp ON ps_suppkey = s_suppkey JOIN part ON p_partkey = ps_partkey
    WHERE p_name LIKE '%blue%' GROUP BY s_name ORDER BY n DESC, s_name LIMIT 20`,
  'orders above the mean of their customer': `SELECT count(*) AS n FROM orders o WHERE o_totalprice > (SELECT avg(o_totalprice) FROM orders i WHERE i.o_custkey = o.o_custkey)`,
  'orders above the mean of their customer by window': `SELECT count(*) AS n FROM (SELECT o_totalprice, avg(o_totalprice) OVER (PARTITION BY o_custkey) AS mean FROM orders) q WHERE o_totalprice > mean`,
  'cube of flags': `SELECT l_returnflag, l_linestatus, count(*) AS n, sum(l_quantity) AS q FROM lineitem GROUP BY CUBE (l_returnflag, l_linestatus) ORDER BY 1, 2`,
  'rollup of time': `SELECT year(o_orderdate) AS y, month(o_orderdate) AS m, sum(o_totalprice) AS s FROM orders GROUP BY ROLLUP (1, 2) ORDER BY 1, 2`,
  'grouping of a concatenation': `SELECT l_shipmode || '/' || l_shipinstruct AS way, count(*) AS n FROM lineitem GROUP BY way ORDER BY n DESC, way`,
  'words of comments': `SELECT word, count(*) AS n FROM (SELECT string_split(o_comment, ' ') AS words FROM orders) q, unnest(q.words) AS u(word) GROUP BY word ORDER BY n DESC, word LIMIT 20`,
  'first word of comments': `SELECT split_part(o_comment, ' ', 1) AS word, count(*) AS n FROM orders GROUP BY 1 ORDER BY n DESC, 1 LIMIT 20`,
  'phones by country': `SELECT substr(c_phone, 1, 2) AS code, count(*) AS n, min(c_name) AS least FROM customer GROUP BY code ORDER BY code`,
  'comments by pattern': `SELECT count(*) AS n FROM lineitem WHERE l_comment LIKE '%quick%' AND l_comment NOT LIKE '%slow%'`,
  'comments by regular expression': `SELECT count(*) AS n FROM orders WHERE regexp_matches(o_comment, 'b[a-z]+d.*s[a-z]+l')`,
  'regions in the same set': `SELECT c_nationkey FROM customer WHERE c_acctbal > 9900 INTERSECT SELECT s_nationkey FROM supplier WHERE s_acctbal > 9000 ORDER BY 1`,
  'balances united': `SELECT kind, count(*) AS n, sum(balance) AS total FROM (SELECT 'customer' AS kind, c_acctbal AS balance FROM customer UNION ALL SELECT 'supplier', s_acctbal FROM supplier) q GROUP BY kind ORDER BY kind`,
  'distinct pairs': `SELECT count(*) AS n FROM (SELECT DISTINCT l_partkey, l_suppkey FROM lineitem) q`,
  'distinct texts': `SELECT count(DISTINCT l_comment) AS n FROM lineitem`,
  'many groups, top ten by count': `SELECT l_partkey, count(*) AS n FROM lineitem GROUP BY l_partkey ORDER BY n DESC, l_partkey LIMIT 10`,
  'many groups, top ten by sum': `SELECT l_orderkey, sum(l_extendedprice) AS total FROM lineitem GROUP BY l_orderkey ORDER BY total DESC, l_orderkey LIMIT 10`,
  'orders with late and punctual lines': `SELECT count(*) AS n FROM orders WHERE EXISTS (SELECT 1 FROM lineitem WHERE l_orderkey = o_orderkey AND l_receiptdate > l_commitdate)
    AND EXISTS (SELECT 1 FROM lineitem WHERE l_orderkey = o_orderkey AND l_receiptdate <= l_commitdate)`,
  'pairs of parts in an order': `SELECT a.l_partkey % 50 AS x, b.l_partkey % 50 AS y, count(*) AS n FROM lineitem a JOIN lineitem b ON a.l_orderkey = b.l_orderkey AND a.l_linenumber < b.l_linenumber
    GROUP BY 1, 2 ORDER BY n DESC, 1, 2 LIMIT 10`,
  'star of five tables': `SELECT r_name, year(o_orderdate) AS y, count(*) AS n, sum(l_extendedprice) AS total FROM lineitem JOIN orders ON o_orderkey = l_orderkey JOIN customer ON c_custkey = o_custkey
    JOIN nation ON n_nationkey = c_nationkey JOIN region ON r_regionkey = n_regionkey GROUP BY 1, 2 ORDER BY 1, 2`,
  'best customers of each nation': `SELECT n_name, c_name, spent FROM (SELECT n_name, c_name, sum(o_totalprice) AS spent, rank() OVER (PARTITION BY n_name ORDER BY sum(o_totalprice) DESC) AS place
    FROM customer JOIN orders ON o_custkey = c_custkey JOIN nation ON n_nationkey = c_nationkey GROUP BY n_name, c_name) q WHERE place <= 3 ORDER BY n_name, place, c_name`,
  'deciles of customers': `SELECT decile, count(*) AS n, min(c_acctbal) AS low, max(c_acctbal) AS high FROM (SELECT c_acctbal, ntile(10) OVER (ORDER BY c_acctbal, c_custkey) AS decile FROM customer) q GROUP BY decile ORDER BY decile`,
  'days without orders of a clerk': `SELECT count(*) AS n FROM (SELECT d::DATE AS d FROM generate_series(TIMESTAMP '1995-01-01', TIMESTAMP '1995-12-31', INTERVAL '1 day') AS s(d)) days
    WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.o_orderdate = days.d AND o.o_clerk = 'Clerk#000000007')`,
  'correlation of price and quantity': `SELECT corr(l_extendedprice, l_quantity) AS c, regr_slope(l_extendedprice, l_quantity) AS s, stddev(l_discount) AS d FROM lineitem`,
  'largest rows': `SELECT * FROM lineitem ORDER BY l_extendedprice DESC, l_orderkey, l_linenumber LIMIT 20`,
  'names listed': `SELECT n_name, string_agg(s_name, ', ' ORDER BY s_name) AS names FROM supplier JOIN nation ON n_nationkey = s_nationkey GROUP BY n_name ORDER BY n_name`,
  'order status by in lists': `SELECT o_orderstatus, count(*) AS n FROM orders WHERE o_orderpriority IN ('1-URGENT', '5-LOW') AND o_clerk NOT IN ('Clerk#000000001', 'Clerk#000000002') AND o_orderdate BETWEEN DATE '1994-01-01' AND DATE '1996-06-30' GROUP BY 1 ORDER BY 1`,
});
