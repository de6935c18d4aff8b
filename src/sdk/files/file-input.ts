/**
 * `filesOf` converts the files that a caller names or passes to a list: paths, patterns, URLs,
 * bytes, Blobs and streams. Patterns are matched at once; a file is opened when its `open` is
 * called. A pattern that matches nothing, a value of another kind and an empty list throw
 * InvalidInput.
 */
import { DirspaceError } from '../../errors.ts';
import type { ByteSource } from '../../interchange/index.ts';
import { asBytes, showValue } from '../build/index.ts';
import type { ReadableStreamLike } from '../convert/index.ts';

/**
 * A path, a pattern such as `logs/*.csv`, or an http, https or file address; the bytes of a file; or
 * a stream of them.
 */
export type FileInput =
  | string
  | URL
  | Uint8Array
  | ArrayBuffer
  | Blob
  | ReadableStreamLike<Uint8Array>
  | AsyncIterable<Uint8Array>;

/** One file to open. */
export interface GivenFile {
  /** For messages: as it was given, and without secrets. */
  readonly name: string;
  /** What the ending tells the format by; undefined where there is no name. */
  readonly called: string | undefined;
  /** A path on the disk, which may be a folder. */
  readonly path?: string;
  open(): Promise<ByteSource>;
}

/** @throws InvalidInput for what is no file, and for a pattern that nothing matches */
export async function filesOf(
  given: FileInput | readonly FileInput[],
  signal: AbortSignal | undefined,
): Promise<GivenFile[]> {
  const inputs = Array.isArray(given) ? (given as readonly FileInput[]) : [given as FileInput];
  const files: GivenFile[] = [];
  for (const input of inputs) files.push(...(await filesOfOne(input, signal)));
  if (files.length > 0) return files;
  throw new DirspaceError('InvalidInput', 'No file is given.');
}

async function filesOfOne(input: FileInput, signal: AbortSignal | undefined): Promise<GivenFile[]> {
  const {
    fileSource,
    filesNamed,
    isAddress,
    memorySource,
    nameOfAddress,
    streamSource,
    urlSource,
  } = await import('../../interchange/index.ts');
  const text = input instanceof URL ? input.href : input;
  if (typeof text === 'string') {
    if (isAddress(text)) {
      const called = nameOfAddress(text);
      return [{ name: called, called, open: () => urlSource(text, signal) }];
    }
    const names = await filesNamed(text, signal);
    return names.map((path) => ({
      name: path,
      called: path,
      path,
      open: () => fileSource(path, signal),
    }));
  }
  const bytes = asBytes(text);
  const name = nameOf(text);
  const one = (open: () => ByteSource): GivenFile[] => [
    { name: name ?? 'The data', called: name, open: async () => open() },
  ];
  if (bytes !== undefined) return one(() => memorySource(bytes));
  if (text instanceof Blob) {
    return [
      {
        name: name ?? 'The data',
        called: name,
        open: async () => memorySource(new Uint8Array(await text.arrayBuffer()), name),
      },
    ];
  }
  const chunks = chunksOf(text);
  if (chunks !== undefined) return one(() => streamSource(chunks, name));
  throw new DirspaceError(
    'InvalidInput',
    `The file is ${showValue(input)}. Give a path, a pattern, an address, bytes, a Blob or a stream of bytes.`,
  );
}

/** Files of a form have names, and streams may be given one. */
function nameOf(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  const name: unknown = Reflect.get(input, 'name');
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function chunksOf(input: unknown): AsyncIterable<Uint8Array> | Iterable<Uint8Array> | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  if (Symbol.asyncIterator in input) return input as AsyncIterable<Uint8Array>;
  if (Symbol.iterator in input) return input as Iterable<Uint8Array>;
  if (!('getReader' in input)) return undefined;
  const stream = input as ReadableStreamLike<Uint8Array>;
  return {
    async *[Symbol.asyncIterator]() {
      const reader = stream.getReader();
      try {
        for (;;) {
          const { done, value } = await reader.read();
          if (done || value === undefined) return;
          yield value;
        }
      } finally {
        await reader.cancel();
        reader.releaseLock();
      }
    },
  };
}
