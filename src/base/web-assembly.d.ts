/** What is used of it: Node's types leave it to those of browsers, which are not ours. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports?: Readonly<Record<string, object>>);
    readonly exports: unknown;
  }
  class Memory {
    /** Pages are of 64 KiB. */
    constructor(pages: { readonly initial: number; readonly maximum: number });
    readonly buffer: ArrayBuffer;
    /** @throws RangeError where there is no more. */
    grow(pages: number): number;
  }
}
