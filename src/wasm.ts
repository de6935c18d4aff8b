/**
 * `instantiate`: loads a WebAssembly module that is kept as base64 and returns its exports, or null
 * where there is no WebAssembly or its instructions are not known, such as 128-bit vectors.
 */

/** What is used of WebAssembly, which the typings in use do not declare. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
}

export function instantiate<Exports>(base64: string): Exports | null {
  const api = (globalThis as { WebAssembly?: WebAssemblyApi }).WebAssembly;
  if (api === undefined) return null;
  try {
    const module = new api.Module(Buffer.from(base64, 'base64'));
    return new api.Instance(module).exports as Exports;
  } catch {
    return null;
  }
}
