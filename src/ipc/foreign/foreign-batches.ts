/**
 * `ForeignBatches` decodes the messages of an Arrow stream or file of another program, in steps:
 * `batch` returns a record batch, and `dictionary` keeps a dictionary for the batches after it.
 * Faults throw InvalidInput naming the record batch or dictionary, and sizes beyond the limits
 * throw PayloadTooLarge. What is held counts in the request's memory until `end`, which the caller
 * must call. foreign-ipc.ts and foreign-file.ts supply the messages.
 */
import {
  concatData,
  type Data,
  markSharedData,
  type RecordBatch,
  recordBatch,
  Vector,
} from '../../arrow/index.ts';
import type { HeldMemory, RequestMemory } from '../../request-memory.ts';
import type { WaitingSteps } from '../../steps.ts';
import { MessageBudget, type StreamBudget } from './foreign-budget.ts';
import { bodyBuffers } from './foreign-buffers.ts';
import { readColumns } from './foreign-columns.ts';
import {
  type BatchHeader,
  type ForeignMessage,
  invalid,
  refuser,
  tooLarge,
} from './foreign-messages.ts';
import type { ForeignField, ForeignSchema } from './foreign-schema.ts';

export interface BatchLimits {
  /**
   * Bytes of one message, or of all dictionaries, after decompression and with list views and runs
   * expanded; and of all that these take beyond the bytes that compression could hold.
   */
  readonly maxDecompressedBytes: number;
  /** Bytes of all messages, each counted once it is decompressed. */
  readonly maxContentBytes: number;
  /** Counts what is made of a message until the next one, and of dictionaries until the end. */
  readonly memory: RequestMemory | undefined;
  /** Values that take no bytes, in all batches. */
  readonly maxUnbackedValues: number;
  /** Whether batches of a file are copied out of its bytes. */
  readonly apart: boolean;
}

interface HeldDictionary {
  /** Pieces of falling length, so that many small additions do not become many small pieces. */
  pieces: Data[];
  bytes: number;
}

export class ForeignBatches {
  readonly #foreign: ForeignSchema;
  readonly #limits: BatchLimits;
  readonly #dictionaries = new Map<number, Vector>();
  readonly #held = new Map<number, HeldDictionary>();
  readonly #budget: StreamBudget;
  readonly #ofMessage: HeldMemory | undefined;
  /** Of the message before, for the server alone: a request may have messages as large as its memory. */
  readonly #ofLast: HeldMemory | undefined;
  readonly #ofDictionaries: HeldMemory | undefined;
  /** Bytes that were made of the last message. */
  #made = 0;
  #dictionaryBytes = 0;
  #contentBytes = 0;
  #batches = 0;

  constructor(foreign: ForeignSchema, limits: BatchLimits) {
    this.#foreign = foreign;
    this.#limits = limits;
    this.#budget = { unbacked: limits.maxUnbackedValues, expanded: limits.maxDecompressedBytes };
    this.#ofMessage = limits.memory?.hold('The Arrow data of a message, decompressed,');
    this.#ofLast = limits.memory?.holdOfServer('The Arrow data of the message before');
    this.#ofDictionaries = limits.memory?.hold('The dictionaries of the Arrow data');
  }

  /** Gives back what counts as held. */
  end(): void {
    this.#ofMessage?.end();
    this.#ofLast?.end();
    this.#ofDictionaries?.end();
  }

  /** Keeps the dictionary of a message for the batches that follow. @throws InvalidInput */
  *dictionary(
    message: Extract<ForeignMessage, { kind: 'dictionary' }>,
    body: Uint8Array,
  ): WaitingSteps<void> {
    const { number, isDelta, batch } = message;
    const what = `dictionary ${number}`;
    const announced = this.#foreign.dictionaries.get(number);
    if (announced === undefined) throw invalid(what, 'the schema does not have it');
    const { id, values } = announced;
    const { columns, bytes } = yield* this.#columns(batch, body, [{ ...values, name: what }], what);
    const known = isDelta ? this.#held.get(id) : undefined;
    if (isDelta && known === undefined) throw invalid(what, 'it adds to one that was not sent');
    const held = known ?? { pieces: [], bytes: 0 };
    this.#dictionaryBytes += bytes - (isDelta ? 0 : (this.#held.get(id)?.bytes ?? 0));
    if (this.#dictionaryBytes > this.#limits.maxDecompressedBytes) {
      throw tooLarge(
        `its dictionaries take ${this.#dictionaryBytes} bytes, more than the ${this.#limits.maxDecompressedBytes} allowed`,
      );
    }
    this.#made = 0;
    this.#ofLast?.set(0);
    this.#ofMessage?.set(0);
    // Joining them takes as much again.
    this.#ofDictionaries?.set(2 * this.#dictionaryBytes);
    held.bytes += bytes;
    held.pieces = joined([...held.pieces, ...columns]);
    // The batches to come refer to them, and later additions are joined with them.
    held.pieces.forEach(markSharedData);
    this.#held.set(id, held);
    this.#dictionaries.set(id, new Vector(held.pieces));
  }

  /** @throws InvalidInput naming the batch and the column */
  *batch(header: BatchHeader, body: Uint8Array): WaitingSteps<RecordBatch> {
    const what = `record batch ${this.#batches}`;
    this.#batches += 1;
    const { schema } = this.#foreign;
    const { columns } = yield* this.#columns(header, body, this.#foreign.columns, what);
    return recordBatch(schema, columns, header.rows);
  }

  *#columns(
    header: BatchHeader,
    body: Uint8Array,
    types: readonly ForeignField[],
    what: string,
  ): WaitingSteps<{ columns: Data[]; bytes: number }> {
    const refuse = refuser(what);
    const { maxDecompressedBytes, maxContentBytes } = this.#limits;
    // Those of the message before are in use still: they are written while this one is made.
    const before = this.#made;
    this.#made = 0;
    const make = (more: number): void => {
      this.#made += more;
      this.#ofMessage?.set(this.#made);
    };
    make(0);
    this.#ofLast?.set(before);
    const buffers = yield* bodyBuffers(header, body, maxDecompressedBytes, refuse, make);
    const bytes = buffers.reduce((sum, buffer) => sum + buffer.length, 0);
    this.#contentBytes += bytes;
    if (this.#contentBytes > maxContentBytes) {
      throw tooLarge(
        `its messages hold more than the ${maxContentBytes} bytes allowed for all`,
        'maxContentBytes',
      );
    }
    const budget = new MessageBudget(this.#budget, body.length, bytes, maxDecompressedBytes, make);
    const columns = yield* readColumns(header, buffers, types, this.#dictionaries, budget, refuse);
    return { columns, bytes: bytes + budget.expanded };
  }
}

/** Joins pieces at the end until each is at least twice as long as the next. */
function joined(pieces: Data[]): Data[] {
  for (;;) {
    const last = pieces.at(-1);
    const before = pieces.at(-2);
    if (last === undefined || before === undefined || before.length >= 2 * last.length) {
      return pieces;
    }
    pieces = [...pieces.slice(0, -2), concatData([before, last])];
  }
}
