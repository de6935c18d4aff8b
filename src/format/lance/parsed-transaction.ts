/**
 * `transactionSteps` parses the transaction in a Lance manifest, in short steps. It describes what
 * its writer changed in the version that it had read (`ParsedOperation`). Operations that tables
 * here never take, such as data_overlay, are returned by name only. For an unknown operation,
 * `operation` is undefined. A malformed message throws Corrupt.
 *
 * Source: transaction.proto of the Lance repository.
 */
import {
  type ParsedBase,
  type ParsedDataFile,
  type ParsedField,
  type ParsedFragment,
  type ParsedIndex,
  parseBase,
  parseDataFile,
  parseField,
  parseFragment,
  parseIndex,
} from './parsed-fragment.ts';
import type { ProtoReader } from './proto-reader.ts';

/** Changes of a map; undefined removes the key. */
export interface ParsedMapUpdate {
  readonly entries: ReadonlyMap<string, string | undefined>;
  /** The entries are all that is left. */
  readonly replaces: boolean;
}

export interface ParsedRewriteGroup {
  readonly oldFragments: readonly ParsedFragment[];
  readonly newFragments: readonly ParsedFragment[];
}

/** A file that gives a fragment its values of the fields that it holds. */
export interface ParsedReplacement {
  readonly fragmentId: number;
  readonly file: ParsedDataFile;
}

export type ParsedOperation =
  | { readonly kind: 'append'; readonly fragments: readonly ParsedFragment[] }
  | {
      readonly kind: 'delete';
      readonly updatedFragments: readonly ParsedFragment[];
      readonly deletedFragmentIds: readonly number[];
      readonly predicate: string;
    }
  | {
      readonly kind: 'overwrite';
      readonly fragments: readonly ParsedFragment[];
      readonly fields: readonly ParsedField[];
      readonly schemaMetadata: ReadonlyMap<string, string>;
      readonly config: ReadonlyMap<string, string>;
      readonly bases: readonly ParsedBase[];
    }
  | {
      readonly kind: 'create_index';
      readonly newIndexes: readonly ParsedIndex[];
      readonly removedIndexes: readonly ParsedIndex[];
    }
  | {
      readonly kind: 'rewrite';
      readonly groups: readonly ParsedRewriteGroup[];
      readonly rewrittenIndexes: number;
    }
  | {
      readonly kind: 'merge';
      readonly fragments: readonly ParsedFragment[];
      readonly fields: readonly ParsedField[];
      readonly schemaMetadata: ReadonlyMap<string, string>;
    }
  | { readonly kind: 'restore'; readonly version: number }
  | { readonly kind: 'reserve_fragments'; readonly fragments: number }
  | {
      readonly kind: 'update';
      readonly removedFragmentIds: readonly number[];
      readonly updatedFragments: readonly ParsedFragment[];
      readonly newFragments: readonly ParsedFragment[];
      readonly fieldsModified: readonly number[];
      /** True where columns were written anew, false where rows were. */
      readonly rewritesColumns: boolean;
    }
  | { readonly kind: 'project'; readonly fields: readonly ParsedField[] }
  | {
      readonly kind: 'update_config';
      readonly config: ParsedMapUpdate | undefined;
      readonly tableMetadata: ParsedMapUpdate | undefined;
      readonly schemaMetadata: ParsedMapUpdate | undefined;
      /** By the ids of fields. */
      readonly fieldMetadata: ReadonlyMap<number, ParsedMapUpdate>;
    }
  | { readonly kind: 'data_replacement'; readonly replacements: readonly ParsedReplacement[] }
  | {
      readonly kind: 'clone';
      readonly isShallow: boolean;
      readonly refName: string | undefined;
      readonly refVersion: number;
      readonly refPath: string;
      readonly branch: string | undefined;
    }
  /** What no table of ours takes: only its name is known. */
  | { readonly kind: 'other'; readonly name: string };

