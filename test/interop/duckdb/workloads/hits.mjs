// A table of page views like that of ClickBench, made at random with 31 of its columns, and 43 questions of the
// kind that it asks: counts, distinct visitors, top pages and phrases, searches in addresses.

const number = (key, salt, count) => `(hash(${key} * 64 + ${salt}) % ${count})::BIGINT`;
/** A number of which small ones are frequent. */
const skewed = (key, salt, count) =>
  `floor(pow(${number(key, salt, 1_000_000)} / 1000000.0, 3) * ${count})::BIGINT`;
const page = (salt) =>
  `'http://' || (['example.com', 'news.example.org', 'google.example.com', 'shop.example.net', 'video.example.io'])[${skewed('k', salt, 5)} + 1] || '/' || (['a', 'article', 'catalog/item', 'search', 'user'])[${number('k', salt + 1, 5)} + 1] || '/' || ${skewed('k', salt + 2, 60_000)} || CASE WHEN ${number('k', salt + 3, 3)} = 0 THEN '?from=' || ${number('k', salt + 4, 90)} ELSE '' END`;

export function tables(scale) {
  const rows = Math.max(1000, Math.round(1_000_000 * scale));
  const small = (name, salt, count) => `(${number('k', salt, count)})::SMALLINT AS ${name}`;
  return {
    hits: `SELECT (hash(k * 64 + 1) // 2)::BIGINT AS WatchID, ${small('JavaEnable', 2, 2)},
        CASE WHEN ${number('k', 3, 5)} = 0 THEN 'Title ' || ${skewed('k', 4, 30_000)} || ' of Google pages' ELSE 'Page ' || ${skewed('k', 5, 50_000)} END AS Title,
        TIMESTAMP '2013-07-01' + to_seconds(${number('k', 6, 31 * 86_400)}) AS EventTime,
        (${skewed('k', 7, 6000)} + 50)::INTEGER AS CounterID, ${number('k', 8, 2 ** 31)}::INTEGER AS ClientIP,
        (${skewed('k', 9, 9000)})::INTEGER AS RegionID, ${skewed('k', 10, 180_000)} * 7919 AS UserID,
        ${page(11)} AS URL, CASE WHEN ${number('k', 16, 3)} = 0 THEN '' ELSE ${page(17)} END AS Referer,
        CASE WHEN ${number('k', 22, 7)} = 0 THEN 1 ELSE 0 END::SMALLINT AS IsRefresh, (${skewed('k', 23, 120)})::SMALLINT AS ResolutionWidth,
        ${small('UserAgent', 24, 80)}, CASE WHEN ${number('k', 25, 20)} = 0 THEN (['iPhone 2', 'iPad', 'Nokia', 'Galaxy', 'HTC'])[${number('k', 26, 5)} + 1] ELSE '' END AS MobilePhoneModel,
        ${small('MobilePhone', 27, 60)}, CASE WHEN ${number('k', 28, 20)} < 19 THEN 0 ELSE ${number('k', 29, 90)} END::SMALLINT AS AdvEngineID,
        CASE WHEN ${number('k', 30, 8)} = 0 THEN 'phrase ' || ${skewed('k', 31, 40_000)} ELSE '' END AS SearchPhrase,
        ${small('SearchEngineID', 32, 30)}, ${small('TraficSourceID', 33, 8)}, ${number('k', 34, 50)} = 0 AS IsBot,
        CASE WHEN ${number('k', 35, 10)} = 0 THEN 1 ELSE 0 END::SMALLINT AS IsLink, CASE WHEN ${number('k', 36, 50)} = 0 THEN 1 ELSE 0 END::SMALLINT AS IsDownload,
        CASE WHEN ${number('k', 37, 9)} = 0 THEN 1 ELSE 0 END::SMALLINT AS DontCountHits, ${skewed('k', 38, 40_000)} * 104729 AS URLHash,
        ${skewed('k', 39, 30_000)} * 15485863 AS RefererHash, ${small('WindowClientWidth', 40, 1900)}, ${small('WindowClientHeight', 41, 1000)},
        (${number('k', 42, 30)} - 1)::SMALLINT AS Age, ${small('OS', 43, 90)}, (${number('k', 44, 5000)} * 0.37)::DOUBLE AS ResponseMs
      FROM range(${rows}) r(k)`,
  };
}

const MONTH =
  "CounterID = 62 AND CAST(EventTime AS DATE) >= DATE '2013-07-01' AND CAST(EventTime AS DATE) <= DATE '2013-07-31'";
