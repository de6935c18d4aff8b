/**
 * Looks at what a query answered, so that an engine which hands out columns lazily does their work
 * inside of the measurement: one byte of each 64 in each buffer, which brings every cache line in.
 */

let sink = 0;

const BUFFERS = ['values', 'valueOffsets', 'nullBitmap', 'typeIds'];

function touchBuffer(buffer) {
  if (!ArrayBuffer.isView(buffer)) return;
  const step = Math.max(1, 64 / buffer.BYTES_PER_ELEMENT);
  let sum = 0;
  for (let at = 0; at < buffer.length; at += step) sum += Number(buffer[at]);
  sink += sum;
}

function touchData(data) {
  for (const name of BUFFERS) touchBuffer(data[name]);
  for (const child of data.children) touchData(child);
  if (data.dictionary) for (const part of data.dictionary.data) touchData(part);
}

/** The number of an Arrow table's rows, after all of its values were looked at. */
export function touch(table) {
  for (const batch of table.batches) touchData(batch.data);
  return table.numRows;
}

/** The number of rows of an array of objects, after each of their members was read. */
export function touchObjects(rows) {
  for (const row of rows) {
    for (const name of Object.keys(row.toJSON?.() ?? row)) {
      const value = row[name];
      sink += typeof value === 'string' ? value.length : Number(value);
    }
  }
  return rows.length;
}

/** The number of rows of DuckDB's chunks. Texts are looked at in one row of 16, as it has to copy them. */
export function touchChunks(chunks) {
  let rows = 0;
  for (const chunk of chunks) {
    rows += chunk.rowCount;
    for (let column = 0; column < chunk.columnCount; column++) {
      const vector = chunk.getColumnVector(column);
      if (ArrayBuffer.isView(vector.items)) touchBuffer(vector.items);
      else for (let row = 0; row < chunk.rowCount; row += 16) sink += vector.getItem(row) ? 1 : 0;
    }
  }
  return rows;
}

/** Keeps the sums in use. */
export const touched = () => sink;