export interface ParsedTransaction {
  readonly readVersion: number;
  readonly uuid: string;
  readonly tag: string;
  readonly properties: ReadonlyMap<string, string>;
  readonly operation: ParsedOperation | undefined;
  /** The message as it stands in the file, in the memory of the file. */
  readonly message: Uint8Array;
}

const OPERATIONS: ReadonlyMap<
  number,
  (body: ProtoReader) => Generator<undefined, ParsedOperation>
> = new Map([
  [100, append],
  [101, deletion],
  [102, overwrite],
  [103, createIndex],
  [104, rewrite],
  [105, merge],
  [106, restore],
  [107, reserveFragments],
  [108, update],
  [109, project],
  [110, updateConfig],
  [111, dataReplacement],
  [112, other('update_mem_wal_state')],
  [113, clone],
  [114, other('update_bases')],
  [115, other('data_overlay')],
  [116, other('append_fri_transitions')],
]);

/** In short steps. @throws Corrupt */
export function* transactionSteps(message: ProtoReader): Generator<undefined, ParsedTransaction> {
  let readVersion = 0;
  let uuid = '';
  let tag = '';
  const properties = new Map<string, string>();
  let operation: ParsedOperation | undefined;
  while (message.next()) {
    const { member } = message;
    if (member === 1) readVersion = message.uint();
    else if (member === 2) uuid = message.text();
    else if (member === 3) tag = message.text();
    else if (member === 4) message.entry(properties);
    else {
      const read = OPERATIONS.get(member);
      if (read === undefined) {
        message.skip();
        continue;
      }
      if (operation !== undefined) throw message.fault('it is the second operation');
      operation = yield* read(message.part('Transaction.operation'));
    }
  }
  return { readVersion, uuid, tag, properties, operation, message: message.content };
}

function* append(body: ProtoReader): Generator<undefined, ParsedOperation> {
  const fragments: ParsedFragment[] = [];
  while (body.next()) {
    if (body.member === 1) fragments.push(parseFragment(body.item('DataFragment')));
    else body.skip();
    yield;
  }
  return { kind: 'append', fragments };
}

function* deletion(body: ProtoReader): Generator<undefined, ParsedOperation> {
  const updatedFragments: ParsedFragment[] = [];
  const deletedFragmentIds: number[] = [];
  let predicate = '';
  while (body.next()) {
    if (body.member === 1) updatedFragments.push(parseFragment(body.item('DataFragment')));
    else if (body.member === 2) body.uints(deletedFragmentIds);
    else if (body.member === 3) predicate = body.text();
    else body.skip();
    yield;
  }
  return { kind: 'delete', updatedFragments, deletedFragmentIds, predicate };
}

function* overwrite(body: ProtoReader): Generator<undefined, ParsedOperation> {
  const fragments: ParsedFragment[] = [];
  const fields: ParsedField[] = [];
  const schemaMetadata = new Map<string, string>();
  const config = new Map<string, string>();
  const bases: ParsedBase[] = [];
  while (body.next()) {
    if (body.member === 1) fragments.push(parseFragment(body.item('DataFragment')));
    else if (body.member === 2) fields.push(parseField(body.item('Field')));
    else if (body.member === 3) body.entry(schemaMetadata);
    else if (body.member === 4) body.entry(config);
    else if (body.member === 5) bases.push(parseBase(body.item('BasePath')));
    else body.skip();
    yield;
  }
  return { kind: 'overwrite', fragments, fields, schemaMetadata, config, bases };
}

function* createIndex(body: ProtoReader): Generator<undefined, ParsedOperation> {
  const newIndexes: ParsedIndex[] = [];
  const removedIndexes: ParsedIndex[] = [];
  while (body.next()) {
    if (body.member === 1) newIndexes.push(parseIndex(body.item('IndexMetadata')));
    else if (body.member === 2) removedIndexes.push(parseIndex(body.item('IndexMetadata')));
    else body.skip();
    yield;
  }
  return { kind: 'create_index', newIndexes, removedIndexes };
}

