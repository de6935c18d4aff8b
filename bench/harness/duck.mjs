/** A DuckDB database in a file of its own, or in memory over Parquet files. */
import { touchChunks } from './touch.mjs';

const CHUNK = 2_048;

export class Duck {
  #duckdb;
  #instance;
  #connection;

  constructor(duckdb, instance, connection) {
    this.#duckdb = duckdb;
    this.#instance = instance;
    this.#connection = connection;
  }

  static async open(duckdb, path = ':memory:', config = {}) {
    const instance = await duckdb.DuckDBInstance.create(path, config);
    return new Duck(duckdb, instance, await instance.connect());
  }

  run(sql) {
    return this.#connection.run(sql);
  }

  /** The number of rows of an answer, after its values were looked at. */
  async rows(sql) {
    const result = await this.#connection.run(sql);
    return touchChunks(await result.fetchAllChunks());
  }

  async objects(sql) {
    return (await this.#connection.run(sql)).getRowObjects();
  }

  /** The single value of an answer, as a number. */
  async number(sql) {
    const [[value]] = await (await this.#connection.run(sql)).getRows();
    return Number(value);
  }

  /** Makes a table of columns of plain values: `{id: {type: 'BIGINT', values}, ...}`. */
  async load(name, columns) {
    const names = Object.keys(columns);
    const declared = names.map((column) => `"${column}" ${columns[column].type}`);
    await this.run(`CREATE TABLE ${name} (${declared.join(', ')})`);
    const appender = await this.#connection.createAppender(name);
    const types = names.map((_, index) => appender.columnType(index));
    const total = columns[names[0]].length;
    for (let from = 0; from < total; from += CHUNK) {
      const to = Math.min(total, from + CHUNK);
      const chunk = this.#duckdb.DuckDBDataChunk.create(types, to - from);
      for (const [index, column] of names.entries()) {
        chunk.setColumnValues(index, columns[column].slice(from, to));
      }
      appender.appendDataChunk(chunk);
    }
    appender.closeSync();
    await this.run('CHECKPOINT');
  }

  close() {
    this.#connection.closeSync();
    this.#instance.closeSync();
  }
}
