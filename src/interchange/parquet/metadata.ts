/**
 * Parses the footer of a Parquet file into columns, row groups and key-value pairs
 * (`parquetMetadata`), and the header of a page (`pageHeader`). The bytes are untrusted: a missing
 * member, a number out of bounds, more than 100,000 columns and an unsupported feature call the
 * caller's `refuse`. The numbers of members are those of parquet.thrift, as are those of types
 * (`PHYSICAL`).
 */
import { MAX_SCHEMA_DEPTH } from '../../protocol/index.ts';
import { type Refuse, readThrift, type ThriftStruct, type ThriftValue } from './thrift.ts';

/** Types of what is stored. */
export const PHYSICAL = {
  BOOLEAN: 0,
  INT32: 1,
  INT64: 2,
  INT96: 3,
  FLOAT: 4,
  DOUBLE: 5,
  BYTE_ARRAY: 6,
  FIXED_LEN_BYTE_ARRAY: 7,
} as const;

/** An element of the schema, with those inside it. */
export interface ParquetNode {
  readonly name: string;
  /** Undefined of groups. */
  readonly physical: number | undefined;
  /** Bytes of a value of fixed length. */
  readonly width: number;
  readonly repetition: 'required' | 'optional' | 'repeated';
  readonly converted: number | undefined;
  /** The union of logical types: its one field is the type. */
  readonly logical: ThriftStruct | undefined;
  readonly scale: number;
  readonly precision: number;
  readonly children: readonly ParquetNode[];
  /** Levels at which it is there: how many optional and repeated nodes lead to it, itself counted. */
  readonly maxDefinition: number;
  readonly maxRepetition: number;
}

export interface ColumnChunk {
  readonly physical: number;
  readonly codec: number;
  readonly values: number;
  /** Where its first page begins, and its bytes as stored. */
  readonly offset: number;
  readonly bytes: number;
  /** Bytes once they are decompressed. */
  readonly plainBytes: number;
}

export interface RowGroup {
  readonly rows: number;
  /** In the order of the leaves. */
  readonly columns: readonly ColumnChunk[];
}

export interface ParquetMetadata {
  readonly root: ParquetNode;
  readonly leaves: readonly ParquetNode[];
  readonly rows: number;
  readonly groups: readonly RowGroup[];
  readonly keyValues: ReadonlyMap<string, string>;
}

/** As many as no writer has: a column takes memory for its pages. */
const MOST_COLUMNS = 100_000;
/** A list takes two levels, so that all types which tables may have are read back. */
const MOST_DEPTH = 2 * MAX_SCHEMA_DEPTH + 1;
const REPETITIONS = ['required', 'optional', 'repeated'] as const;

const textOf = (value: ThriftValue | undefined): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : '';

class Fields {
  readonly #refuse: Refuse;

  constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }

  struct(value: ThriftValue | undefined, what: string): ThriftStruct {
    const isStruct =
      typeof value === 'object' && !Array.isArray(value) && !(value instanceof Uint8Array);
    return isStruct ? (value as ThriftStruct) : this.#refuse(`its metadata has no ${what}`);
  }

  list(value: ThriftValue | undefined, what: string): readonly ThriftValue[] {
    return Array.isArray(value) ? value : this.#refuse(`its metadata has no ${what}`);
  }

  /** A number from 0 on that is exact. */
  count(value: ThriftValue | undefined, what: string): number {
    const number = typeof value === 'bigint' || typeof value === 'number' ? Number(value) : -1;
    if (Number.isSafeInteger(number) && number >= 0) return number;
    return this.#refuse(`its metadata has no ${what}, or one out of bounds`);
  }
}

/** @param bytes of the footer, without its length and the magic */
export function parquetMetadata(bytes: Uint8Array, refuse: Refuse): ParquetMetadata {
  const { struct } = readThrift(bytes, 0, refuse);
  const fields = new Fields(refuse);
  const elements = fields.list(struct[2], 'schema');
  const { root, leaves } = schemaTree(elements, fields, refuse);
  const groups = fields.list(struct[4], 'list of row groups').map((item) => {
    const group = fields.struct(item, 'row group');
    const columns = fields
      .list(group[1], 'columns of a row group')
      .map((column) => columnChunk(fields.struct(column, 'column'), fields, refuse));
    if (columns.length !== leaves.length) {
      refuse(`a row group has ${columns.length} columns, and the schema ${leaves.length}`);
    }
    for (const [at, { physical }] of columns.entries()) {
      if (physical !== leaves[at]?.physical)
        refuse(`the types of column ${at} contradict each other`);
    }
    return { rows: fields.count(group[3], 'number of rows'), columns };
  });
  const said = fields.count(struct[3], 'number of rows');
  const rows = groups.reduce((all, group) => all + group.rows, 0);
  // Some writers leave the sum at 0, such as parquet-rs 0.3.
  if (rows !== said && said !== 0) refuse(`its row groups have ${rows} rows, and it says ${said}`);
  const pairs = Array.isArray(struct[5]) ? struct[5] : [];
  const keyValues = new Map(
    pairs.map((pair) => {
      const { 1: key, 2: value } = fields.struct(pair, 'pair of a key and a value');
      return [textOf(key), textOf(value)];
    }),
  );
  return { root, leaves, rows, groups, keyValues };
}