/** Members 1 and 2 are one group, as earlier writers gave it. */
function* rewrite(body: ProtoReader): Generator<undefined, ParsedOperation> {
  const groups: ParsedRewriteGroup[] = [];
  const oldFragments: ParsedFragment[] = [];
  const newFragments: ParsedFragment[] = [];
  let rewrittenIndexes = 0;
  while (body.next()) {
    if (body.member === 1) oldFragments.push(parseFragment(body.item('DataFragment')));
    else if (body.member === 2) newFragments.push(parseFragment(body.item('DataFragment')));
    else if (body.member === 3) groups.push(yield* rewriteGroup(body.item('RewriteGroup')));
    else if (body.member === 4) rewrittenIndexes += 1;
    else body.skip();
    yield;
  }
  if (oldFragments.length > 0 || newFragments.length > 0) {
    groups.push({ oldFragments, newFragments });
  }
  return { kind: 'rewrite', groups, rewrittenIndexes };
}

function* rewriteGroup(body: ProtoReader): Generator<undefined, ParsedRewriteGroup> {
  const oldFragments: ParsedFragment[] = [];
  const newFragments: ParsedFragment[] = [];
  while (body.next()) {
    if (body.member === 1) oldFragments.push(parseFragment(body.item('DataFragment')));
    else if (body.member === 2) newFragments.push(parseFragment(body.item('DataFragment')));
    else body.skip();
    yield;
  }
  return { oldFragments, newFragments };
}

function* merge(body: ProtoReader): Generator<undefined, ParsedOperation> {
  const fragments: ParsedFragment[] = [];
  const fields: ParsedField[] = [];
  const schemaMetadata = new Map<string, string>();
  while (body.next()) {
    if (body.member === 1) fragments.push(parseFragment(body.item('DataFragment')));
    else if (body.member === 2) fields.push(parseField(body.item('Field')));
    else if (body.member === 3) body.entry(schemaMetadata);
    // Says of conflicts with other writers only.
    else if (body.member === 4) body.bool();
    else body.skip();
    yield;
  }
  return { kind: 'merge', fragments, fields, schemaMetadata };
}

function* restore(body: ProtoReader): Generator<undefined, ParsedOperation> {
  let version = 0;
  while (body.next()) {
    if (body.member === 1) version = body.uint();
    else body.skip();
    yield;
  }
  return { kind: 'restore', version };
}

function* reserveFragments(body: ProtoReader): Generator<undefined, ParsedOperation> {
  let fragments = 0;
  while (body.next()) {
    if (body.member === 1) fragments = body.uint();
    else body.skip();
    yield;
  }
  return { kind: 'reserve_fragments', fragments };
}

function* update(body: ProtoReader): Generator<undefined, ParsedOperation> {
  const removedFragmentIds: number[] = [];
  const updatedFragments: ParsedFragment[] = [];
  const newFragments: ParsedFragment[] = [];
  const fieldsModified: number[] = [];
  let rewritesColumns = false;
  while (body.next()) {
    const { member } = body;
    if (member === 1) body.uints(removedFragmentIds);
    else if (member === 2) updatedFragments.push(parseFragment(body.item('DataFragment')));
    else if (member === 3) newFragments.push(parseFragment(body.item('DataFragment')));
    else if (member === 4) body.uints(fieldsModified);
    else if (member === 7) rewritesColumns = body.uint() === 1;
    // 6: which indexes stay valid. 8 to 10: which rows conflict with other writers.
    else if (member === 5 || member > 10) body.skip();
    yield;
  }
  return {
    kind: 'update',
    removedFragmentIds,
    updatedFragments,
    newFragments,
    fieldsModified,
    rewritesColumns,
  };
}

function* project(body: ProtoReader): Generator<undefined, ParsedOperation> {
  const fields: ParsedField[] = [];
  while (body.next()) {
    if (body.member === 1) fields.push(parseField(body.item('Field')));
    else if (body.member === 2) body.bool();
    else body.skip();
    yield;
  }
  return { kind: 'project', fields };
}

