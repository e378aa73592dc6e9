/** Parts of WebAssembly that are used: Node's types leave it to the browser's, which are not included. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports?: Readonly<Record<string, object>>);
    readonly exports: unknown;
  }
  class Memory {
    /** Pages of 64 KiB. */
    constructor(pages: { readonly initial: number; readonly maximum: number });
    readonly buffer: ArrayBuffer;
    /** @throws RangeError at the maximum. */
    grow(pages: number): number;
  }
}