function columnChunk(chunk: ThriftStruct, fields: Fields, refuse: Refuse): ColumnChunk {
  if (chunk[1] !== undefined) refuse('a column lies in another file, which is not read');
  if (chunk[8] !== undefined || chunk[9] !== undefined)
    refuse('it is encrypted, which is not read');
  const meta = fields.struct(chunk[3], 'metadata of a column');
  const data = fields.count(meta[9], 'offset of a column');
  const dictionary = meta[11] === undefined ? 0 : fields.count(meta[11], 'offset of a dictionary');
  return {
    physical: fields.count(meta[1], 'type of a column'),
    codec: fields.count(meta[4], 'codec of a column'),
    values: fields.count(meta[5], 'number of values'),
    plainBytes: fields.count(meta[6], 'size of a column'),
    bytes: fields.count(meta[7], 'size of a column'),
    // Some writers put a dictionary offset of 0 where there is none.
    offset: dictionary > 0 && dictionary < data ? dictionary : data,
  };
}

function schemaTree(
  elements: readonly ThriftValue[],
  fields: Fields,
  refuse: Refuse,
): { readonly root: ParquetNode; readonly leaves: readonly ParquetNode[] } {
  const leaves: ParquetNode[] = [];
  let next = 0;
  const node = (depth: number, definition: number, repeated: number): ParquetNode => {
    if (depth > MOST_DEPTH) refuse(`its schema has more than ${MOST_DEPTH} levels`);
    const element = fields.struct(elements[next++], 'element of the schema');
    const repetition = depth === 0 ? 'required' : REPETITIONS[Number(element[3] ?? 0)];
    if (repetition === undefined) return refuse('its schema has an unknown repetition');
    const maxDefinition = definition + (repetition === 'required' ? 0 : 1);
    const maxRepetition = repeated + (repetition === 'repeated' ? 1 : 0);
    const isGroup = element[1] === undefined;
    const count = isGroup ? fields.count(element[5] ?? 0, 'number of columns') : 0;
    if (count > elements.length) refuse('its schema is cut short');
    const children: ParquetNode[] = [];
    for (let child = 0; child < count; child++) {
      children.push(node(depth + 1, maxDefinition, maxRepetition));
    }
    const found: ParquetNode = {
      name: textOf(element[4]),
      physical: isGroup ? undefined : fields.count(element[1], 'type of a column'),
      width: element[2] === undefined ? 0 : fields.count(element[2], 'length of a type'),
      repetition,
      converted: typeof element[6] === 'number' ? element[6] : undefined,
      logical: element[10] === undefined ? undefined : fields.struct(element[10], 'logical type'),
      scale: element[7] === undefined ? 0 : fields.count(element[7], 'scale'),
      precision: element[8] === undefined ? 0 : fields.count(element[8], 'precision'),
      children,
      maxDefinition,
      maxRepetition,
    };
    if (!isGroup) leaves.push(found);
    if (leaves.length > MOST_COLUMNS) refuse(`it has more than ${MOST_COLUMNS} columns`);
    return found;
  };
  const root = node(0, 0, 0);
  if (next !== elements.length) refuse('its schema has elements that belong to nothing');
  return { root, leaves };
}

/** What stands before a page. */
export interface PageHeader {
  readonly kind: 'data' | 'data2' | 'dictionary' | 'index';
  readonly plainBytes: number;
  readonly bytes: number;
  readonly crc: number | undefined;
  readonly values: number;
  readonly encoding: number;
  /** Of a data page of version 1: how levels are encoded. */
  readonly definitionEncoding: number;
  readonly repetitionEncoding: number;
  /** Of version 2: bytes of the levels, and whether the values are compressed. */
  readonly definitionBytes: number;
  readonly repetitionBytes: number;
  readonly isCompressed: boolean;
}

/**
 * The header that begins at `at`, and where it ends.
 * @param cutShort throws where more bytes are needed; refuses where it is left out
 */
export function pageHeader(
  bytes: Uint8Array,
  at: number,
  refuse: Refuse,
  cutShort: (() => never) | undefined,
): { readonly header: PageHeader; readonly end: number } {
  const { struct, end } = readThrift(bytes, at, refuse, cutShort);
  const fields = new Fields(refuse);
  const type = fields.count(struct[1], 'type of a page');
  const kind = (['data', 'index', 'dictionary', 'data2'] as const)[type];
  if (kind === undefined) return refuse(`it has a page of the unknown type ${type}`);
  const own = { data: struct[5], index: struct[6], dictionary: struct[7], data2: struct[8] }[kind];
  const page = kind === 'index' ? {} : fields.struct(own, 'header of a page');
  const count = (value: ThriftValue | undefined, what: string): number =>
    value === undefined ? 0 : fields.count(value, what);
  const isV2 = kind === 'data2';
  const header: PageHeader = {
    kind,
    plainBytes: fields.count(struct[2], 'size of a page'),
    bytes: fields.count(struct[3], 'size of a page'),
    crc: typeof struct[4] === 'number' ? struct[4] >>> 0 : undefined,
    values: count(page[1], 'number of values of a page'),
    encoding: count(isV2 ? page[4] : page[2], 'encoding of a page'),
    definitionEncoding: kind === 'data' ? count(page[3], 'encoding of levels') : 3,
    repetitionEncoding: kind === 'data' ? count(page[4], 'encoding of levels') : 3,
    definitionBytes: isV2 ? fields.count(page[5], 'size of levels') : 0,
    repetitionBytes: isV2 ? fields.count(page[6], 'size of levels') : 0,
    isCompressed: isV2 ? page[7] !== false : true,
  };
  return { header, end };
}