const SHOWN = `${MONTH} AND DontCountHits = 0 AND IsRefresh = 0`;

export const statements = () =>
  Object.fromEntries(
    [
      'SELECT count(*) AS n FROM hits',
      'SELECT count(*) AS n FROM hits WHERE AdvEngineID <> 0',
      'SELECT sum(AdvEngineID) AS s, count(*) AS n, avg(ResolutionWidth) AS w FROM hits',
      'SELECT avg(UserID) AS mean FROM hits',
      'SELECT count(DISTINCT UserID) AS n FROM hits',
      'SELECT count(DISTINCT SearchPhrase) AS n FROM hits',
      'SELECT min(CAST(EventTime AS DATE)) AS least, max(CAST(EventTime AS DATE)) AS most FROM hits',
      'SELECT AdvEngineID, count(*) AS n FROM hits WHERE AdvEngineID <> 0 GROUP BY AdvEngineID ORDER BY n DESC, AdvEngineID',
      'SELECT RegionID, count(DISTINCT UserID) AS u FROM hits GROUP BY RegionID ORDER BY u DESC, RegionID LIMIT 10',
      'SELECT RegionID, sum(AdvEngineID) AS s, count(*) AS c, avg(ResolutionWidth) AS w, count(DISTINCT UserID) AS u FROM hits GROUP BY RegionID ORDER BY c DESC, RegionID LIMIT 10',
      "SELECT MobilePhoneModel, count(DISTINCT UserID) AS u FROM hits WHERE MobilePhoneModel <> '' GROUP BY MobilePhoneModel ORDER BY u DESC, MobilePhoneModel LIMIT 10",
      "SELECT MobilePhone, MobilePhoneModel, count(DISTINCT UserID) AS u FROM hits WHERE MobilePhoneModel <> '' GROUP BY MobilePhone, MobilePhoneModel ORDER BY u DESC, 1, 2 LIMIT 10",
      "SELECT SearchPhrase, count(*) AS c FROM hits WHERE SearchPhrase <> '' GROUP BY SearchPhrase ORDER BY c DESC, SearchPhrase LIMIT 10",
      "SELECT SearchPhrase, count(DISTINCT UserID) AS u FROM hits WHERE SearchPhrase <> '' GROUP BY SearchPhrase ORDER BY u DESC, SearchPhrase LIMIT 10",
      "SELECT SearchEngineID, SearchPhrase, count(*) AS c FROM hits WHERE SearchPhrase <> '' GROUP BY SearchEngineID, SearchPhrase ORDER BY c DESC, 1, 2 LIMIT 10",
      'SELECT UserID, count(*) AS c FROM hits GROUP BY UserID ORDER BY c DESC, UserID LIMIT 10',
      'SELECT UserID, SearchPhrase, count(*) AS c FROM hits GROUP BY UserID, SearchPhrase ORDER BY c DESC, 1, 2 LIMIT 10',
      'SELECT count(*) AS groups FROM (SELECT UserID, SearchPhrase, count(*) AS c FROM hits GROUP BY UserID, SearchPhrase LIMIT 10) AS q',
      'SELECT UserID, extract(minute FROM EventTime) AS m, SearchPhrase, count(*) AS c FROM hits GROUP BY UserID, m, SearchPhrase ORDER BY c DESC, 1, 2, 3 LIMIT 10',
      'SELECT UserID FROM hits WHERE UserID = 791900',
      "SELECT count(*) AS n FROM hits WHERE URL LIKE '%google%'",
      "SELECT SearchPhrase, min(URL) AS u, count(*) AS c FROM hits WHERE URL LIKE '%google%' AND SearchPhrase <> '' GROUP BY SearchPhrase ORDER BY c DESC, SearchPhrase LIMIT 10",
      "SELECT SearchPhrase, min(URL) AS u, min(Title) AS t, count(*) AS c, count(DISTINCT UserID) AS d FROM hits WHERE Title LIKE '%Google%' AND URL NOT LIKE '%.google.%' AND SearchPhrase <> '' GROUP BY SearchPhrase ORDER BY c DESC, SearchPhrase LIMIT 10",
      "SELECT * FROM hits WHERE URL LIKE '%google%' ORDER BY EventTime, WatchID LIMIT 10",
      "SELECT SearchPhrase FROM hits WHERE SearchPhrase <> '' ORDER BY EventTime, SearchPhrase LIMIT 10",
      "SELECT SearchPhrase FROM hits WHERE SearchPhrase <> '' ORDER BY SearchPhrase LIMIT 10",
      "SELECT SearchPhrase FROM hits WHERE SearchPhrase <> '' ORDER BY EventTime, SearchPhrase, WatchID LIMIT 10",
      "SELECT CounterID, avg(length(URL)) AS l, count(*) AS c FROM hits WHERE URL <> '' GROUP BY CounterID HAVING count(*) > 100 ORDER BY l DESC, CounterID LIMIT 25",
      "SELECT regexp_replace(Referer, '^https?://(?:www\\.)?([^/]+)/.*$', '\\1') AS k, avg(length(Referer)) AS l, count(*) AS c, min(Referer) AS r FROM hits WHERE Referer <> '' GROUP BY k HAVING count(*) > 100 ORDER BY l DESC, k LIMIT 25",
      `SELECT ${Array.from({ length: 90 }, (_, add) => `sum(ResolutionWidth + ${add}) AS s${add}`).join(', ')} FROM hits`,
      "SELECT SearchEngineID, ClientIP, count(*) AS c, sum(IsRefresh) AS s, avg(ResolutionWidth) AS w FROM hits WHERE SearchPhrase <> '' GROUP BY SearchEngineID, ClientIP ORDER BY c DESC, 1, 2 LIMIT 10",
      "SELECT WatchID, ClientIP, count(*) AS c, sum(IsRefresh) AS s, avg(ResolutionWidth) AS w FROM hits WHERE SearchPhrase <> '' GROUP BY WatchID, ClientIP ORDER BY c DESC, 1, 2 LIMIT 10",
      'SELECT WatchID, ClientIP, count(*) AS c, sum(IsRefresh) AS s, avg(ResolutionWidth) AS w FROM hits GROUP BY WatchID, ClientIP ORDER BY c DESC, 1, 2 LIMIT 10',
      'SELECT URL, count(*) AS c FROM hits GROUP BY URL ORDER BY c DESC, URL LIMIT 10',
      'SELECT 1 AS one, URL, count(*) AS c FROM hits GROUP BY 1, URL ORDER BY c DESC, URL LIMIT 10',
      'SELECT ClientIP, ClientIP - 1 AS a, ClientIP - 2 AS b, ClientIP - 3 AS d, count(*) AS c FROM hits GROUP BY ClientIP, ClientIP - 1, ClientIP - 2, ClientIP - 3 ORDER BY c DESC, ClientIP LIMIT 10',
      `SELECT URL, count(*) AS views FROM hits WHERE ${SHOWN} AND URL <> '' GROUP BY URL ORDER BY views DESC, URL LIMIT 10`,
      `SELECT Title, count(*) AS views FROM hits WHERE ${SHOWN} AND Title <> '' GROUP BY Title ORDER BY views DESC, Title LIMIT 10`,
      `SELECT URL, count(*) AS views FROM hits WHERE ${MONTH} AND IsRefresh = 0 AND IsLink <> 0 AND IsDownload = 0 GROUP BY URL ORDER BY views DESC, URL LIMIT 10 OFFSET 10`,
      `SELECT TraficSourceID, SearchEngineID, AdvEngineID, CASE WHEN SearchEngineID = 0 AND AdvEngineID = 0 THEN Referer ELSE '' END AS src, URL AS dst, count(*) AS views FROM hits WHERE ${MONTH} AND IsRefresh = 0 GROUP BY TraficSourceID, SearchEngineID, AdvEngineID, src, dst ORDER BY views DESC, 1, 2, 3, 4, 5 LIMIT 10 OFFSET 20`,
      `SELECT URLHash, CAST(EventTime AS DATE) AS d, count(*) AS views FROM hits WHERE ${MONTH} AND IsRefresh = 0 AND TraficSourceID IN (1, 6) GROUP BY URLHash, d ORDER BY views DESC, 1, 2 LIMIT 10 OFFSET 10`,
      `SELECT WindowClientWidth, WindowClientHeight, count(*) AS views FROM hits WHERE ${SHOWN} AND URLHash < 104729000 GROUP BY WindowClientWidth, WindowClientHeight ORDER BY views DESC, 1, 2 LIMIT 10 OFFSET 10`,
      `SELECT date_trunc('minute', EventTime) AS m, count(*) AS views FROM hits WHERE ${SHOWN} GROUP BY m ORDER BY m LIMIT 10 OFFSET 10`,
    ].map((statement, at) => [`q${at}`, statement]),
  );
