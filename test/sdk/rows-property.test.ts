import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { Table, tableFromIPC, tableToIPC } from '../../src/arrow/apache.ts';
import { toRecordBatchStream } from '../../src/sdk/convert/data.ts';
import { batchRows, type Row } from '../../src/sdk/convert/rows.ts';
import { collectBatches } from '../helpers/batches.ts';
import { casesOf } from '../helpers/long.ts';
import { bytes, date, randomRows, signed64, text } from '../helpers/random-rows.ts';

/** Without the prototype that gives rows and structs their toJSON. */
const copies = (rows: Row[]): Row[] => structuredClone(rows);

describe('random rows of a random schema', () => {
  it('come back equal, and again after Arrow IPC and as Arrow data', async () => {
    await fc.assert(
      fc.asyncProperty(randomRows, async ({ schema, rows, batchRows: size }) => {
        const stream = await toRecordBatchStream(rows, { schema, batchRows: size });
        const batches = await collectBatches(stream);
        deepStrictEqual(copies(batches.flatMap(batchRows)), rows);
        const table = new Table(schema, batches);
        const ipc = tableFromIPC(tableToIPC(table, 'stream'));
        deepStrictEqual(copies(ipc.batches.flatMap(batchRows)), rows);
        const again = await toRecordBatchStream(ipc.slice(1), { schema });
        deepStrictEqual(copies((await collectBatches(again)).flatMap(batchRows)), rows.slice(1));
      }),
      { numRuns: casesOf(120, 300) },
    );
  });

  it('come back equal with an inferred schema', async () => {
    const value = fc.oneof(
      fc.tuple(fc.constant('n'), fc.double()),
      fc.tuple(fc.constant('i'), signed64),
      fc.tuple(fc.constant('s'), text),
      fc.tuple(fc.constant('b'), fc.boolean()),
      fc.tuple(fc.constant('d'), date),
      fc.tuple(fc.constant('y'), bytes('small')),
      fc.tuple(fc.constant('l'), fc.array(fc.double(), { minLength: 1 })),
      fc.tuple(
        fc.constant('v'),
        fc.float64Array({ minLength: 2, maxLength: 2 }).map((a) => new Float64Array(a)),
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 20 }), async (cells) => {
        const names = [...new Set(cells.map(([key]) => key))];
        const rows = cells.map(([key, cell]) =>
          Object.fromEntries(names.map((other) => [other, other === key ? cell : null])),
        );
        const stream = await toRecordBatchStream(rows);
        deepStrictEqual(copies((await collectBatches(stream)).flatMap(batchRows)), rows);
      }),
    );
  });
});
