/**
 * `describedBlobs` replaces the blobs in an answer by descriptions, in the form that LanceDB
 * returns. A description says whether the bytes are in the table or at a URI, and how many are in
 * the table. A blob without bytes and URI is null. Blobs in structs are described too; blobs in
 * lists are returned as they are. A query can read the bytes by `"column"."data"`.
 */
import {
  changeField,
  childFields,
  columnsOf,
  type Data,
  dataOf,
  Field,
  getBit,
  isBlobField,
  type Offsets,
  offsetAt,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  Schema,
  Struct,
  setBit,
  sliceBits,
  Type,
  Uint8,
  Uint32,
  Uint64,
  Utf8,
  validityOf,
} from '../../../arrow/index.ts';
import { joined } from '../../../bytes.ts';

const INLINE = 0;
const EXTERNAL = 3;

const DESCRIPTION = new Struct([
  new Field('kind', new Uint8(), false),
  new Field('position', new Uint64(), false),
  new Field('size', new Uint64(), false),
  new Field('blob_id', new Uint32(), false),
  new Field('blob_uri', new Utf8(), false),
]);
const METADATA = [
  ['lance-encoding:blob', 'true'],
  ['lance-encoding:packed', 'true'],
] as const;

/** The same stream where no column holds blobs. */
export function describedBlobs(stream: RecordBatchStream): RecordBatchStream {
  const { fields, metadata } = stream.schema;
  if (!fields.some(hasBlobs)) return stream;
  const schema = new Schema(fields.map(describedField), metadata);
  const describe = (batch: RecordBatch): RecordBatch => {
    const columns = columnsOf(batch).map((data, at) => describedData(fields[at] as Field, data));
    return recordBatch(schema, columns, batch.numRows);
  };
  return {
    schema,
    async *[Symbol.asyncIterator]() {
      for await (const batch of stream) yield describe(batch);
    },
  };
}

const isStruct = ({ type }: Field): boolean => type.typeId === Type.Struct;

const hasBlobs = (field: Field): boolean =>
  isBlobField(field) || (isStruct(field) && childFields(field.type).some(hasBlobs));

function describedField(field: Field): Field {
  if (isBlobField(field)) {
    return changeField(field, { type: DESCRIPTION, metadata: new Map(METADATA), nullable: true });
  }
  if (!hasBlobs(field)) return field;
  return changeField(field, { type: new Struct(childFields(field.type).map(describedField)) });
}

function describedData(field: Field, data: Data): Data {
  if (isBlobField(field)) return descriptions(data);
  if (!hasBlobs(field)) return data;
  const fields = childFields(field.type);
  const children = data.children.map((child, at) => describedData(fields[at] as Field, child));
  const type = describedField(field).type;
  const { length, offset, nullCount } = data;
  const bits = validityOf(data);
  const validity = bits === undefined ? undefined : sliceBits(bits, offset, length);
  return dataOf(type, length, { nullCount, validity, children });
}

/** One description for each value; null for a value that is null, or has neither bytes nor address. */
function descriptions(data: Data): Data {
  const rows = data.length;
  const [bytes, addresses] = data.children as [Data, Data];
  const kinds = new Uint8Array(rows);
  const sizes = new BigUint64Array(rows);
  const uris: Uint8Array[] = [];
  const uriOffsets = new Int32Array(rows + 1);
  const validity = new Uint8Array((rows + 7) >> 3);
  let nullCount = 0;
  for (let row = 0; row < rows; row++) {
    uriOffsets[row + 1] = uriOffsets[row] as number;
    if (isNull(data, row) || (isNull(bytes, row) && isNull(addresses, row))) {
      nullCount += 1;
      continue;
    }
    setBit(validity, row);
    if (isNull(bytes, row)) {
      const [from, to] = rangeOf(addresses, row);
      kinds[row] = EXTERNAL;
      uris.push((addresses.values as unknown as Uint8Array).subarray(from, to));
      uriOffsets[row + 1] = (uriOffsets[row] as number) + to - from;
    } else {
      const [from, to] = rangeOf(bytes, row);
      kinds[row] = INLINE;
      sizes[row] = BigInt(to - from);
    }
  }
  const zeros = new BigUint64Array(rows);
  return dataOf(DESCRIPTION, rows, {
    nullCount,
    validity: nullCount === 0 ? undefined : validity,
    children: [
      dataOf(new Uint8(), rows, { values: kinds }),
      dataOf(new Uint64(), rows, { values: zeros }),
      dataOf(new Uint64(), rows, { values: sizes }),
      dataOf(new Uint32(), rows, { values: new Uint32Array(rows) }),
      dataOf(new Utf8(), rows, { offsets: uriOffsets, values: joined(uris) }),
    ],
  });
}

function isNull(data: Data, row: number): boolean {
  const validity = validityOf(data);
  return validity !== undefined && !getBit(validity, data.offset + row);
}

function rangeOf(data: Data, row: number): [number, number] {
  const offsets = data.valueOffsets as unknown as Offsets;
  // The offsets of a slice are cut already.
  return [offsetAt(offsets, row), offsetAt(offsets, row + 1)];
}
