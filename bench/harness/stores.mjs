/**
 * The same tables on every side. A `Stores` has a folder for each engine; LanceDB's two connections
 * read the same files. Reads run on all sides, those in SQL on DuckDB's own file and on Parquet too.
 */
import { connect } from '../../dist/index.js';
import * as ownArrow from '../../node_modules/apache-arrow/Arrow.node.mjs';
import { Duck } from './duck.mjs';
import { touch } from './touch.mjs';

export { ownArrow };

export class Stores {
  constructor(ctx, name) {
    this.ctx = ctx;
    this.paths = {
      ours: ctx.folder(`${name}-own`),
      lance: ctx.folder(`${name}-lance`),
      duckdb: ctx.folder(`${name}.duckdb`),
      parquet: ctx.folder(name),
    };
  }

  /** @param options of our connection */
  static async open(ctx, name, options) {
    const stores = new Stores(ctx, name);
    const { peers } = ctx;
    stores.ours = await connect(stores.paths.ours, options);
    if (peers.lancedb !== undefined) stores.lance = await peers.lancedb.connect(stores.paths.lance);
    if (peers.duckdb !== undefined) {
      stores.duck = await Duck.open(peers.duckdb, stores.paths.duckdb);
      stores.parquet = await Duck.open(peers.duckdb);
    }
    return stores;
  }

  /**
   * @param make makes the table with a release of Arrow
   * @param options of our table
   */
  async create(name, make, options) {
    await this.ours.createTable(name, make(ownArrow), [], options);
    await this.lance?.createTable(name, make(this.ctx.peers.arrow));
  }

  async add(name, make) {
    await (await this.ours.openTable(name)).add(make(ownArrow));
    await (await this.lance?.openTable(name))?.add(make(this.ctx.peers.arrow));
  }

  /** The rows of a table in DuckDB, taken from ours, and as a Parquet file. */
  async toDuck(name, types) {
    if (this.duck === undefined) return;
    const table = await (await this.ours.openTable(name)).toArrow();
    const columns = {};
    for (const [column, type] of Object.entries(types)) {
      columns[column] = values(table.getChild(column), type);
    }
    await this.duck.load(name, columns);
    await this.toParquet(name);
  }

  async toParquet(name) {
    if (this.duck === undefined) return;
    const path = `${this.paths.parquet}-${name}.parquet`;
    await this.duck.run(`COPY ${name} TO '${path}' (FORMAT parquet, COMPRESSION zstd)`);
    await this.parquet.run(`CREATE VIEW ${name} AS SELECT * FROM read_parquet('${path}')`);
    return path;
  }

  /** Opens a table on the sides that have our interface. */
  async tables(name, options) {
    const { has, lancedb } = this.ctx.peers;
    const reader = await connect(this.paths.ours, options);
    const found = { ours: await reader.openTable(name) };
    if (has('lancedb')) found.lancedb = await this.lance.openTable(name);
    if (has('lancedb-ns')) {
      const namespace = await lancedb.connectNamespace('dir', { root: this.paths.lance });
      found['lancedb-ns'] = await namespace.openTable(name);
    }
    return found;
  }

  /**
   * The sides of a read.
   * @param tables of `tables` @param run the read on one of them
   * @param sql the same for DuckDB; with `value` its answer is one number
   */
  reads(tables, run, sql, value = false) {
    const sides = {};
    for (const [side, table] of Object.entries(tables)) {
      sides[side] = async (n) => {
        const answer = await run(table, n);
        return answer?.batches === undefined ? answer : touch(answer);
      };
    }
    if (sql === undefined) return sides;
    const { has } = this.ctx.peers;
    const ask = (duck) => (n) => (value ? duck.number(sql(n)) : duck.rows(sql(n)));
    if (has('duckdb')) sides.duckdb = ask(this.duck);
    if (has('parquet')) sides.parquet = ask(this.parquet);
    return sides;
  }

  close() {
    this.duck?.close();
    this.parquet?.close();
  }
}

function values(vector, type) {
  const list = type === 'BIGINT' ? Array.from(vector, BigInt) : [...vector];
  return { type, length: list.length, slice: (from, to) => list.slice(from, to) };
}

export const W_TYPES = { id: 'BIGINT', x: 'DOUBLE', category: 'VARCHAR', text: 'VARCHAR' };