/** Members 1 to 4 are how earlier writers said the same. */
function* updateConfig(body: ProtoReader): Generator<undefined, ParsedOperation> {
  let config: ParsedMapUpdate | undefined;
  let tableMetadata: ParsedMapUpdate | undefined;
  let schemaMetadata: ParsedMapUpdate | undefined;
  const fieldMetadata = new Map<number, ParsedMapUpdate>();
  const upserted = new Map<string, string>();
  const deleted: string[] = [];
  const wholeSchemaMetadata = new Map<string, string>();
  while (body.next()) {
    const { member } = body;
    if (member === 1) body.entry(upserted);
    else if (member === 2) body.texts(deleted);
    else if (member === 3) body.entry(wholeSchemaMetadata);
    else if (member === 6) config = mapUpdate(body.part('UpdateMap'));
    else if (member === 7) tableMetadata = mapUpdate(body.part('UpdateMap'));
    else if (member === 8) schemaMetadata = mapUpdate(body.part('UpdateMap'));
    else if (member === 9) fieldUpdate(body.item('UpdateConfig.9'), fieldMetadata);
    else body.skip();
    yield;
  }
  if (upserted.size > 0 || deleted.length > 0) {
    const removed = deleted.map((key) => [key, undefined] as const);
    config ??= { entries: new Map([...upserted, ...removed]), replaces: false };
  }
  if (wholeSchemaMetadata.size > 0) {
    schemaMetadata ??= { entries: wholeSchemaMetadata, replaces: true };
  }
  return { kind: 'update_config', config, tableMetadata, schemaMetadata, fieldMetadata };
}

function mapUpdate(body: ProtoReader): ParsedMapUpdate {
  const entries = new Map<string, string | undefined>();
  let replaces = false;
  while (body.next()) {
    if (body.member === 1) {
      const entry = body.item('UpdateMapEntry');
      let key = '';
      let value: string | undefined;
      while (entry.next()) {
        if (entry.member === 1) key = entry.text();
        else if (entry.member === 2) value = entry.text();
        else entry.skip();
      }
      entries.set(key, value);
    } else if (body.member === 2) replaces = body.bool();
    else body.skip();
  }
  return { entries, replaces };
}

function fieldUpdate(entry: ProtoReader, into: Map<number, ParsedMapUpdate>): void {
  let field = 0;
  let changes: ParsedMapUpdate = { entries: new Map(), replaces: false };
  while (entry.next()) {
    if (entry.member === 1) field = entry.int32();
    else if (entry.member === 2) changes = mapUpdate(entry.part('UpdateMap'));
    else entry.skip();
  }
  into.set(field, changes);
}

function* dataReplacement(body: ProtoReader): Generator<undefined, ParsedOperation> {
  const replacements: ParsedReplacement[] = [];
  while (body.next()) {
    if (body.member === 1) {
      const group = body.item('DataReplacementGroup');
      let fragmentId = 0;
      let file: ParsedDataFile | undefined;
      while (group.next()) {
        if (group.member === 1) fragmentId = group.uint();
        else if (group.member === 2) file = parseDataFile(group.part('DataFile'));
        else group.skip();
      }
      if (file === undefined) throw group.fault('it names no file');
      replacements.push({ fragmentId, file });
    } else body.skip();
    yield;
  }
  return { kind: 'data_replacement', replacements };
}

function* clone(body: ProtoReader): Generator<undefined, ParsedOperation> {
  let isShallow = false;
  let refName: string | undefined;
  let refVersion = 0;
  let refPath = '';
  let branch: string | undefined;
  while (body.next()) {
    if (body.member === 1) isShallow = body.bool();
    else if (body.member === 2) refName = body.text();
    else if (body.member === 3) refVersion = body.uint();
    else if (body.member === 4) refPath = body.text();
    else if (body.member === 5) branch = body.text();
    else body.skip();
    yield;
  }
  return { kind: 'clone', isShallow, refName, refVersion, refPath, branch };
}

function other(name: string): (body: ProtoReader) => Generator<undefined, ParsedOperation> {
  return function* () {
    yield;
    return { kind: 'other', name };
  };
}
