/**
 * `instantiate` loads a WebAssembly module that is kept as base64 and returns its exports. It
 * returns null if there is no WebAssembly or the module cannot be loaded, for example because its
 * 128-bit vector instructions are not supported.
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
