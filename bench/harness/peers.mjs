/**
 * The programs that we are compared with, loaded where they are asked for, and Chromium, which the suite
 * `ui` looks at the page with. Without them the rows run
 * for ours alone: `--peers none` needs nothing installed in this folder.
 */
export const SIDES = ['lancedb', 'lancedb-ns', 'duckdb', 'parquet', 'chromium'];

/** @param asked names of sides with commas between them, or `none` */
export async function loadPeers(asked = SIDES.join(',')) {
  const names = asked === 'none' ? [] : asked.split(',');
  const has = (name) => names.includes(name);
  const lance = has('lancedb') || has('lancedb-ns');
  const duck = has('duckdb') || has('parquet');
  // A warning for each search would hide the rows.
  process.env.LANCEDB_LOG ??= 'error';
  return {
    has,
    lancedb: lance ? await import('@lancedb/lancedb') : undefined,
    arrow: lance ? await import('apache-arrow') : undefined,
    duckdb: duck ? await import('@duckdb/node-api') : undefined,
  };
}
